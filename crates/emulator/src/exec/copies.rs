//! `cp.async`: copies of a few bytes by each thread, in groups.
//!
//! A copy is checked and reads its source when it is issued; what it read lands in shared memory
//! when the thread waits for it, or when a barrier that was told of it is waited for, or when the warp
//! has many more under way.
#![allow(unsafe_code)]

use std::collections::VecDeque;

use super::block::Block;
use super::cluster::Place;
use super::elements::lanes_of;
use super::flights::{Effect, Flight};
use super::groups::Groups;
use super::reconverge::{Warp, lane_value};
use super::step::{Here, holding};
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::lanes::LANES;
use crate::program::{AddressSpace, AsyncOp, Predicate};

/// Copies that a warp may have under way; beyond, the oldest land.
const MAX_PENDING: usize = 4096;
/// What the host may keep of them.
pub(super) const COPIES_BYTES: u64 = (MAX_PENDING * size_of::<PendingCopy>()) as u64;

/// What a thread has copied and not waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingCopy {
    pub(super) lane: u8,
    pub(super) bytes: u8,
    /// Words that hold no value, as the launch's checks see it.
    pub(super) holes: u8,
    /// The thread's group, counted from its start.
    group: u32,
    /// Offset in shared memory.
    pub(super) to: u32,
    data: [u8; 16],
}

/// The copies of a warp's threads.
#[derive(Debug, Default)]
pub(super) struct Copies {
    pending: VecDeque<PendingCopy>,
    pub(super) groups: Groups,
}

impl Copies {
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.groups.clear();
    }

    /// Takes out the copies that have to be done once all but `keep` groups are.
    fn take(&mut self, mask: u32, keep: Option<u32>) -> Vec<PendingCopy> {
        let groups = &self.groups;
        let is_due = |copy: &PendingCopy| groups.is_due(copy.lane as usize, copy.group, mask, keep);
        let (due, rest): (Vec<_>, Vec<_>) = self.pending.drain(..).partition(is_due);
        self.pending = rest.into();
        due
    }
}

impl Worker<'_> {
    pub(super) fn copy_async(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (bytes, ignores): (u32, Option<Predicate>),
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        let ignored = ignores.map_or(0, |by| holding(&here.view, by));
        let each = |at: usize| -> [u64; LANES] {
            // SAFETY: the slots are the program's.
            std::array::from_fn(|lane| unsafe { lane_value(&here.view, what.sources[at], lane) })
        };
        let (to, from) = (each(0).map(|address| address & 0xffff_ffff), each(1));
        let sizes = what.sources.get(2).map(|_| each(2));
        let size = |lane: usize| match sizes {
            _ if ignored >> lane & 1 != 0 => 0,
            Some(sizes) => sizes[lane].min(u64::from(bytes)) as u32,
            None => bytes,
        };
        let whole = lanes_of(here.mask)
            .filter(|&lane| size(lane) == bytes)
            .fold(0, |all, lane| all | 1 << lane);
        let holes = self.observe_copy(block, warp, here, what, (bytes, &to, &from, whole))?;
        let (space, verb, bounds) = (AddressSpace::Shared, Verb::Write, here.bounds);
        self.resolve(block, space, here.mask, &to, bytes, verb, bounds)?;
        if whole != 0 {
            let (space, verb) = (AddressSpace::Global, Verb::Read);
            self.resolve(block, space, whole, &from, bytes, verb, bounds)?;
        }
        for lane in lanes_of(here.mask) {
            let mut data = [0; 16];
            let size = size(lane);
            if size != 0 {
                let range = (from[lane], size, bytes);
                let pointer = self.global_range(lane as u32, range, Verb::Read)?;
                // SAFETY: the range is checked.
                unsafe { self.read_bytes(pointer, &mut data[..size as usize]) };
            }
            warp.copies.pending.push_back(PendingCopy {
                lane: lane as u8,
                bytes: bytes as u8,
                holes: holes[lane],
                group: warp.copies.groups.current(lane),
                to: to[lane] as u32,
                data,
            });
        }
        let surplus = warp.copies.pending.len().saturating_sub(MAX_PENDING);
        let oldest: Vec<PendingCopy> = warp.copies.pending.drain(..surplus).collect();
        self.land_copies(block, &oldest);
        Ok(())
    }

    /// Lands what these threads wait for.
    pub(super) fn wait_copies(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        keep: Option<u32>,
        (mask, line): (u32, u16),
    ) -> Result<(), Stop> {
        // What was told to a barrier has left its group: a wait for any group lands all of it.
        let warp_number = warp.first_thread;
        let is_meant = |thread: u32| {
            let lane = thread.wrapping_sub(warp_number);
            lane < 32 && mask >> lane & 1 != 0
        };
        let mut landing = block.in_flight.take_copies(is_meant);
        landing.extend(warp.copies.take(mask, keep));
        self.observe_landing(block, warp, &landing, line)?;
        self.land_copies(block, &landing);
        Ok(())
    }

    pub(super) fn land_copies(&mut self, block: &mut Block, copies: &[PendingCopy]) {
        for copy in copies {
            let place = Place {
                peer: None,
                offset: copy.to,
            };
            let pointer = self.shared_pointer(block, place);
            // SAFETY: the range was checked when the copy was issued, and shared memory is this
            // thread's.
            unsafe {
                std::ptr::copy_nonoverlapping(copy.data.as_ptr(), pointer, copy.bytes as usize);
            }
        }
    }

    /// `cp.async.mbarrier.arrive`: each thread arrives once its copies so far are done.
    pub(super) fn copies_arrive(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (space, counted): (AddressSpace, bool),
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            let number = lane as u32;
            // SAFETY: the slot is one of the program's.
            let address = unsafe { lane_value(&here.view, what.sources[0], lane) };
            let place = self.shared_place(block, number, address, space, (8, 8), Verb::Update)?;
            self.update_barrier(block, number, place, "arrives at", |barrier| {
                // Without `.noinc` the arrival comes on top of those that are expected.
                barrier.await_more(u32::from(!counted))
            })?;
            self.charge(warp.copies.pending.len());
            let copies = warp.copies.take(1 << lane, None);
            let flight = Flight {
                barrier: place.offset,
                bytes: 0,
                effect: Effect::Copies {
                    thread: warp.first_thread + number,
                    copies,
                },
            };
            self.put_under_way(block, number, flight)?;
        }
        Ok(())
    }
}
