//! Blocks of one cluster: they run on one host thread, side by side, and reach each other's shared
//! memory and a barrier of their own.
//!
//! An address of shared memory holds in its upper bits the rank plus one of the block that it
//! belongs to; 0 there means the block that uses it ([`crate::memory::CLUSTER_SHIFT`]).
#![allow(unsafe_code)]

use super::Context;
use super::block::Block;
use super::elements::lanes_of;
use super::reconverge::{Split, State, Warp};
use super::standstill::Patience;
use super::step::Here;
use super::violations::{Verb, shared_stop};
use super::worker::{Stop, Worker};
use crate::fault::{FaultKind, triple};
use crate::memory::{CLUSTER_SHIFT, SHARED_BASE, SHARED_OFFSET};
use crate::program::AddressSpace;

/// Blocks that start and run together.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) number: u64,
    pub(super) blocks: Vec<Block>,
    pub(super) state: ClusterState,
}

/// What the blocks of a cluster share.
#[derive(Debug, Default)]
pub(super) struct ClusterState {
    /// Threads of all blocks that have not exited.
    pub(super) live: u32,
    /// Threads that arrived at the cluster's barrier in this generation.
    arrived: u32,
    pub(super) generation: u32,
    /// With waits that end without success.
    pub(super) patience: Patience,
}

impl ClusterState {
    pub(super) fn new(live: u32) -> Self {
        Self {
            live,
            ..Self::default()
        }
    }

    fn arrive(&mut self, threads: u32) {
        self.arrived += threads;
        self.complete();
    }

    fn complete(&mut self) {
        if self.arrived != 0 && self.arrived >= self.live {
            self.arrived = 0;
            self.generation = self.generation.wrapping_add(1);
            self.patience.renew();
        }
    }

    /// Threads end: the barrier no longer waits for them, nor counts those of them that `arrived`.
    fn exit(&mut self, threads: u32, arrived: u32) {
        self.live -= threads;
        self.arrived -= arrived;
        self.patience.renew();
        self.complete();
    }
}

/// A checked range of shared memory: of the running block, or of one of its peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) peer: Option<usize>,
    pub(super) offset: u32,
}

impl Context<'_> {
    /// Blocks along each axis of the grid that clusters have.
    pub(super) fn clusters(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.launch.grid[axis] / self.cluster[axis])
    }

    /// Index in the grid of a block by its number: those of a cluster follow each other.
    pub(super) fn block_index(&self, number: u64) -> [u32; 3] {
        let size = u64::from(self.cluster_blocks);
        self.block_of_cluster(number / size, (number % size) as u32)
    }

    /// Index in the grid of a block, by its cluster's number and its rank.
    pub(super) fn block_of_cluster(&self, cluster: u64, rank: u32) -> [u32; 3] {
        let first = unravel(cluster, self.clusters());
        let within = unravel(u64::from(rank), self.cluster);
        std::array::from_fn(|axis| first[axis] * self.cluster[axis] + within[axis])
    }
}

/// Coordinates of a linear index, x fastest.
pub(super) fn unravel(index: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [
        (index % x) as u32,
        (index / x % y) as u32,
        (index / (x * y)) as u32,
    ]
}

