//! What happens before what, as far as the race check knows.
//!
//! The launch has one clock, which moves on at every event that orders something; an access is
//! stamped with it. Within a block each warp knows up to which time it has seen each other warp:
//! barriers (`bar.arrive` gives, `bar.sync` gives and takes), exits, and flags (a fence, then a
//! volatile or atomic access; whoever reads that location next has seen what came before the fence)
//! raise it. Lanes of a warp are ordered by `__syncwarp` and the exchanges. Blocks are ordered by flags
//! alone. Where it is unclear whether something orders, it does: `shfl.sync` orders memory here, a
//! barrier is a fence, whoever polls takes for the whole block.

use std::collections::HashMap;

use super::touch::Touch;
use crate::exec::block::BARRIERS;
use crate::lanes::LANES;

/// Time seen of each warp of a block.
pub(super) type Seen = [u32; 32];

fn join(into: &mut Seen, other: &Seen) {
    into.iter_mut()
        .zip(other)
        .for_each(|(a, &b)| *a = (*a).max(b));
}

/// The launch's clock and what flags in memory carry.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) now: u32,
    /// What the readers of each flag in global memory have seen, by its address.
    flags: HashMap<u64, Carried>,
    /// When each block gave something, in order.
    given: HashMap<u32, Vec<u32>>,
}

/// Address of a flag in global memory, or in the block's shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    Global(u64),
    Shared(u64),
}

#[derive(Debug, Clone, Copy, Default)]
struct Carried {
    /// Time until which the other blocks' accesses are seen, as far as they were given.
    time: u32,
    /// The block whose warps `seen` speaks of.
    block: u32,
    seen: Seen,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            now: 1,
            flags: HashMap::new(),
            given: HashMap::new(),
        }
    }
}

impl Times {
    fn tick(&mut self) -> u32 {
        self.now = self.now.saturating_add(1);
        self.now
    }

    /// Whether a block had given, after `stamp`, something that had been taken by `taken`.
    fn has_given(&self, block: u32, stamp: u32, taken: u32) -> bool {
        let Some(given) = self.given.get(&block) else {
            return false;
        };
        let after = given.partition_point(|&time| time <= stamp);
        given.get(after).is_some_and(|&time| time <= taken)
    }
}

/// Arrivals of one generation of a barrier.
#[derive(Debug, Clone, Copy, Default)]
struct Arrivals {
    generation: u32,
    seen: Seen,
    /// Of warps that had exited before the barrier opened: one for the whole block waits for them.
    exited: Seen,
}

/// The order within one block.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    pub(super) block: u32,
    warps: Vec<Seen>,
    /// Until when the lanes of each warp have seen one another.
    lanes: Seen,
    /// The same for two lanes, where a warp barrier left others out.
    pairs: HashMap<u32, Box<[[u32; LANES]; LANES]>>,
    /// Each warp's last fence; 0 when there was none.
    fenced: Seen,
    exited: Seen,
    /// By barrier, the arrivals of an even and of an odd generation.
    arrivals: [[Arrivals; 2]; BARRIERS],
    /// Time until which the block has taken what other blocks gave.
    taken: u32,
    /// What the readers of each flag in shared memory have seen.
    flags: HashMap<u64, Seen>,
}

impl Clocks {
    pub(super) fn start(&mut self, block: u32, warps: usize) {
        self.block = block;
        self.warps.clear();
        self.warps.resize(warps, [0; 32]);
        (self.lanes, self.fenced, self.exited) = ([0; 32], [0; 32], [0; 32]);
        self.pairs.clear();
        self.arrivals = Default::default();
        self.taken = 0;
        self.flags.clear();
    }

    /// Whether an access by a lane of `warp` comes after an earlier one.
    #[inline(always)]
    pub(super) fn is_after(&self, times: &Times, warp: u32, lane: usize, earlier: &Touch) -> bool {
        // The clock has run out: nothing is known of the order of such accesses.
        if earlier.stamp == u32::MAX {
            return true;
        }
        if earlier.block != self.block {
            return times.has_given(earlier.block, earlier.stamp, self.taken);
        }
        if u32::from(earlier.warp) != warp {
            return earlier.stamp < self.warps[warp as usize][earlier.warp as usize];
        }
        let others = earlier.lanes & !(1 << lane);
        others == 0
            || earlier.stamp < self.lanes[warp as usize]
            || self.is_after_lanes(warp, lane, others, earlier.stamp)
    }

    fn is_after_lanes(&self, warp: u32, lane: usize, others: u32, stamp: u32) -> bool {
        let seen = |pairs: &[[u32; LANES]; LANES]| {
            (0..LANES).all(|other| others >> other & 1 == 0 || stamp < pairs[lane][other])
        };
        self.pairs.get(&warp).is_some_and(|pairs| seen(pairs))
    }

