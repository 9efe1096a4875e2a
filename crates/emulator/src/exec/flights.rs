//! What is under way to the barriers of a block's shared memory, and how it lands there.
//!
//! It lands when its barrier is waited for, as late as a device may let it come. No more is kept than
//! a block can make use of: beyond that the oldest lands at once, as it may on a device too.
#![allow(unsafe_code)]

use std::collections::{HashMap, VecDeque};

use super::atomics::combine;
use super::block::Block;
use super::cluster::Place;
use super::copies::PendingCopy;
use super::elements::lanes_of;
use super::mbarrier_word::MAX_BYTES;
use super::tiles::swizzled;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::program::{AddressSpace, Reduction};
use crate::tensor_map::Swizzle;

/// Data that a block's copies may hold on their way, either way.
pub(super) const MAX_HELD_BYTES: usize = 1 << 20;
/// Copies that may be under way to a block.
const MAX_FLIGHTS: usize = 4096;

/// Something under way to a barrier.
#[derive(Debug)]
pub(super) struct Flight {
    /// Offset of the barrier in the block's shared memory.
    pub(super) barrier: u32,
    /// Of the transaction count.
    pub(super) bytes: u32,
    pub(super) effect: Effect,
}

impl Flight {
    fn held_bytes(&self) -> usize {
        match &self.effect {
            Effect::Bytes { data, .. } => data.len(),
            Effect::Copies { copies, .. } => size_of_val(&copies[..]),
        }
    }
}

#[derive(Debug)]
pub(super) enum Effect {
    /// Bytes for the block's shared memory.
    Bytes {
        to: u32,
        data: Box<[u8]>,
        how: Arrival,
    },
    /// A thread's copies; it arrives when they are done.
    Copies {
        thread: u32,
        copies: Vec<PendingCopy>,
    },
}

/// What bytes do where they arrive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arrival {
    Overwrite(Swizzle),
    Update(Reduction),
}

impl Arrival {
    pub(super) fn new(reduction: Option<Reduction>) -> Self {
        reduction.map_or(Self::Overwrite(Swizzle::None), Self::Update)
    }
}

/// In order of issue.
#[derive(Debug, Default)]
pub(super) struct Flights {
    list: VecDeque<Flight>,
    held_bytes: usize,
    /// Number and bytes of those under way to each barrier.
    to: HashMap<u32, (usize, u64)>,
}

impl Flights {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.held_bytes = 0;
        self.to.clear();
    }

    fn enter(&mut self, flight: Flight) {
        self.held_bytes += flight.held_bytes();
        let (count, bytes) = self.to.entry(flight.barrier).or_default();
        *count += 1;
        *bytes += u64::from(flight.bytes);
        self.list.push_back(flight);
    }

    fn bytes_to(&self, barrier: u32) -> u64 {
        self.to.get(&barrier).map_or(0, |&(_, bytes)| bytes)
    }

    /// Takes out all that is under way to a barrier.
    pub(super) fn take(&mut self, barrier: u32) -> Vec<Flight> {
        if self.to.remove(&barrier).is_none() {
            return Vec::new();
        }
        let is_here = |flight: &Flight| flight.barrier == barrier;
        let (taken, rest): (Vec<_>, Vec<_>) = self.list.drain(..).partition(is_here);
        self.list = rest.into();
        self.held_bytes -= taken.iter().map(Flight::held_bytes).sum::<usize>();
        taken
    }

    /// The oldest, if there are more than there may be.
    fn take_surplus(&mut self) -> Option<Flight> {
        if self.list.len() <= MAX_FLIGHTS && self.held_bytes < MAX_HELD_BYTES {
            return None;
        }
        let oldest = self.list.pop_front()?;
        self.held_bytes -= oldest.held_bytes();
        if let Some((count, bytes)) = self.to.get_mut(&oldest.barrier) {
            *count -= 1;
            *bytes -= u64::from(oldest.bytes);
            if *count == 0 {
                self.to.remove(&oldest.barrier);
            }
        }
        Some(oldest)
    }

    /// Takes out the copies of threads, whose arrivals stay.
    pub(super) fn take_copies(&mut self, is_meant: impl Fn(u32) -> bool) -> Vec<PendingCopy> {
        let mut taken = Vec::new();
        for flight in &mut self.list {
            if let Effect::Copies { thread, copies } = &mut flight.effect
                && is_meant(*thread)
            {
                taken.append(copies);
            }
        }
        self.held_bytes -= size_of_val(&taken[..]);
        taken
    }
}

/// Where a load goes: checked, of the running block or of others of its cluster.
pub(super) struct Target {
    place: Place,
    barrier: u32,
    ranks: Vec<usize>,
}