impl Worker<'_> {
    /// Checks one lane's range of shared memory. `align` is a power of two.
    pub(super) fn shared_place(
        &self,
        block: &Block,
        lane: u32,
        address: u64,
        space: AddressSpace,
        (size, align): (u32, u32),
        verb: Verb,
    ) -> Result<Place, Stop> {
        let address = match space {
            AddressSpace::Generic => address.wrapping_sub(SHARED_BASE),
            _ => address & 0xffff_ffff,
        };
        if address > 0xffff_ffff {
            let address = address.wrapping_add(SHARED_BASE);
            let what = format!(
                "{} {address:#x}, which is not in shared memory",
                verb.text()
            );
            return Err(Stop::new(FaultKind::OutOfBounds, lane, what));
        }
        let rank = (address >> CLUSTER_SHIFT) as usize;
        let is_own = rank == 0 || rank == block.rank as usize + 1;
        if rank != 0 && (space == AddressSpace::Shared && !is_own || rank > self.peers.len()) {
            let total = u64::from(block.shared_bytes);
            return Err(shared_stop(lane, address, size, total, true, verb));
        }
        let offset = address & SHARED_OFFSET;
        let total = u64::from(block.shared_bytes);
        let outside = offset + u64::from(size) > total;
        if outside || !offset.is_multiple_of(u64::from(align)) {
            let bound = if outside { size } else { align };
            return Err(shared_stop(lane, offset, bound, total, outside, verb));
        }
        let offset = offset as u32;
        if is_own {
            return Ok(Place { peer: None, offset });
        }
        let peer = &self.peers[rank - 1];
        if peer.live == 0 {
            let what = format!(
                "{} shared memory of block {} of its cluster, all of whose threads have exited",
                verb.text(),
                triple(peer.index)
            );
            return Err(Stop::new(FaultKind::OutOfBounds, lane, what));
        }
        Ok(Place {
            peer: Some(rank - 1),
            offset,
        })
    }

    /// Where a checked place lies on the host.
    pub(super) fn shared_pointer(&mut self, block: &mut Block, place: Place) -> *mut u8 {
        let shared = match place.peer {
            None => &mut block.shared,
            Some(rank) => &mut self.peers[rank].shared,
        };
        let base: *mut u8 = shared.as_mut_ptr().cast();
        base.wrapping_add(place.offset as usize)
    }

    /// The block that a place belongs to.
    pub(super) fn owner<'b>(&'b mut self, block: &'b mut Block, place: Place) -> &'b mut Block {
        match place.peer {
            None => block,
            Some(rank) => &mut self.peers[rank],
        }
    }

    pub(super) fn cluster_arrive(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        mask: u32,
    ) -> Result<(), Stop> {
        self.counters.barriers += 1;
        let now = Some(self.cluster.generation);
        for lane in lanes_of(mask) {
            if warp.cluster_arrivals[lane] == now {
                let what = "arrives twice at the barrier of its cluster";
                let kind = FaultKind::BarrierDivergence;
                return Err(Stop::new(kind, lane as u32, what.to_owned()));
            }
            warp.cluster_arrivals[lane] = now;
        }
        self.cluster.arrive(mask.count_ones());
        block.progressed = true;
        Ok(())
    }

    pub(super) fn cluster_exit(&mut self, warp: &mut Warp, mask: u32) {
        let now = Some(self.cluster.generation);
        let arrived = lanes_of(mask).filter(|&lane| warp.cluster_arrivals[lane] == now);
        let arrived = arrived.count() as u32;
        self.cluster.exit(mask.count_ones(), arrived);
    }

    /// Makes lanes wait for the cluster barrier at which they arrived. Whether they do.
    pub(super) fn cluster_wait(&mut self, warp: &mut Warp, here: &Here) -> Result<bool, Stop> {
        let mut generation = None;
        for lane in lanes_of(here.mask) {
            let Some(arrived) = warp.cluster_arrivals[lane].take() else {
                let what = "waits at the barrier of its cluster without having arrived there";
                return Err(Stop::new(
                    FaultKind::BarrierDivergence,
                    lane as u32,
                    what.to_owned(),
                ));
            };
            if arrived == self.cluster.generation {
                generation = Some(arrived);
            }
        }
        let Some(generation) = generation else {
            return Ok(false);
        };
        suspend(warp, here, State::Cluster { generation });
        Ok(true)
    }
}

/// Puts a split to sleep at its instruction. Lanes that the guard leaves out wait behind it.
pub(super) fn suspend(warp: &mut Warp, here: &Here, state: State) {
    let mut split = here.split;
    let rest = split.mask & !here.mask;
    if rest != 0 {
        split.node = warp.meet_at(&split, split.pc + 1);
        warp.splits.push(Split {
            pc: split.pc + 1,
            mask: rest,
            ..split
        });
        split.mask = here.mask;
    }
    split.state = state;
    split.polls = warp.splits[here.at].polls;
    warp.splits[here.at] = split;
}
