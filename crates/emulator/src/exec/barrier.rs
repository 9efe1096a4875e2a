//! Block barriers: arrival, completion, and the divergence that makes them a fault.
#![allow(unsafe_code)]

use super::block::Block;
use super::reconverge::{Split, State, Warp, lane_value};
use super::step::holding;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::lanes::{FULL, LANES, View};
use crate::program::{BarrierMode, Kind};

impl Worker<'_> {
    /// Threads arrive at a block barrier. Whether the split has left its place.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn barrier(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        at: usize,
        mut split: Split,
        view: &View,
        barrier: &crate::program::Barrier,
        mask: u32,
    ) -> Result<bool, Stop> {
        self.counters.barriers += 1;
        let lane = mask.trailing_zeros();
        // SAFETY: the slots are the program's.
        let value = |slot| unsafe { lane_value(view, slot, lane as usize) } as u32;
        let id = value(barrier.id);
        if id as usize >= block.barriers.len() {
            let what = format!("uses barrier {id}; a block has {}", block.barriers.len());
            return Err(Stop::new(FaultKind::BadLaunch, lane, what));
        }
        let expected = barrier.threads.map(value);
        let generation = block.barriers[id as usize].generation;
        if barrier.aligned
            && let Some(other) = warp.other_waiter(id, generation, split.pc, split.frame)
        {
            return Err(self.divergent_barrier(warp, lane, &other));
        }
        let holding = match barrier.mode {
            BarrierMode::Sync | BarrierMode::Arrive => 0,
            BarrierMode::Count { by, .. }
            | BarrierMode::Any { by, .. }
            | BarrierMode::All { by, .. } => (holding(view, by) & mask).count_ones(),
        };
        let mut threads = mask.count_ones();
        if expected.is_some() {
            // A count is in whole warps: the last lanes of a partial warp stand for those it lacks.
            let waits = State::Barrier { id, generation };
            let here: u32 = warp
                .splits
                .iter()
                .filter(|s| s.state == waits)
                .map(|s| s.mask)
                .sum::<u32>()
                | mask;
            if here == warp.alive {
                threads += 32 - warp.alive.count_ones();
            }
        }
        if matches!(barrier.mode, BarrierMode::Arrive) {
            block.arrive(id as usize, threads, holding, expected);
            return Ok(false);
        }
        // Lanes that the guard leaves out go past it: they wait behind for the others.
        let rest = split.mask & !mask;
        if rest != 0 {
            split.node = warp.meet_at(&split, split.pc + 1);
            warp.splits.push(Split {
                pc: split.pc + 1,
                mask: rest,
                ..split
            });
            split.mask = mask;
        }
        split.state = State::Barrier { id, generation };
        warp.splits[at] = split;
        block.arrive(id as usize, threads, holding, expected);
        Ok(true)
    }

    #[cold]
    fn divergent_barrier(&self, warp: &Warp, lane: u32, other: &Split) -> Stop {
        let function = self
            .context
            .linked
            .function(warp.frame(other.frame).function);
        let line = function.program.lines[other.pc as usize];
        let place = line.map_or(String::new(), |line| format!(" on line {line}"));
        let thread = crate::fault::triple(self.thread_index(warp, other.mask.trailing_zeros()));
        let what = format!(
            "reaches a __syncthreads() while thread {thread} of its warp waits at another one{place}"
        );
        Stop::new(FaultKind::BarrierDivergence, lane, what)
    }

    /// The barrier that a split waited at has opened.
    pub(super) fn pass_barrier(&mut self, block: &Block, warp: &mut Warp, at: usize) {
        let split = warp.splits[at];
        let code = self
            .context
            .linked
            .function(warp.frame(split.frame).function);
        let view = warp.view(split.frame, code);
        if let Kind::Barrier(barrier) = self.instruction(warp, split.frame, split.pc)
            && let State::Barrier { id, .. } = split.state
        {
            let (arrived, holding) = block.barriers[id as usize].completed;
            let all = |held: bool| if held { FULL } else { 0 };
            // SAFETY: slot and predicates are the program's.
            unsafe {
                match barrier.mode {
                    BarrierMode::Count { dst, .. } => {
                        view.store(dst, split.mask, &[holding; LANES]);
                    }
                    BarrierMode::Any { dst, .. } => {
                        view.set_predicate(dst, split.mask, all(holding > 0));
                    }
                    BarrierMode::All { dst, .. } => {
                        view.set_predicate(dst, split.mask, all(holding == arrived));
                    }
                    BarrierMode::Sync | BarrierMode::Arrive => {}
                }
            }
        }
        warp.splits[at].pc += 1;
        warp.splits[at].state = State::Ready;
    }
}
