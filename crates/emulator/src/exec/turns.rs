//! Who runs next, and for how long: the blocks of a cluster, the warps of a block, the splits of a warp.
//!
//! Progress is fair: a warp gives way after a slice, a diverged split after a shorter one, and,
//! where blocks can wait for one another, a block after its own. Polls (volatile or ordered loads,
//! global atomics, sleeps) use up a slice faster.

use std::sync::atomic::Ordering;

use super::block::Block;
use super::cluster::Group;
use super::reconverge::{Split, State, Warp};
use super::worker::Worker;
use crate::fault::Fault;

const WARP_SLICE: i64 = 1 << 13;
/// Of a warp's slice, what one of several splits gets at a time.
const SPLIT_SLICE: i64 = 1 << 10;
pub(super) const BLOCK_SLICE: i64 = 1 << 16;
/// What an access costs of a slice that rarely is a poll: an atomic that adds or compares.
pub(super) const ATOMIC_COST: i64 = 64;
/// What a likely poll costs: a volatile or ordered load, a compare-and-swap, an exchange, a sleep.
pub(super) const POLL_COST: i64 = 512;
/// Polls of one split after which lanes that wait for it go on alone.
const PATIENCE_POLLS: u32 = 1024;
/// Warp instructions after which a worker tells the others, so that they stop together.
const REPORT_EVERY: u64 = 1 << 16;

pub(super) enum Visit {
    Finished,
    Yielded,
    /// No warp can go on unless another block does something.
    Waiting,
}

enum Turn {
    Finished,
    Yielded,
    Blocked,
}

