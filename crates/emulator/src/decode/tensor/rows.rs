//! `ldmatrix`, `stmatrix`, `movmatrix` and `setmaxnreg`.

use super::{Element, aligned};
use crate::LoadError;
use crate::decode::{Decoder, Modifiers};
use crate::program::{AddressSpace, Rows, Tensor};
use crate::syntax::Type;

pub(in crate::decode) fn load_rows(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    let (rows, count) = rows(d, m, 1)?;
    let registers = d.matrix_destination(0, count, Element::S32)?;
    d.tensor(Tensor::Rows(Rows {
        registers: registers.into(),
        ..rows
    }));
    Ok(())
}

pub(in crate::decode) fn store_rows(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    let (rows, count) = rows(d, m, 0)?;
    let registers = d.matrix_source(1, count, Element::S32)?;
    d.tensor(Tensor::Rows(Rows {
        stores: true,
        registers: registers.into(),
        ..rows
    }));
    Ok(())
}

/// All but the registers, and how many there are.
fn rows(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    address_at: usize,
) -> Result<(Rows, usize), LoadError> {
    aligned(m)?;
    let count = m.take_one(&[("x1", 1), ("x2", 2), ("x4", 4)]);
    let transposed = m.take("trans");
    let shared = m.take("shared") || m.take("shared::cta");
    let (Some(count), true, true) = (count, m.take("m8n8"), m.take("b16")) else {
        return Err(m.unsupported());
    };
    m.finish()?;
    let access = d.matrix_address(address_at, shared.then_some(AddressSpace::Shared))?;
    let rows = Rows {
        stores: false,
        transposed,
        shared,
        address: access.0,
        offset: access.1,
        registers: Box::default(),
    };
    Ok((rows, count))
}

pub(in crate::decode) fn transpose(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    aligned(m)?;
    if !(m.take("m8n8") && m.take("trans") && m.take("b16")) {
        return Err(m.unsupported());
    }
    m.finish()?;
    let src = d.source(1, Type::B32)?;
    let dst = d.matrix_destination(0, 1, Element::S32)?[0];
    d.tensor(Tensor::Transpose { dst, src });
    Ok(())
}

/// `setmaxnreg` changes nothing here; its count is checked.
pub(in crate::decode) fn register_count(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    aligned(m)?;
    if !(m.take("inc") || m.take("dec")) || m.last_type()? != Type::U32 {
        return Err(m.unsupported());
    }
    m.finish()?;
    let count = d.literal(0)?;
    if count % 8 != 0 || !(24..=256).contains(&count) {
        return Err(d.malformed("a count from 24 to 256 that is a multiple of 8 is needed"));
    }
    d.tensor(Tensor::Meet);
    Ok(())
}
