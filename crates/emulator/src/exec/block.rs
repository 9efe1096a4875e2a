//! A block: its warps, shared memory and barriers.

use super::flights::Flights;
use super::link::Function;
use super::reconverge::Warp;
use crate::lanes::LANES;

/// Barriers that a block has.
pub(super) const BARRIERS: usize = 16;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BarrierState {
    /// Threads that arrived in this generation.
    pub(super) arrived: u32,
    /// How many must, when an arrival said so.
    pub(super) expected: Option<u32>,
    /// Arrivals whose predicate held.
    pub(super) holding: u32,
    pub(super) generation: u32,
    /// Who arrived first in this generation.
    pub(super) first: Option<Waiter>,
    /// Of the generation that completed last: arrivals, and those whose predicate held.
    pub(super) completed: (u32, u32),
}

/// A thread at a barrier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiter {
    pub(super) function: usize,
    pub(super) pc: u32,
    /// Number of the thread in its block.
    pub(super) thread: u32,
    /// At a barrier that every thread of the block must come to.
    pub(super) whole_block: bool,
}

#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) number: u64,
    pub(super) index: [u32; 3],
    /// In its cluster.
    pub(super) rank: u32,
    /// Copies under way to the block's barriers.
    pub(super) in_flight: Flights,
    /// What the host keeps for its bulk stores.
    pub(super) storing_bytes: usize,
    pub(super) warps: Vec<Warp>,
    /// Shared memory in whole words; its size in bytes stands beside it.
    pub(super) shared: Vec<u64>,
    pub(super) shared_bytes: u32,
    pub(super) barriers: [BarrierState; BARRIERS],
    /// Barriers of the kernel that some thread, by number, can come to no more.
    pub(super) passed: Vec<(u32, u32)>,
    /// Threads that have not exited.
    pub(super) live: u32,
    /// Something happened that may let a waiting warp go on.
    pub(super) progressed: bool,
    /// Warp to run first at the next visit.
    pub(super) next_warp: usize,
    /// What the launch's checks know of it.
    pub(super) shadow: Option<Box<super::shadow::BlockShadow>>,
}

impl Block {
    /// Begins the block `number`; its storage is used again.
    pub(super) fn start(
        &mut self,
        number: u64,
        (index, rank): ([u32; 3], u32),
        extent: [u32; 3],
        shared_bytes: u32,
        kernel: (usize, &Function<'_>),
    ) {
        let threads = extent.iter().product::<u32>();
        self.number = number;
        self.index = index;
        self.rank = rank;
        self.in_flight.clear();
        self.storing_bytes = 0;
        self.live = threads;
        self.barriers = [BarrierState::default(); BARRIERS];
        self.passed.clear();
        self.progressed = false;
        self.next_warp = 0;
        self.shared_bytes = shared_bytes;
        self.shared.clear();
        self.shared.resize((shared_bytes as usize).div_ceil(8), 0);
        let warps = threads.div_ceil(32) as usize;
        self.warps.resize_with(warps, Warp::default);
        for (at, warp) in self.warps.iter_mut().enumerate() {
            let first = 32 * at as u32;
            warp.start(first, threads - first, kernel.0, kernel.1);
            warp.threads
                .get_or_insert_with(|| Box::new(thread_indices(first, extent)));
        }
    }

    /// Threads arrive at a barrier.
    pub(super) fn arrive(&mut self, id: usize, threads: u32, holding: u32, expected: Option<u32>) {
        let barrier = &mut self.barriers[id];
        barrier.arrived += threads;
        barrier.holding += holding;
        barrier.expected = barrier.expected.or(expected);
        self.complete(id);
    }

    /// Opens the barrier if everyone is there.
    fn complete(&mut self, id: usize) {
        let live = self.live;
        let barrier = &mut self.barriers[id];
        if barrier.arrived == 0 || barrier.arrived < barrier.expected.unwrap_or(live) {
            return;
        }
        barrier.completed = (barrier.arrived, barrier.holding);
        barrier.generation = barrier.generation.wrapping_add(1);
        (barrier.arrived, barrier.holding, barrier.expected) = (0, 0, None);
        barrier.first = None;
        self.progressed = true;
    }

    /// Threads end: a barrier no longer waits for them.
    pub(super) fn exit(&mut self, threads: u32) {
        self.live -= threads;
        (0..BARRIERS).for_each(|id| self.complete(id));
        self.progressed = true;
    }
}

/// Index in the block of each lane's thread.
fn thread_indices(first: u32, [x, y, _]: [u32; 3]) -> [[u32; LANES]; 3] {
    let along =
        |f: fn(u32, u32, u32) -> u32| std::array::from_fn(|lane| f(first + lane as u32, x, y));
    [
        along(|t, x, _| t % x),
        along(|t, x, y| t / x % y),
        along(|t, x, y| t / (x * y)),
    ]
}
