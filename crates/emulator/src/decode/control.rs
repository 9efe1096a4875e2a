//! Branches, calls, barriers and fences.

use super::{Decoder, Modifiers, frame};
use crate::LoadError;
use crate::program::{AsyncKind, Barrier, BarrierMode, Builtin, Call, CallAddress, Kind, NO_JOIN};
use crate::syntax::{Operand, Type, Variable};

pub(super) fn branch(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["uni"]);
    m.finish()?;
    let Operand::Label(label) = d.operand(0)? else {
        return Err(m.unsupported());
    };
    d.emit(Kind::Branch {
        target: *label as u32,
        join: NO_JOIN,
    });
    Ok(())
}

pub(super) fn branch_table(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if !m.take("idx") {
        return Err(m.unsupported());
    }
    m.ignore(&["uni"]);
    m.finish()?;
    let index = d.source(0, Type::U32)?;
    let Operand::Symbol(name, _) = d.operand(1)? else {
        return Err(m.unsupported());
    };
    let table = d
        .text
        .branch_targets
        .iter()
        .find(|(table, _)| table == name);
    let (_, labels) = table.ok_or_else(|| d.malformed("an undeclared branch table"))?;
    let targets = labels.iter().map(|&label| label as u32).collect();
    d.emit(Kind::Table {
        index,
        targets,
        join: NO_JOIN,
    });
    Ok(())
}

pub(super) fn exit(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.finish()?;
    d.emit(Kind::Exit);
    Ok(())
}

pub(super) fn returns(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["uni"]);
    m.finish()?;
    d.emit(if d.text.is_entry {
        Kind::Exit
    } else {
        Kind::Return
    });
    Ok(())
}

pub(super) fn trap(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.finish()?;
    d.emit(Kind::Trap);
    Ok(())
}

pub(super) fn sleep(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.last_type()?;
    m.finish()?;
    d.out.couples_blocks = true;
    d.emit(Kind::Sleep);
    Ok(())
}

/// Fences: accesses are already in order here, but a fence tells that blocks communicate.
pub(super) fn fence(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.base() == "pmevent" {
        m.ignore(&["mask"]);
    } else {
        let wide = m.take("gl") | m.take("sys") | m.take("gpu");
        m.ignore(&["cta", "cluster", "sc", "acq_rel", "acquire", "release"]);
        // The ways by which copies are made, and barriers that were initialised: all in order here.
        m.ignore(&[
            "proxy",
            "async",
            "alias",
            "global",
            "shared::cta",
            "shared::cluster",
            "mbarrier_init",
            "async::generic",
            "sync_restrict::shared::cta",
            "sync_restrict::shared::cluster",
            "tensormap::generic",
        ]);
        d.out.couples_blocks |= wide;
    }
    m.finish()?;
    d.emit(Kind::Fence);
    Ok(())
}

/// `bar` and `barrier`: `bar` is the aligned form.
pub(super) fn barrier(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.take("warp") {
        if !m.take("sync") {
            return Err(m.unsupported());
        }
        m.finish()?;
        let members = d.source(0, Type::U32)?;
        d.emit(Kind::SyncWarp { members });
        return Ok(());
    }
    if m.take("cluster") {
        return super::asynchronous::cluster_barrier(d, m);
    }
    m.ignore(&["cta"]);
    let aligned = m.take("aligned") | (m.base() == "bar");
    let (mode, first, trailing) = barrier_mode(d, m)?;
    let id = d.source(first, Type::U32)?;
    let given = d.statement.operands.len() - trailing;
    let threads = match given - first {
        1 => None,
        2 => Some(d.source(first + 1, Type::U32)?),
        _ => return Err(m.unsupported()),
    };
    if matches!(mode, BarrierMode::Arrive) && threads.is_none() {
        return Err(d.malformed("a thread count is missing"));
    }
    d.emit(Kind::Barrier(Barrier {
        id,
        threads,
        mode,
        aligned,
    }));
    Ok(())
}

