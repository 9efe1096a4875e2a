//! Block barriers: arrival, completion, and the divergence that makes them a fault.
//!
//! The rules. Devices from sm_70 on count threads: a barrier opens when all of the block's threads
//! that have not exited are there, or as many as its count says. Some uses work on a device only by
//! the accident of that counting, and CUDA forbids them: "`__syncthreads()` is allowed in conditional
//! code but only if the conditional evaluates identically across the entire thread block". So:
//!
//! - Threads that exit are counted out, before others come to a barrier or while they wait: an early
//!   `return` is no fault. (It is undefined by the letter, and everybody writes it.)
//! - Going around a `__syncthreads()` that others wait at, now or later, is a fault as soon as the
//!   thread is where every thread comes to after it ([`crate::program::mark_passes`]). If nothing
//!   follows it but the end of the kernel, going around it is an early `return` and nothing else.
//! - Two threads of a block at two different `__syncthreads()` are a fault, in one warp or in two.
//! - A count is a multiple of 32, at most the block's threads in whole warps, and the same for all
//!   that meet. Warps may come to a barrier with a count at different instructions: that is what it
//!   is for. So may threads at the form that is not aligned (`barrier.sync`).
//! - What can never open any more is a fault: [`FaultKind::BarrierDivergence`] like all of these.
#![allow(unsafe_code)]

use super::block::{Block, Waiter};
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
        let arriving = Waiter {
            function: warp.frame(split.frame).function,
            pc: split.pc,
            thread: warp.first_thread + lane,
            whole_block: barrier.is_whole_block(),
        };
        if barrier.aligned
            && let Some(other) = warp.other_waiter(id, generation, split.pc, split.frame)
        {
            let function = warp.frame(other.frame).function;
            let thread = warp.first_thread + other.mask.trailing_zeros();
            return Err(self.divergent_barrier(lane, function, other.pc, thread));
        }
        match expected {
            Some(expected) => check_count(expected, block, id, lane)?,
            None => self.check_whole_block(block, &arriving, id, lane)?,
        }
        block.barriers[id as usize].first.get_or_insert(arriving);
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
        if self.shadow.is_some() {
            self.note_arrival(block, warp, id, generation);
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
    fn divergent_barrier(&self, lane: u32, function: usize, pc: u32, thread: u32) -> Stop {
        let thread = self.thread_triple(thread);
        let place = self.line_text(function, pc);
        let what =
            format!("reaches a __syncthreads() while thread {thread} waits at another one{place}");
        Stop::new(FaultKind::BarrierDivergence, lane, what)
    }

    /// Whether a thread comes where the others are, and before all who have gone around it.
    fn check_whole_block(
        &self,
        block: &Block,
        arriving: &Waiter,
        id: u32,
        lane: u32,
    ) -> Result<(), Stop> {
        if !arriving.whole_block {
            return Ok(());
        }
        let first = block.barriers[id as usize].first;
        if let Some(first) = first.filter(|first| first.whole_block)
            && (first.function, first.pc) != (arriving.function, arriving.pc)
        {
            return Err(self.divergent_barrier(lane, first.function, first.pc, first.thread));
        }
        let is_kernel = arriving.function == self.context.kernel.function;
        let passed = block
            .passed
            .iter()
            .find(|&&(pc, _)| is_kernel && pc == arriving.pc);
        let Some(&(_, thread)) = passed else {
            return Ok(());
        };
        let thread = self.thread_triple(thread);
        let what = format!("reaches a __syncthreads() that thread {thread} has gone around");
        Err(Stop::new(FaultKind::BarrierDivergence, lane, what))
    }

    /// Threads are where they can come to these barriers no more.
    pub(super) fn pass(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        barriers: &[u32],
        mask: u32,
    ) -> Result<(), Stop> {
        let lane = mask.trailing_zeros();
        let kernel = self.context.kernel.function;
        for &pc in barriers {
            let waits =
                |first: &Waiter| first.whole_block && (first.function, first.pc) == (kernel, pc);
            let waiting = block.barriers.iter().filter_map(|barrier| barrier.first);
            if let Some(waiter) = { waiting }.find(waits) {
                let thread = self.thread_triple(waiter.thread);
                let place = self.line_text(kernel, pc);
                let what = format!(
                    "has gone around the __syncthreads(){place} that thread {thread} waits at"
                );
                return Err(Stop::new(FaultKind::BarrierDivergence, lane, what));
            }
            if !block.passed.iter().any(|&(known, _)| known == pc) {
                block.passed.push((pc, warp.first_thread + lane));
            }
        }
        Ok(())
    }

    /// ` on line 7`, where it is known.
    fn line_text(&self, function: usize, pc: u32) -> String {
        let program = self.context.linked.function(function).program;
        let line = program.lines.get(pc as usize).copied().flatten();
        line.map_or(String::new(), |line| format!(" on line {line}"))
    }

    fn thread_triple(&self, thread: u32) -> String {
        let [x, y, _] = self.context.launch.block;
        crate::fault::triple([thread % x, thread / x % y, thread / (x * y)])
    }

    /// The barrier that a split waited at has opened.
    pub(super) fn pass_barrier(&mut self, block: &mut Block, warp: &mut Warp, at: usize) {
        let split = warp.splits[at];
        let code = self
            .context
            .linked
            .function(warp.frame(split.frame).function);
        let view = warp.view(split.frame, code);
        if let Kind::Barrier(barrier) = self.instruction(warp, split.frame, split.pc)
            && let State::Barrier { id, generation } = split.state
        {
            if self.shadow.is_some() {
                self.note_passing(block, warp, id, generation, barrier.threads.is_none());
            }
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

/// A count that no device takes, or that differs from the one that others wait with.
fn check_count(expected: u32, block: &Block, id: u32, lane: u32) -> Result<(), Stop> {
    let threads = 32 * block.warps.len() as u32;
    let what = match block.barriers[id as usize].expected {
        _ if expected == 0 || !expected.is_multiple_of(32) => {
            format!("uses a barrier for {expected} threads; a count is a multiple of 32")
        }
        _ if expected > threads => {
            format!("uses a barrier for {expected} threads; its block has {threads}")
        }
        Some(other) if other != expected => {
            format!("uses a barrier for {expected} threads where another thread expects {other}")
        }
        _ => return Ok(()),
    };
    Err(Stop::new(FaultKind::BarrierDivergence, lane, what))
}
