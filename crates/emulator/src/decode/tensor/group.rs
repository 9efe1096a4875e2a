//! `wgmma`: products of a warpgroup.

use super::{Element, aligned, arithmetic, factor_tiles, fragment, numbers, per_tile, types};
use crate::LoadError;
use crate::decode::{Decoder, Modifiers};
use crate::numerics::tensor::Format;
use crate::program::{Described, Group, Source, Tensor};
use crate::syntax::{Operand, Type};

pub(in crate::decode) fn group(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    match m.next() {
        Some("fence" | "commit_group") => {
            aligned(m)?;
            m.finish()?;
        }
        Some("wait_group") => {
            aligned(m)?;
            m.finish()?;
            d.literal(0)?;
        }
        Some("mma_async") => return product(d, m),
        _ => return Err(m.unsupported()),
    }
    d.tensor(Tensor::Meet);
    Ok(())
}

fn product(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    aligned(m)?;
    let extents = m.next().and_then(numbers).ok_or_else(|| m.unsupported())?;
    let saturates = m.take("satfinite");
    let [to, a, b] = types::<3>(m)?;
    m.finish()?;
    let [rows, n, k] = extents;
    let is_integer = matches!(a, Element::Integer(integer) if integer.bits == 8);
    let fits_k = match a {
        Element::Float(_) => k * a.bits() as usize == 256,
        _ => is_integer && k == 32,
    };
    let fits_n = n % 8 == 0 && (8..=256).contains(&n) && (!is_integer || n <= 32 || n % 16 == 0);
    let arithmetic = arithmetic([to, a, b, to], true, saturates);
    let arithmetic = arithmetic.filter(|_| rows == 64 && fits_k && fits_n);
    let arithmetic = arithmetic.ok_or_else(|| m.unsupported())?;

    let is_half = matches!(a, Element::Float(Format::F16 | Format::Bf16));
    let in_registers = matches!(d.operand(1)?, Operand::Vector(_));
    let constants = scales_and_majors(d, !is_integer, is_half, in_registers)?;
    let tiles = super::accumulator_tiles(16, n);
    let registers = d.matrix_destination(0, tiles.len() * per_tile(to), to)?;
    let source = if in_registers {
        let tiles = factor_tiles(16, k, a, true);
        Source::Registers(fragment(d.matrix_source(1, tiles.len(), a)?, tiles))
    } else {
        Source::Memory(Described {
            descriptor: d.source(1, Type::B64)?,
            line_major: constants.majors[0],
        })
    };
    let b = Described {
        descriptor: d.source(2, Type::B64)?,
        line_major: constants.majors[1],
    };
    let adds = d.predicate(3)?;
    d.tensor(Tensor::Group(Box::new(Group {
        extents: [16, n, k],
        a: source,
        b,
        c: fragment(registers.clone(), tiles.clone()),
        d: fragment(registers, tiles),
        adds,
        negates: constants.negates,
        arithmetic,
    })));
    Ok(())
}

struct Constants {
    negates: [bool; 2],
    majors: [bool; 2],
}

/// The constants behind `scale-d`: two factors of 1 or -1 for floats, then one or two transposes
/// for 16-bit ones.
fn scales_and_majors(
    d: &Decoder<'_>,
    scales: bool,
    majors: bool,
    in_registers: bool,
) -> Result<Constants, LoadError> {
    let mut constants = Constants {
        negates: [false; 2],
        majors: [false; 2],
    };
    let mut at = 4;
    if scales {
        for negates in &mut constants.negates {
            *negates = match d.literal(at)? {
                1 => false,
                -1 => true,
                _ => return Err(d.malformed("a factor is 1 or -1")),
            };
            at += 1;
        }
    }
    if majors {
        for (matrix, major) in constants.majors.iter_mut().enumerate() {
            if matrix == 0 && in_registers {
                continue;
            }
            *major = match d.literal(at)? {
                0 => false,
                1 => true,
                _ => return Err(d.malformed("a transpose is 0 or 1")),
            };
            at += 1;
        }
    }
    if d.statement.operands.len() == at {
        Ok(constants)
    } else {
        Err(d.malformed("another number of operands is needed"))
    }
}
