//! Calls and returns of device functions, and the end of a thread.

use super::MAX_LOCAL_BYTES;
use super::block::Block;
use super::elements::lanes_of;
use super::reconverge::{Split, Warp};
use super::step::Here;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::lanes::LANES;
use crate::program::{Call, Kind};

impl Worker<'_> {
    pub(super) fn call(&mut self, warp: &mut Warp, here: &Here, call: &Call) -> Result<(), Stop> {
        let mut caller = here.split;
        let rest = caller.mask & !here.mask;
        if rest != 0 {
            // Lanes that the guard leaves out wait behind the call.
            caller.node = warp.meet_at(&caller, caller.pc + 1);
            warp.splits.push(Split {
                pc: caller.pc + 1,
                mask: rest,
                ..caller
            });
        }
        let code = self.context.linked.function(call.function);
        let base = here.bounds.top;
        if base + code.program.frame_bytes > MAX_LOCAL_BYTES {
            let what = format!("calls too deeply: its stack has {MAX_LOCAL_BYTES} bytes");
            return Err(Stop::new(
                FaultKind::OutOfBounds,
                here.mask.trailing_zeros(),
                what,
            ));
        }
        let frame = warp.enter(call.function, code, base);
        let moves: Vec<_> = call
            .arguments
            .iter()
            .map(|&(from, to, bytes)| (here.bounds.base + from, base + to, bytes))
            .collect();
        copy_local(&mut warp.local, &moves, here.mask);
        let node = warp.return_at(&caller, here.mask, caller.pc + 1, frame);
        warp.splits[here.at] = Split {
            pc: 0,
            mask: here.mask,
            frame,
            node,
            ..caller
        };
        Ok(())
    }
}

/// Copies whole words of local memory, in the lanes of a mask.
fn copy_local(local: &mut [[u32; LANES]], moves: &[(u32, u32, u32)], mask: u32) {
    for &(from, to, bytes) in moves {
        for word in 0..bytes.div_ceil(4) as usize {
            let source = local[from as usize / 4 + word];
            let target = &mut local[to as usize / 4 + word];
            lanes_of(mask).for_each(|lane| target[lane] = source[lane]);
        }
    }
}

/// Lanes return from a function: their results go to the caller's frame.
pub(super) fn return_lanes(worker: &Worker<'_>, warp: &mut Warp, here: &Here) {
    let split = here.split;
    let caller = warp.caller_frame(split.node);
    let site = warp.call_site(split.node);
    let base = warp.frame(caller).local_base;
    if let Kind::Call(call) = worker.instruction(warp, caller, site) {
        let moves: Vec<_> = call
            .results
            .iter()
            .map(|&(from, to, bytes)| (here.bounds.base + from, base + to, bytes))
            .collect();
        copy_local(&mut warp.local, &moves, here.mask);
    }
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
