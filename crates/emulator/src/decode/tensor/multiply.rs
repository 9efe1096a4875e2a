//! `mma.sync`: products of matrices in registers.

use super::{
    Element, accumulator_tiles, aligned, arithmetic, factor_tiles, fragment, per_tile, shape, types,
};
use crate::LoadError;
use crate::decode::{Decoder, Modifiers};
use crate::numerics::tensor::Format;
use crate::program::{Arithmetic, Product, Tensor};

/// The shapes that a type of factors has.
fn admits(a: Element, extents: [usize; 3]) -> bool {
    let shapes: &[[usize; 3]] = match a {
        Element::Float(Format::F16 | Format::Bf16) => &[[16, 8, 8], [16, 8, 16]],
        Element::Float(Format::Tf32) => &[[16, 8, 4], [16, 8, 8]],
        Element::Float(Format::E4m3 | Format::E5m2) => &[[16, 8, 16], [16, 8, 32]],
        Element::Integer(integer) if integer.bits == 8 => &[[8, 8, 16], [16, 8, 16], [16, 8, 32]],
        Element::Integer(_) => &[[8, 8, 32], [16, 8, 32], [16, 8, 64]],
        Element::Bit => &[[8, 8, 128], [16, 8, 128], [16, 8, 256]],
        Element::F64 => &[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]],
        Element::F32 | Element::S32 => &[],
    };
    shapes.contains(&extents)
}

pub(in crate::decode) fn multiply(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    aligned(m)?;
    let extents = shape(m)?;
    // Of the two layouts only this one exists outside m8n8k4 with f16.
    if !(m.take("row") && m.take("col")) {
        return Err(m.unsupported());
    }
    let bits = if m.has("popc") {
        bit_operation(m)?
    } else {
        None
    };
    let saturates = m.take("satfinite");
    let rounding = m.rounding();
    let [to, a, b, from] = types::<4>(m)?;
    m.finish()?;
    let exact = match (a, b, to, from) {
        (Element::Bit, Element::Bit, Element::S32, Element::S32) if !saturates => bits,
        _ if bits.is_none() => arithmetic([to, a, b, from], false, saturates),
        _ => None,
    };
    let arithmetic = exact
        .filter(|_| admits(a, extents))
        .ok_or_else(|| m.unsupported())?;
    // Its own type for f16 sums: both are f16, or both are f32.
    if to != from {
        return Err(m.unsupported());
    }
    let arithmetic = match (arithmetic, rounding) {
        (Arithmetic::Double { .. }, Some(rounding)) => Arithmetic::Double { rounding },
        (other, None) => other,
        _ => return Err(m.unsupported()),
    };
    product(d, extents, [to, a, b, from], arithmetic)
}

/// `.and.popc` or `.xor.popc`.
pub(super) fn bit_operation(m: &mut Modifiers<'_>) -> Result<Option<Arithmetic>, LoadError> {
    if !m.take("popc") {
        return Err(m.unsupported());
    }
    let and = m.take("and");
    if !and && !m.take("xor") {
        return Err(m.unsupported());
    }
    Ok(Some(Arithmetic::Bits { and }))
}

fn product(
    d: &mut Decoder<'_>,
    extents: [usize; 3],
    [to, a, b, from]: [Element; 4],
    arithmetic: Arithmetic,
) -> Result<(), LoadError> {
    let [m, n, k] = extents;
    let tiles_a = factor_tiles(m, k, a, m >= 16);
    let tiles_b = factor_tiles(n, k, b, false);
    let tiles_c = accumulator_tiles(m, n);
    let registers_a = d.matrix_source(1, tiles_a.len(), a)?;
    let registers_b = d.matrix_source(2, tiles_b.len(), b)?;
    let registers_c = d.matrix_source(3, tiles_c.len() * per_tile(from), from)?;
    let registers_d = d.matrix_destination(0, tiles_c.len() * per_tile(to), to)?;
    d.tensor(Tensor::Product(Box::new(Product {
        extents,
        a: fragment(registers_a, tiles_a),
        b: fragment(registers_b, tiles_b),
        c: fragment(registers_c, tiles_c.clone()),
        d: fragment(registers_d, tiles_c),
        arithmetic,
    })));
    Ok(())
}
