//! What happens when no warp of a cluster can go on: lanes part, waits end late, or it is a fault.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::block::Block;
use super::reconverge::{State, Warp};
use super::worker::{Stop, Worker};
use crate::fault::{Fault, FaultKind, triple};

/// Rounds of waits in memory that end without success and leave every register as it was, until that is a
/// deadlock.
const IDLE_ROUNDS: u32 = 256;
/// The same for rounds in which threads did something by themselves, such as counting them.
const LONELY_ROUNDS: u32 = 1 << 16;

/// How long waits have been ending late.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Rounds since something was done that others may be waiting for.
    lonely: u32,
    /// Rounds since something changed at all.
    idle: u32,
    /// What the threads looked like in the last round.
    seen: u64,
}

impl Patience {
    /// Something happened that threads may have waited for.
    pub(super) fn renew(&mut self) {
        *self = Self::default();
    }

    /// Another round; whether it is one too many.
    fn ends(&mut self, seen: u64) -> bool {
        self.lonely += 1;
        self.idle = if seen == self.seen { self.idle + 1 } else { 0 };
        self.seen = seen;
        self.idle >= IDLE_ROUNDS || self.lonely >= LONELY_ROUNDS
    }
}

impl Worker<'_> {
    /// Nothing can go on: lanes that wait for others of their warp go on alone, or else waits at
    /// barriers in memory end without success, as a device's do after some time.
    pub(super) fn loosen(&mut self) -> Result<(), Fault> {
        let warps = self.peers.iter_mut().flat_map(|block| &mut block.warps);
        let mut released = false;
        for warp in warps.filter(|warp| !warp.splits.is_empty()) {
            released |= warp.release();
        }
        if released {
            return Ok(());
        }
        let seen = self.appearance();
        let mut is_late = false;
        if !self.cluster.patience.ends(seen) {
            for rank in 0..self.peers.len() {
                let mut block = std::mem::take(&mut self.peers[rank]);
                let woken = self.end_waits(&mut block);
                self.peers[rank] = block;
                is_late |= woken?;
            }
        }
        if is_late {
            return Ok(());
        }
        // The lowest block says best what is amiss, and one at a barrier better than none.
        let waits = |block: &&Block| block.live > 0;
        let block = self.peers.iter().find(waits);
        Err(block.map_or_else(
            || Fault::of_launch(FaultKind::Deadlock, "the launch cannot go on"),
            |block| self.stuck(block),
        ))
    }

    /// A number that changes when a thread's place or registers do, or memory is accessed.
    fn appearance(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let counters = &self.counters;
        counters.global_requests.hash(&mut hasher);
        counters.shared_requests.hash(&mut hasher);
        counters.local_requests.hash(&mut hasher);
        counters.barriers.hash(&mut hasher);
        for warp in self.peers.iter().flat_map(|block| &block.warps) {
            warp.hash_state(&mut hasher);
        }
        hasher.finish()
    }

    /// Ends every wait at a barrier in the block's memory. Whether there was one.
    fn end_waits(&mut self, block: &mut Block) -> Result<bool, Fault> {
        let mut found = false;
        for at in 0..block.warps.len() {
            let mut warp = std::mem::take(&mut block.warps[at]);
            let mut failed = None;
            for split in 0..warp.splits.len() {
                if matches!(warp.splits[split].state, State::Phase { .. }) {
                    found = true;
                    failed = failed.or(self.wake_placed(block, &mut warp, split, true).err());
                }
            }
            block.warps[at] = warp;
            failed.map_or(Ok(()), Err)?;
        }
        Ok(found)
    }

    /// As [`Worker::wake`], a fault placed.
    pub(super) fn wake_placed(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        at: usize,
        is_late: bool,
    ) -> Result<bool, Fault> {
        let split = warp.splits[at];
        let woken = self.wake(block, warp, at, is_late);
        woken.map_err(|stop| self.place(block, warp, split.frame, split.pc, stop))
    }

    /// No warp of the block can go on: barriers that differ, or lanes that never come.
    fn stuck(&self, block: &Block) -> Fault {
        let mut barrier = None;
        let mut exchange = None;
        let mut cluster = None;
        for warp in &block.warps {
            for split in &warp.splits {
                let found = match split.state {
                    State::Phase { offset, parity } => {
                        let lane = split.mask.trailing_zeros();
                        let what = Self::phase_text(block, offset, parity);
                        let stop = Stop::new(FaultKind::Deadlock, lane, what);
                        return self.place(block, warp, split.frame, split.pc, stop);
                    }
                    State::Barrier { .. } => &mut barrier,
                    State::Cluster { .. } => &mut cluster,
                    _ => &mut exchange,
                };
                found.get_or_insert((warp, *split));
            }
        }
        if let Some((warp, split)) = cluster {
            let lane = split.mask.trailing_zeros();
            let what = "waits at a barrier that the other threads of its cluster do not reach";
            let stop = Stop::new(FaultKind::BarrierDivergence, lane, what.to_owned());
            return self.place(block, warp, split.frame, split.pc, stop);
        }
        let (kind, what, (warp, split)) = match (barrier, exchange) {
            (Some(barrier), None) => (
                FaultKind::BarrierDivergence,
                "waits at a barrier that the other threads of its block do not reach",
                barrier,
            ),
            (_, Some(exchange)) => (
                FaultKind::Deadlock,
                "waits for threads of its warp that do not arrive",
                exchange,
            ),
            (None, None) => {
                let message = format!("block {} cannot go on", triple(block.index));
                return Fault::of_launch(FaultKind::Deadlock, message);
            }
        };
        let stop = Stop::new(kind, split.mask.trailing_zeros(), what.to_owned());
        self.place(block, warp, split.frame, split.pc, stop)
    }
}