    /// Lanes of a warp meet; `alive` are all that it has left.
    pub(super) fn meet(&mut self, times: &mut Times, warp: u32, members: u32, alive: u32) {
        let now = times.tick();
        if alive & !members == 0 {
            self.lanes[warp as usize] = now;
            return;
        }
        let pairs = self.pairs.entry(warp).or_default();
        for lane in (0..LANES).filter(|lane| members >> lane & 1 != 0) {
            for other in (0..LANES).filter(|other| members >> other & 1 != 0) {
                pairs[lane][other] = now;
            }
        }
    }

    /// A warp arrives at a barrier of this generation.
    pub(super) fn arrive(&mut self, times: &mut Times, warp: u32, barrier: u32, generation: u32) {
        let now = self.fence(times, warp);
        let seen = self.warps[warp as usize];
        let arrivals = self.arrivals_at(barrier as usize, generation);
        join(&mut arrivals.seen, &seen);
        arrivals.seen[warp as usize] = now;
    }

    /// The arrivals of a barrier's generation under way.
    fn arrivals_at(&mut self, barrier: usize, generation: u32) -> &mut Arrivals {
        let exited = self.exited;
        let arrivals = &mut self.arrivals[barrier][generation as usize % 2];
        if arrivals.generation != generation {
            *arrivals = Arrivals {
                generation,
                exited,
                ..Arrivals::default()
            };
        }
        arrivals
    }

    /// A warp goes on from a barrier of this generation. One for the whole block waited for threads
    /// by their exit, too.
    pub(super) fn pass(
        &mut self,
        times: &mut Times,
        warp: u32,
        barrier: u32,
        generation: u32,
        is_whole: bool,
    ) {
        let now = times.tick();
        let arrivals = &self.arrivals[barrier as usize][generation as usize % 2];
        let seen = &mut self.warps[warp as usize];
        if arrivals.generation == generation {
            join(seen, &arrivals.seen);
        } else {
            *seen = [now; 32];
        }
        if is_whole {
            join(seen, &arrivals.exited);
        }
        self.lanes[warp as usize] = now;
    }

    /// A fence of a warp: what came before can be given from now on. Gives the time.
    pub(super) fn fence(&mut self, times: &mut Times, warp: u32) -> u32 {
        let now = times.tick();
        self.fenced[warp as usize] = now;
        now
    }

    /// Threads of a warp end: what waits for the block no longer waits for them. `generations`: of each
    /// barrier, the one under way.
    pub(super) fn exit(
        &mut self,
        times: &mut Times,
        warp: u32,
        generations: impl Iterator<Item = u32>,
    ) {
        let now = times.tick();
        self.exited[warp as usize] = now;
        for (barrier, generation) in generations.enumerate() {
            self.arrivals_at(barrier, generation).exited[warp as usize] = now;
        }
    }

    /// A volatile, ordered or atomic write: whoever reads the flag sees what came before the last
    /// fence.
    pub(super) fn give(&mut self, times: &mut Times, warp: u32, flag: Flag) {
        let fenced = self.fenced[warp as usize];
        if fenced == 0 {
            return;
        }
        let mut seen = self.warps[warp as usize];
        seen[warp as usize] = fenced;
        let address = match flag {
            Flag::Global(address) => address,
            Flag::Shared(address) => return join(self.flags.entry(address).or_default(), &seen),
        };
        let carried = times.flags.entry(address).or_default();
        carried.time = carried.time.max(fenced);
        if carried.block == self.block {
            join(&mut carried.seen, &seen);
        } else {
            (carried.block, carried.seen) = (self.block, seen);
        }
        let given = times.given.entry(self.block).or_default();
        if let Err(at) = given.binary_search(&fenced) {
            given.insert(at, fenced);
        }
    }

    /// A volatile, ordered or atomic read of a flag.
    pub(super) fn take(&mut self, times: &Times, warp: u32, flag: Flag) {
        let seen = match flag {
            Flag::Shared(address) => self.flags.get(&address),
            Flag::Global(address) => times.flags.get(&address).and_then(|carried| {
                self.taken = self.taken.max(carried.time);
                (carried.block == self.block).then_some(&carried.seen)
            }),
        };
        if let Some(seen) = seen {
            let own = seen[warp as usize];
            join(&mut self.warps[warp as usize], seen);
            self.lanes[warp as usize] = self.lanes[warp as usize].max(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_race_is_told_of_once_the_clock_has_run_out() {
        let mut times = Times {
            now: u32::MAX - 1,
            ..Times::default()
        };
        let mut clocks = Clocks::default();
        clocks.start(0, 2);
        let touch = |stamp| Touch {
            stamp,
            lanes: 1,
            ..Touch::default()
        };
        // By another warp, and by another block, with nothing in between.
        assert!(!clocks.is_after(&times, 1, 0, &touch(times.now)));
        for _ in 0..3 {
            clocks.fence(&mut times, 0);
        }
        assert!(clocks.is_after(&times, 1, 0, &touch(times.now)));
        clocks.block = 1;
        assert!(clocks.is_after(&times, 1, 0, &touch(times.now)));
    }
}
