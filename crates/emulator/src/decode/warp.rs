//! Exchanges between the lanes of a warp.

use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::Slot;
use crate::program::{Kind, ReduceOp, Shuffle, ShuffleMode, Special, VoteOp};
use crate::syntax::{Operand, Type};

/// The register and the predicate of a destination `d|p`; index 0 stands for no predicate.
fn destination_pair(d: &mut Decoder<'_>) -> Result<(Slot, u32), LoadError> {
    let (value, predicate) = match d.operand(0)? {
        Operand::Pair(value, predicate) => (value.as_ref(), Some(predicate.as_ref())),
        value => (value, None),
    };
    let predicate = match predicate {
        None | Some(Operand::Sink) => 0,
        Some(operand) => d.predicate_destination(operand)?,
    };
    let slot = match value {
        Operand::Register(register) => d.slot_home(*register)?,
        Operand::Sink => d.temporary(false),
        _ => return Err(d.malformed("a register is needed as destination")),
    };
    if slot.class().is_wide() {
        return Err(d.malformed("a 32-bit destination is needed"));
    }
    Ok((slot, predicate))
}

pub(super) fn shuffle(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if !m.take("sync") {
        return Err(m.unsupported());
    }
    let mode = m.take_one(&[
        ("up", ShuffleMode::Up),
        ("down", ShuffleMode::Down),
        ("bfly", ShuffleMode::Butterfly),
        ("idx", ShuffleMode::Index),
    ]);
    let mode = mode.ok_or_else(|| m.unsupported())?;
    if m.last_type()? != Type::B32 {
        return Err(m.unsupported());
    }
    m.finish()?;
    let value = d.source(1, Type::B32)?;
    let lane = d.source(2, Type::U32)?;
    let clamp = d.source(3, Type::U32)?;
    let members = d.source(4, Type::U32)?;
    let (dst, dst_predicate) = destination_pair(d)?;
    d.emit(Kind::Shuffle(Shuffle {
        mode,
        dst,
        dst_predicate,
        value,
        lane,
        clamp,
        members,
    }));
    Ok(())
}

pub(super) fn vote(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if !m.take("sync") {
        return Err(m.unsupported());
    }
    let op = m.take_one(&[
        ("all", VoteOp::All),
        ("any", VoteOp::Any),
        ("uni", VoteOp::Uniform),
        ("ballot", VoteOp::Ballot),
    ]);
    let op = op.ok_or_else(|| m.unsupported())?;
    let ty = m.last_type()?;
    m.finish()?;
    let by = d.predicate(1)?;
    let members = d.source(2, Type::U32)?;
    let (dst, dst_predicate) = match (op, ty) {
        (VoteOp::Ballot, Type::B32) => destination_pair(d)?,
        (VoteOp::All | VoteOp::Any | VoteOp::Uniform, Type::Pred) => {
            let predicate = d.predicate_destination(d.operand(0)?)?;
            (d.temporary(false), predicate)
        }
        _ => return Err(m.unsupported()),
    };
    d.emit(Kind::Vote {
        op,
        dst,
        dst_predicate,
        by,
        members,
    });
    Ok(())
}

pub(super) fn matching(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let all = m
        .take_one(&[("all", true), ("any", false)])
        .ok_or_else(|| m.unsupported())?;
    if !m.take("sync") {
        return Err(m.unsupported());
    }
    let ty = m.last_type()?;
    m.finish()?;
    if !matches!(ty, Type::B32 | Type::B64) {
        return Err(m.unsupported());
    }
    let value = d.source(1, ty)?;
    let members = d.source(2, Type::U32)?;
    let (dst, dst_predicate) = destination_pair(d)?;
    d.emit(Kind::Match {
        all,
        dst,
        dst_predicate,
        value,
        members,
    });
    Ok(())
}

pub(super) fn reduce(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if !m.take("sync") {
        return Err(m.unsupported());
    }
    let name = m.next();
    let ty = m.last_type()?;
    m.finish()?;
    let signed = ty == Type::S32;
    let op = match (name, ty) {
        (Some("add"), Type::U32 | Type::S32) => ReduceOp::Add,
        (Some("min"), Type::U32 | Type::S32) => ReduceOp::Min { signed },
        (Some("max"), Type::U32 | Type::S32) => ReduceOp::Max { signed },
        (Some("and"), Type::B32) => ReduceOp::And,
        (Some("or"), Type::B32) => ReduceOp::Or,
        (Some("xor"), Type::B32) => ReduceOp::Xor,
        _ => return Err(m.unsupported()),
    };
    let value = d.source(1, Type::B32)?;
    let members = d.source(2, Type::U32)?;
    let (dst, _) = destination_pair(d)?;
    d.emit(Kind::Reduce {
        op,
        dst,
        value,
        members,
    });
    Ok(())
}

pub(super) fn active_mask(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.last_type()? != Type::B32 {
        return Err(m.unsupported());
    }
    m.finish()?;
    d.destination(0, Type::B32, |d, dst| {
        d.emit(Kind::Special {
            dst,
            what: Special::ActiveMask,
        });
    })
}

/// `elect.sync`: picks one lane; this one always picks the lowest.
pub(super) fn elect(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if !m.take("sync") {
        return Err(m.unsupported());
    }
    m.finish()?;
    let members = d.source(1, Type::U32)?;
    let Operand::Pair(value, predicate) = d.operand(0)? else {
        return Err(m.unsupported());
    };
    let dst = match value.as_ref() {
        Operand::Register(register) => Some(d.slot_home(*register)?),
        _ => None,
    };
    let dst_predicate = d.predicate_destination(predicate)?;
    d.emit(Kind::Elect {
        dst,
        dst_predicate,
        members,
    });
    Ok(())
}