impl Worker<'_> {
    /// Checks where a load goes: to one block, or to all of a multicast's mask.
    pub(super) fn aim(
        &mut self,
        block: &Block,
        lane: u32,
        (space, bytes, align): (AddressSpace, u32, u32),
        (to, barrier, mask): (u64, u64, Option<u32>),
    ) -> Result<Target, Stop> {
        let verb = Verb::Write;
        let place = self.shared_place(block, lane, to, space, (bytes, align), verb)?;
        let signal = self.shared_place(block, lane, barrier, space, (8, 8), Verb::Update)?;
        let own = block.rank as usize;
        let owner = |place: Place| place.peer.unwrap_or(own);
        if owner(place) != owner(signal) {
            let what = "copies into one block's shared memory and tells a barrier of another";
            return Err(Stop::new(FaultKind::OutOfBounds, lane, what.to_owned()));
        }
        let ranks: Vec<usize> = match mask {
            None => vec![owner(place)],
            Some(mask) => lanes_of(mask & 0xffff).collect(),
        };
        let runs = |rank: usize| rank == own || self.peers.get(rank).is_some_and(|p| p.live > 0);
        if let Some(rank) = ranks.iter().find(|&&rank| !runs(rank)) {
            let what = format!(
                "copies into shared memory of block {rank} of its cluster, which does not run"
            );
            return Err(Stop::new(FaultKind::OutOfBounds, lane, what));
        }
        Ok(Target {
            place,
            barrier: signal.offset,
            ranks,
        })
    }

    /// Puts a load under way.
    pub(super) fn send(
        &mut self,
        block: &mut Block,
        lane: u32,
        target: &Target,
        data: &[u8],
        how: Arrival,
    ) -> Result<(), Stop> {
        let bytes = data.len() as u32;
        self.count_shared_bulk(bytes);
        for &rank in &target.ranks {
            self.charge(data.len());
            let flight = Flight {
                barrier: target.barrier,
                bytes,
                effect: Effect::Bytes {
                    to: target.place.offset,
                    data: data.into(),
                    how,
                },
            };
            if rank == block.rank as usize {
                self.put_under_way(block, lane, flight)?;
                continue;
            }
            let mut peer = std::mem::take(&mut self.peers[rank]);
            let outcome = self.put_under_way(&mut peer, lane, flight);
            self.peers[rank] = peer;
            outcome?;
        }
        Ok(())
    }

    pub(super) fn put_under_way(
        &mut self,
        block: &mut Block,
        lane: u32,
        flight: Flight,
    ) -> Result<(), Stop> {
        let bytes = block.in_flight.bytes_to(flight.barrier) + u64::from(flight.bytes);
        if bytes > u64::from(MAX_BYTES) {
            let what = format!(
                "has {bytes} bytes under way to the mbarrier at offset {} of shared memory; \
                 {MAX_BYTES} is the most",
                flight.barrier
            );
            return Err(Stop::new(FaultKind::BarrierDivergence, lane, what));
        }
        block.in_flight.enter(flight);
        block.progressed = true;
        while let Some(oldest) = block.in_flight.take_surplus() {
            self.land(block, lane, oldest)?;
        }
        Ok(())
    }

    /// Does what was under way to the block and tells its barrier.
    pub(super) fn land(
        &mut self,
        block: &mut Block,
        lane: u32,
        flight: Flight,
    ) -> Result<(), Stop> {
        let place = Place {
            peer: None,
            offset: flight.barrier,
        };
        let arrives = matches!(flight.effect, Effect::Copies { .. });
        self.apply(block, flight.effect);
        self.update_barrier(block, lane, place, "completes a copy at", |barrier| {
            if arrives {
                barrier.arrive(1)
            } else {
                barrier.expect(-i64::from(flight.bytes))
            }
        })?;
        Ok(())
    }

    fn apply(&mut self, block: &mut Block, effect: Effect) {
        match effect {
            Effect::Bytes { to, data, how } => {
                let start = Place {
                    peer: None,
                    offset: 0,
                };
                let base = self.shared_pointer(block, start);
                // SAFETY: the range was checked when the copy was issued.
                unsafe {
                    match how {
                        Arrival::Update(reduction) => {
                            update_elements(base.add(to as usize), &data, reduction);
                        }
                        Arrival::Overwrite(swizzle) => write_swizzled(base, to, swizzle, &data),
                    }
                }
            }
            Effect::Copies { copies, .. } => self.land_copies(block, &copies),
        }
    }
}

/// # Safety
/// `base` must begin shared memory that holds the bytes, in whole rows of the swizzle's pattern.
unsafe fn write_swizzled(base: *mut u8, to: u32, swizzle: Swizzle, data: &[u8]) {
    for (at, chunk) in data.chunks(16).enumerate() {
        let offset = swizzled(swizzle, to + 16 * at as u32);
        // SAFETY: the caller's promise.
        unsafe {
            let pointer = base.add(offset as usize);
            std::ptr::copy_nonoverlapping(chunk.as_ptr(), pointer, chunk.len());
        }
    }
}

/// # Safety
/// `pointer` must lead to as many bytes as `operands` has, aligned to the elements, that nobody
/// else touches meanwhile.
pub(super) unsafe fn update_elements(pointer: *mut u8, operands: &[u8], reduction: Reduction) {
    let width = reduction.bytes as usize;
    for (at, operand) in operands.chunks_exact(width).enumerate() {
        let mut words = [[0; 8]; 2];
        words[1][..width].copy_from_slice(operand);
        // SAFETY: the caller's promise.
        unsafe {
            let element = pointer.add(at * width);
            std::ptr::copy_nonoverlapping(element, words[0].as_mut_ptr(), width);
            let [old, operand] = words.map(u64::from_le_bytes);
            let new = combine(reduction.op, reduction.kind, width, old, operand).to_le_bytes();
            std::ptr::copy_nonoverlapping(new.as_ptr(), element, width);
        }
    }
}
