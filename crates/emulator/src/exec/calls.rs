//! Calls and returns of device functions, and the end of a thread.

#![allow(unsafe_code)]

use super::block::Block;
use super::elements::lanes_of;
use super::reconverge::{Split, Warp, lane_value};
use super::step::Here;
use super::worker::{Stop, Worker};
use super::{MAX_LOCAL_BYTES, MAX_STACKS_BYTES};
use crate::fault::FaultKind;
use crate::lanes::LANES;
use crate::memory::function_at;
use crate::program::{Call, CallAddress, Kind};

impl Worker<'_> {
    pub(super) fn call(&mut self, warp: &mut Warp, here: &Here, call: &Call) -> Result<(), Stop> {
        let caller = set_rest_aside(warp, here, false);
        warp.splits[here.at] = self.enter_function(warp, here, &caller, here.mask, call)?;
        Ok(())
    }

    /// A call through a pointer: lanes that call the same function go together.
    pub(super) fn call_address(
        &mut self,
        warp: &mut Warp,
        here: &Here,
        call: &CallAddress,
    ) -> Result<(), Stop> {
        let mut groups: Vec<(usize, u32)> = Vec::new();
        for lane in lanes_of(here.mask) {
            // SAFETY: the slot is one of the program's.
            let address = unsafe { lane_value(&here.view, call.target, lane) };
            let function = function_at(address, self.context.linked.count());
            let function = function.filter(|&index| {
                let linked = &self.context.linked;
                index != self.context.kernel.function && linked.is_linked(index)
            });
            let Some(function) = function else {
                let what =
                    format!("calls {address:#x}, which is no function of the kernel's module");
                let mut stop = Stop::new(FaultKind::OutOfBounds, lane as u32, what);
                stop.address = Some(address);
                return Err(stop);
            };
            match groups.iter_mut().find(|(known, _)| *known == function) {
                Some((_, mask)) => *mask |= 1 << lane,
                None => groups.push((function, 1 << lane)),
            }
        }
        let caller = set_rest_aside(warp, here, groups.len() > 1);
        for (number, &(function, mask)) in groups.iter().enumerate() {
            let program = self.context.linked.function(function).program;
            let (parameters, returns) = (&program.parameters, &program.returns);
            let agree = |given: &[(u32, u32)], taken: &[(u32, u32)]| {
                given
                    .iter()
                    .map(|place| place.1)
                    .eq(taken.iter().map(|place| place.1))
            };
            if !agree(&call.arguments, parameters) || !agree(&call.results, returns) {
                let lane = mask.trailing_zeros();
                let what = "calls a function of another signature through a pointer".to_owned();
                return Err(Stop::new(FaultKind::OutOfBounds, lane, what));
            }
            let arguments = { call.arguments.iter().zip(parameters) }
                .map(|(&(from, _), &(to, bytes))| (from, to, bytes))
                .collect();
            let direct = Call {
                function,
                arguments,
                results: Vec::new(),
            };
            let split = self.enter_function(warp, here, &caller, mask, &direct)?;
            if number == 0 {
                warp.splits[here.at] = split;
            } else {
                warp.splits.push(split);
            }
        }
        Ok(())
    }

    /// The lanes of `mask` at the start of the function that they call.
    fn enter_function(
        &mut self,
        warp: &mut Warp,
        here: &Here,
        caller: &Split,
        mask: u32,
        call: &Call,
    ) -> Result<Split, Stop> {
        let code = self.context.linked.function(call.function);
        let base = here.bounds.top;
        let below = warp.frame(here.split.frame).stack_bytes;
        let cost = code.stack_bytes();
        let too_deep = |whose: &str, bytes: u64| {
            let what = format!("calls too deeply: {whose} {bytes} bytes");
            Stop::new(FaultKind::OutOfBounds, mask.trailing_zeros(), what)
        };
        if u64::from(below) + cost > u64::from(MAX_LOCAL_BYTES) {
            return Err(too_deep("its stack has", u64::from(MAX_LOCAL_BYTES)));
        }
        let kept = LANES as u64 * cost;
        if self.stack_bytes + kept > MAX_STACKS_BYTES {
            let whose = "the stacks of all threads that run side by side have";
            return Err(too_deep(whose, MAX_STACKS_BYTES));
        }
        self.stack_bytes += kept;
        warp.stack_bytes += kept;
        let frame = warp.enter(call.function, code, base, (below, cost as u32));
        let moves: Vec<_> = call
            .arguments
            .iter()
            .map(|&(from, to, bytes)| (here.bounds.base + from, base + to, bytes))
            .collect();
        warp.local.copy(&moves, mask);
        let node = warp.return_at(caller, mask, caller.pc + 1, frame);
        Ok(Split {
            pc: 0,
            mask,
            frame,
            node,
            ..*caller
        })
    }
}

/// The caller's split; lanes that the guard leaves out wait behind the call, and so do all if they
/// part there.
fn set_rest_aside(warp: &mut Warp, here: &Here, parts: bool) -> Split {
    let mut caller = here.split;
    let rest = caller.mask & !here.mask;
    if rest != 0 || parts {
        caller.node = warp.meet_at(&caller, caller.pc + 1);
    }
    if rest != 0 {
        warp.splits.push(Split {
            pc: caller.pc + 1,
            mask: rest,
            ..caller
        });
    }
    caller
}

/// Lanes return from a function: their results go to the caller's frame.
pub(super) fn return_lanes(worker: &Worker<'_>, warp: &mut Warp, here: &Here) {
    let split = here.split;
    let caller = warp.caller_frame(split.node);
    let site = warp.call_site(split.node);
    let base = warp.frame(caller).local_base;
    let moved = |&(from, to, bytes): &(u32, u32, u32)| (here.bounds.base + from, base + to, bytes);
    let moves: Vec<_> = match worker.instruction(warp, caller, site) {
        Kind::Call(call) => call.results.iter().map(moved).collect(),
        Kind::CallAddress(call) => {
            let callee = warp.frame(split.frame).function;
            let returns = &worker.context.linked.function(callee).program.returns;
            let results = call.results.iter().zip(returns);
            results
                .map(|(&(to, _), &(from, bytes))| moved(&(from, to, bytes)))
                .collect()
        }
        _ => Vec::new(),
    };
    warp.local.copy(&moves, here.mask);
    leave(warp, here);
    warp.leave_call(split.node, here.mask);
}

pub(super) fn exit_lanes(worker: &mut Worker<'_>, block: &mut Block, warp: &mut Warp, here: &Here) {
    if worker.shadow.is_some() {
        worker.note_exit(block, warp);
    }
    leave(warp, here);
    warp.exit(here.mask);
    block.exit(here.mask.count_ones());
}

/// Takes the lanes out of their split; those that the guard leaves out go on.
fn leave(warp: &mut Warp, here: &Here) {
    let split = &mut warp.splits[here.at];
    *split = here.split;
    split.mask &= !here.mask;
    split.pc += 1;
    if split.mask == 0 {
        warp.splits.swap_remove(here.at);
    }
}