/// The mode, the index of the barrier's number, and how many operands follow the thread count.
fn barrier_mode(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(BarrierMode, usize, usize), LoadError> {
    if d.statement.operands.is_empty() {
        return Err(m.unsupported());
    }
    if m.take("sync") {
        m.finish()?;
        return Ok((BarrierMode::Sync, 0, 0));
    }
    if m.take("arrive") {
        m.finish()?;
        return Ok((BarrierMode::Arrive, 0, 0));
    }
    if !m.take("red") {
        return Err(m.unsupported());
    }
    let op = m.next();
    let ty = m.last_type()?;
    m.finish()?;
    let last = d.statement.operands.len() - 1;
    let by = d.predicate(last)?;
    let mode = match (op, ty) {
        (Some("popc"), Type::U32) => {
            let Operand::Register(register) = d.operand(0)? else {
                return Err(m.unsupported());
            };
            BarrierMode::Count {
                dst: d.slot_home(*register)?,
                by,
            }
        }
        (Some("or"), Type::Pred) => BarrierMode::Any {
            dst: d.predicate_destination(d.operand(0)?)?,
            by,
        },
        (Some("and"), Type::Pred) => BarrierMode::All {
            dst: d.predicate_destination(d.operand(0)?)?,
            by,
        },
        _ => return Err(m.unsupported()),
    };
    Ok((mode, 1, 1))
}

pub(super) fn call(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    m.ignore(&["uni"]);
    m.finish()?;
    let mut operands = d.statement.operands.iter();
    let mut next = operands.next();
    let results = match next {
        Some(Operand::List(results)) => {
            next = operands.next();
            &results[..]
        }
        _ => &[],
    };
    let callee = next;
    let arguments = match operands.next() {
        Some(Operand::List(arguments)) => &arguments[..],
        _ => &[],
    };
    let arguments = frame_places(d, arguments)?;
    let results = frame_places(d, results)?;
    let Some(Operand::Symbol(name, _)) = callee else {
        let target = callee.ok_or_else(|| d.malformed("a callee is missing"))?;
        let target = d.source_of(target, Type::B64)?;
        d.emit(Kind::CallAddress(Box::new(CallAddress {
            target,
            arguments,
            results,
        })));
        return Ok(());
    };
    let mut functions = d.unit.functions.iter();
    let index = functions.position(|function| function.name == *name);
    match index.map(|index| (index, &d.unit.functions[index])) {
        Some((_, function)) if function.is_entry => Err(d.malformed("a kernel is called")),
        Some((index, function)) if function.has_body => {
            call_function(d, index, &arguments, &results)
        }
        _ => {
            let offsets = |places: &[(u32, u32)]| places.iter().map(|place| place.0).collect();
            let (arguments, results): (Vec<u32>, Vec<u32>) =
                (offsets(&arguments), offsets(&results));
            call_builtin(d, name, &arguments, &results)
        }
    }
}

/// Offset and size of variables in the frame.
fn frame_places(d: &Decoder<'_>, operands: &[Operand]) -> Result<Vec<(u32, u32)>, LoadError> {
    operands
        .iter()
        .map(|operand| match operand {
            Operand::Symbol(name, 0) => d.frame.get(name).copied(),
            _ => None,
        })
        .map(|place| place.ok_or_else(|| d.unsupported("call with a register operand")))
        .collect()
}

fn call_function(
    d: &mut Decoder<'_>,
    index: usize,
    arguments: &[(u32, u32)],
    results: &[(u32, u32)],
) -> Result<(), LoadError> {
    let callee = &d.unit.functions[index];
    let agree = |given: &[(u32, u32)], taken: &[Variable]| {
        given
            .iter()
            .map(|place| u64::from(place.1))
            .eq(taken.iter().map(|taken| taken.bytes))
    };
    if !agree(arguments, &callee.parameters) || !agree(results, &callee.returns) {
        return Err(d.malformed("arguments of another number or size"));
    }
    let (places, _) = frame(callee);
    let offset = |variable: &Variable| places[&variable.name].0;
    let arguments = arguments
        .iter()
        .zip(&callee.parameters)
        .map(|(&(at, bytes), parameter)| (at, offset(parameter), bytes))
        .collect();
    let results = results
        .iter()
        .zip(&callee.returns)
        .map(|(&(at, bytes), value)| (offset(value), at, bytes))
        .collect();
    if !d.out.callees.contains(&index) {
        d.out.callees.push(index);
    }
    d.emit(Kind::Call(Box::new(Call {
        function: index,
        arguments,
        results,
    })));
    Ok(())
}

fn call_builtin(
    d: &mut Decoder<'_>,
    name: &str,
    arguments: &[u32],
    results: &[u32],
) -> Result<(), LoadError> {
    match (name, arguments, results) {
        ("malloc", &[bytes], &[result]) => {
            d.out.couples_blocks = true;
            d.asynchronous(AsyncKind::Allocate { bytes, result }, Vec::new());
            return Ok(());
        }
        ("free", &[pointer], &[]) => {
            d.out.couples_blocks = true;
            d.asynchronous(AsyncKind::Free { pointer }, Vec::new());
            return Ok(());
        }
        _ => {}
    }
    let builtin = match (name, arguments) {
        ("vprintf", &[format, arguments]) => Builtin::Print {
            format,
            arguments,
            result: results.first().copied(),
        },
        ("__assertfail", &[message, _, _, _, _]) => Builtin::AssertFail { message },
        _ => return Err(d.unsupported(format!("call {name}"))),
    };
    d.emit(Kind::Builtin(Box::new(builtin)));
    Ok(())
}