impl Worker<'_> {
    /// Runs the blocks of a cluster until they end, wait for other clusters, or have used their
    /// slice.
    pub(super) fn visit_group(&mut self, group: &mut Group, budget: i64) -> Result<Visit, Fault> {
        std::mem::swap(&mut self.peers, &mut group.blocks);
        std::mem::swap(&mut self.cluster, &mut group.state);
        let result = self.rounds(budget);
        std::mem::swap(&mut self.peers, &mut group.blocks);
        std::mem::swap(&mut self.cluster, &mut group.state);
        result
    }

    fn rounds(&mut self, mut budget: i64) -> Result<Visit, Fault> {
        let is_alone = self.peers.len() == 1;
        loop {
            let before = self.counters.warp_instructions;
            let mut has_yielded = false;
            for rank in 0..self.peers.len() {
                if self.peers[rank].live == 0 {
                    continue;
                }
                let mut left = if is_alone { budget } else { BLOCK_SLICE };
                let share = left;
                // The block stands outside while it runs; the others are its peers.
                let mut block = std::mem::take(&mut self.peers[rank]);
                let outcome = self.visit(&mut block, &mut left);
                self.set_output_aside(block.number);
                self.peers[rank] = block;
                has_yielded |= matches!(outcome?, Visit::Yielded);
                budget = budget.saturating_sub(share - left);
            }
            if has_yielded {
                self.cluster.patience.renew();
            }
            if self.peers.iter().all(|block| block.live == 0) {
                return Ok(Visit::Finished);
            }
            if budget <= 0 {
                return Ok(Visit::Yielded);
            }
            if !has_yielded && self.counters.warp_instructions == before {
                self.loosen()?;
            }
        }
    }

    /// Runs a block until it ends, waits for other blocks, or has used its slice.
    fn visit(&mut self, block: &mut Block, budget: &mut i64) -> Result<Visit, Fault> {
        loop {
            block.progressed = false;
            let mut yielded = false;
            let warps = block.warps.len();
            if let Some(generator) = &mut self.generator {
                block.next_warp = generator.below(warps);
            }
            for step in 0..warps {
                let at = (block.next_warp + step) % warps;
                let whole = self.warp_slice();
                let mut slice = whole;
                match self.turn(block, at, &mut slice)? {
                    Turn::Yielded => yielded = true,
                    Turn::Finished | Turn::Blocked => {}
                }
                *budget = budget.saturating_sub(whole - slice);
                if *budget <= 0 && block.live > 0 {
                    block.next_warp = (at + 1) % warps;
                    return Ok(Visit::Yielded);
                }
            }
            if block.live == 0 {
                if let Some(fault) = self.split_group(block) {
                    return Err(fault);
                }
                return Ok(Visit::Finished);
            }
            if !yielded && !block.progressed {
                return Ok(Visit::Waiting);
            }
        }
    }

    /// Instructions that a warp may run before the next one's turn.
    fn warp_slice(&mut self) -> i64 {
        match &mut self.generator {
            // As likely short as long.
            Some(generator) => 1 << generator.below(14),
            None => WARP_SLICE,
        }
    }

    /// Runs one warp for a slice.
    fn turn(&mut self, block: &mut Block, at: usize, slice: &mut i64) -> Result<Turn, Fault> {
        if block.warps[at].splits.is_empty() {
            return Ok(Turn::Finished);
        }
        self.check_limits(block, at)?;
        let mut warp = std::mem::take(&mut block.warps[at]);
        let (stacks_before, own_before) = (self.stack_bytes, warp.stack_bytes);
        let outcome = self.advance(block, &mut warp, slice);
        warp.trim();
        self.stack_bytes = stacks_before + warp.stack_bytes - own_before;
        self.counters
            .note_warp(warp.issued, warp.cycles, warp.waits);
        block.warps[at] = warp;
        outcome
    }

    fn advance(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        slice: &mut i64,
    ) -> Result<Turn, Fault> {
        loop {
            if warp.splits.is_empty() {
                return Ok(Turn::Finished);
            }
            if *slice <= 0 {
                return Ok(Turn::Yielded);
            }
            let Some(at) = self.pick(block, warp)? else {
                // A wait in memory ends by itself: lanes that wait for its own need not part.
                let sleeps = |split: &Split| {
                    matches!(split.state, State::Phase { .. } | State::Cluster { .. })
                };
                if !warp.splits.iter().any(sleeps) && warp.release() {
                    continue;
                }
                return Ok(Turn::Blocked);
            };
            let share = if warp.splits.len() > 1 {
                SPLIT_SLICE.min(*slice)
            } else {
                *slice
            };
            let mut left = share;
            let (before, work_before) = (warp.issued, self.work);
            let path = (warp.cycles, warp.waits);
            let outcome = self.run(block, warp, at, &mut left);
            self.counters.warp_cycles += warp.cycles - path.0;
            self.counters.warp_waits += warp.waits - path.1;
            let issued = warp.issued - before;
            self.counters.warp_instructions += issued;
            self.unreported += issued + self.work - work_before;
            *slice -= share - left;
            outcome?;
            if left <= 0 {
                self.lose_patience(warp, at);
            }
        }
    }

    /// Frees lanes that wait for a split which polls for what they might do.
    fn lose_patience(&self, warp: &mut Warp, at: usize) {
        if let Some(split) = warp.splits.get_mut(at)
            && split.polls >= PATIENCE_POLLS
        {
            split.polls = 0;
            while warp.release() {}
        }
        warp.next = at + 1;
    }

    /// A split that can go on, from the warp's next one.
    fn pick(&mut self, block: &mut Block, warp: &mut Warp) -> Result<Option<usize>, Fault> {
        let count = warp.splits.len();
        for step in 0..count {
            let at = (warp.next + step) % count;
            let ready = match warp.splits[at].state {
                State::Ready => true,
                State::Barrier { id, generation } => {
                    let passed = block.barriers[id as usize].generation != generation;
                    if passed {
                        self.pass_barrier(block, warp, at);
                    }
                    passed
                }
                State::Phase { .. } => self.wake_placed(block, warp, at, false)?,
                State::Cluster { generation } => {
                    let passed = self.cluster.generation != generation;
                    if passed {
                        warp.splits[at].pc += 1;
                        warp.splits[at].state = State::Ready;
                    }
                    passed
                }
                State::Exchange { members } | State::SyncWarp { members } => {
                    self.meet(block, warp, at, members)?
                }
            };
            if ready {
                warp.next = at;
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn check_limits(&mut self, block: &Block, at: usize) -> Result<(), Fault> {
        if self.unreported < REPORT_EVERY {
            return Ok(());
        }
        let reported = self.report();
        if reported > self.context.limits.instruction_fuel {
            return Err(self.out_of_fuel(block, at));
        }
        Ok(())
    }

    /// Tells the other workers what this one issued; what all have told since the start.
    fn report(&mut self) -> u64 {
        let issued = std::mem::take(&mut self.unreported);
        self.context.issued.fetch_add(issued, Ordering::Relaxed) + issued
    }
}
