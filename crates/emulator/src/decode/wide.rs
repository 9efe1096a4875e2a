//! Values of 128 bits, as 16-byte `atomicExch` and `atomicCAS` have them: pairs of 64-bit slots, the lower one first.

use super::memory::Where;
use super::{Decoder, Home, Modifiers};
use crate::LoadError;
use crate::lanes::{Slot, un};
use crate::program::{AddressSpace, Atomic, AtomicKind, AtomicOp, Kind};
use crate::syntax::{Operand, Type};

/// `mov.b128` between registers, or a register and its halves.
pub(super) fn moves(d: &mut Decoder<'_>) -> Result<(), LoadError> {
    let from = halves(d, d.operand(1)?)?;
    let to = halves(d, d.operand(0)?)?;
    let copy = un(|a: u64| a);
    // A half may be both source and destination of the other.
    let held = [d.temporary(true), d.temporary(true)];
    for (held, from) in held.into_iter().zip(from) {
        if let Some(from) = from {
            d.lane(copy, held, &[from]);
        }
    }
    for (to, held) in to.into_iter().zip(held) {
        if let Some(to) = to {
            d.lane(copy, to, &[held]);
        }
    }
    Ok(())
}

/// The slots of a 128-bit register or of two 64-bit ones; none for a sink.
fn halves(d: &Decoder<'_>, operand: &Operand) -> Result<[Option<Slot>; 2], LoadError> {
    let half = |operand: &Operand| match operand {
        Operand::Register(register) => match d.slot_home(*register)? {
            slot if slot.class().is_wide() => Ok(Some(slot)),
            _ => Err(d.malformed("a 64-bit register is needed")),
        },
        Operand::Sink => Ok(None),
        _ => Err(d.malformed("a register is needed")),
    };
    match operand {
        Operand::Vector(parts) => match parts.as_slice() {
            [low, high] => Ok([half(low)?, half(high)?]),
            _ => Err(d.malformed("the vector has another length")),
        },
        Operand::Sink => Ok([None; 2]),
        _ => pair(d, operand).map(|pair| pair.map(Some)),
    }
}

fn pair(d: &Decoder<'_>, operand: &Operand) -> Result<[Slot; 2], LoadError> {
    let Operand::Register(register) = operand else {
        return Err(d.malformed("a register is needed"));
    };
    match d.homes[*register as usize] {
        Home::Pair(low, high) => Ok([low, high]),
        _ => Err(d.malformed("a 128-bit register is needed")),
    }
}

/// `atom.exch.b128` and `atom.cas.b128`: what is compared stands in the access's first two elements, what is
/// stored in its last two.
pub(super) fn atomic(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    op: AtomicOp,
    place: Where,
    releases: bool,
) -> Result<(), LoadError> {
    m.finish()?;
    let swaps = op == AtomicOp::CompareSwap;
    if m.base() != "atom" || !swaps && op != AtomicOp::Exchange {
        return Err(m.unsupported());
    }
    let mut access = d.access(d.operand(1)?, place)?;
    let fits = matches!(
        access.space,
        AddressSpace::Global | AddressSpace::Shared | AddressSpace::Cluster | AddressSpace::Generic
    );
    if !fits {
        return Err(m.unsupported());
    }
    (access.bytes, access.count, access.releases) = (Type::B64.bytes(), 2, releases);
    d.note_coupling(&access);
    let first = pair(d, d.operand(2)?)?;
    let second = if swaps {
        pair(d, d.operand(3)?)?
    } else {
        first
    };
    access.data = [first[0], first[1], second[0], second[1]].map(Some);
    let [low, high] = halves(d, d.operand(0)?)?;
    d.emit(Kind::Atomic(Atomic {
        access,
        op,
        kind: AtomicKind::Pair,
        dst: [low, high, None, None],
        swap: None,
    }));
    Ok(())
}
