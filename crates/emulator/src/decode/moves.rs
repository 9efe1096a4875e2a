//! `mov`.

use super::{Decoder, Modifiers, wide};
use crate::LoadError;
use crate::lanes::{LaneFn, bin, un};
use crate::program::{Kind, Logic, Predicate};
use crate::syntax::{Operand, Type};

/// `mov`, with packing and unpacking of vectors.
pub(super) fn moves(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    if ty == Type::Pred {
        let dst = d.predicate_destination(d.operand(0)?)?;
        let a = d.predicate(1)?;
        d.emit(Kind::Logic {
            dst,
            op: Logic::First,
            a,
            b: Predicate::default(),
        });
        return Ok(());
    }
    if ty == Type::B128 {
        return wide::moves(d);
    }
    if ty.bytes() < 2 {
        return Err(m.unsupported());
    }
    match (d.operand(0)?, d.operand(1)?) {
        (Operand::Vector(parts), _) => unpack(d, m, ty, parts),
        (_, Operand::Vector(parts)) => pack(d, m, ty, parts),
        _ => {
            let a = d.source(1, ty)?;
            let run = copy(ty.bytes() == 8);
            d.destination(0, ty, |d, dst| d.lane(run, dst, &[a]))
        }
    }
}

fn copy(wide: bool) -> LaneFn {
    if wide { un(|a: u64| a) } else { un(|a: u32| a) }
}

fn unpack<'a>(
    d: &mut Decoder<'a>,
    m: &Modifiers<'_>,
    ty: Type,
    parts: &'a [Operand],
) -> Result<(), LoadError> {
    let whole = d.source(1, ty)?;
    let (run, element): (&[LaneFn], Type) = match (ty.bytes(), parts.len()) {
        (4, 2) => (&[un(|a: u32| a & 0xffff), un(|a: u32| a >> 16)], Type::B16),
        (8, 2) => (
            &[un(|a: u64| a as u32), un(|a: u64| (a >> 32) as u32)],
            Type::B32,
        ),
        (8, 4) => (
            &[
                un(|a: u64| a as u32 & 0xffff),
                un(|a: u64| (a >> 16) as u32 & 0xffff),
                un(|a: u64| (a >> 32) as u32 & 0xffff),
                un(|a: u64| (a >> 48) as u32),
            ],
            Type::B16,
        ),
        _ => return Err(m.unsupported()),
    };
    // The source may be one of the destinations' registers only if it is as wide: never here.
    for (part, &run) in parts.iter().zip(run) {
        if *part != Operand::Sink {
            d.destination_of(part, element, |d, dst| d.lane(run, dst, &[whole]))?;
        }
    }
    Ok(())
}

fn pack<'a>(
    d: &mut Decoder<'a>,
    m: &Modifiers<'_>,
    ty: Type,
    parts: &'a [Operand],
) -> Result<(), LoadError> {
    match (ty.bytes(), parts) {
        (4, [low, high]) => {
            let (low, high) = (d.source_of(low, Type::B16)?, d.source_of(high, Type::B16)?);
            let run = bin(|low: u32, high: u32| (low & 0xffff) | high << 16);
            d.destination(0, ty, |d, dst| d.lane(run, dst, &[low, high]))
        }
        (8, [low, high]) => {
            let (low, high) = (d.source_of(low, Type::B32)?, d.source_of(high, Type::B32)?);
            let run = bin(|low: u32, high: u32| u64::from(low) | u64::from(high) << 32);
            d.destination(0, ty, |d, dst| d.lane(run, dst, &[low, high]))
        }
        (8, [a, b, c, e]) => {
            let pair = bin(|low: u32, high: u32| (low & 0xffff) | high << 16);
            let join = bin(|low: u32, high: u32| u64::from(low) | u64::from(high) << 32);
            let (a, b) = (d.source_of(a, Type::B16)?, d.source_of(b, Type::B16)?);
            let (c, e) = (d.source_of(c, Type::B16)?, d.source_of(e, Type::B16)?);
            let (low, high) = (d.temporary(false), d.temporary(false));
            d.lane(pair, low, &[a, b]);
            d.lane(pair, high, &[c, e]);
            d.destination(0, ty, |d, dst| d.lane(join, dst, &[low, high]))
        }
        _ => Err(m.unsupported()),
    }
}
