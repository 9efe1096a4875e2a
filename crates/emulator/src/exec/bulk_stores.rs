//! Bulk copies from shared into global memory.
//!
//! They are checked when they are issued; they read shared memory when the thread waits for that
//! (`wait_group.read`) and write when it waits for the whole, or exits. Once a block has more under way
//! than it can make use of, the oldest are done at once, as they may be on a device too.
#![allow(unsafe_code)]

use std::collections::VecDeque;

use super::block::Block;
use super::bulk::check_size;
use super::cluster::Place;
use super::elements::lanes_of;
use super::flights::{MAX_HELD_BYTES, update_elements};
use super::groups::Groups;
use super::reconverge::{Warp, lane_value};
use super::step::Here;
use super::tiles::swizzled;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::program::{AddressSpace, AsyncOp, Reduction};
use crate::tensor_map::Swizzle;

/// A store under way.
#[derive(Debug)]
pub(super) struct BulkStore {
    lane: u32,
    group: u32,
    /// Where its bytes lie in the block's shared memory.
    from: u32,
    bytes: u32,
    swizzle: Swizzle,
    /// The bytes, once they are read.
    data: Option<Box<[u8]>>,
    /// Offset in the data, address and length of each part.
    rows: Vec<(u32, u64, u32)>,
    reduce: Option<Reduction>,
}

impl BulkStore {
    /// What the host keeps for it, once it is read.
    fn held_bytes(&self) -> usize {
        self.bytes as usize + size_of_val(&self.rows[..]) + size_of::<Self>()
    }
}

/// The bulk stores of a warp's threads.
#[derive(Debug, Default)]
pub(super) struct BulkStores {
    pending: VecDeque<BulkStore>,
    pub(super) groups: Groups,
}

impl BulkStores {
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.groups.clear();
    }
}

impl Worker<'_> {
    /// `cp.async.bulk` into global memory.
    pub(super) fn bulk_store(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        reduce: Option<Reduction>,
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            let number = lane as u32;
            // SAFETY: the slots are the program's.
            let value = |at: usize| unsafe { lane_value(&here.view, what.sources[at], lane) };
            let (to, bytes) = (value(0), value(2) as u32);
            check_size(number, bytes)?;
            self.global_range(number, (to, bytes, 16), Verb::Write)?;
            let rows = vec![(0, to, bytes)];
            let source = (value(1), bytes, 16, Swizzle::None);
            self.send_store(block, warp, number, source, rows, reduce)?;
        }
        Ok(())
    }

    /// Puts a store under way: where its bytes lie, and the rows of global memory that they go to.
    pub(super) fn send_store(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        lane: u32,
        (from, bytes, align, swizzle): (u64, u32, u32, Swizzle),
        rows: Vec<(u32, u64, u32)>,
        reduce: Option<Reduction>,
    ) -> Result<(), Stop> {
        let space = AddressSpace::Shared;
        let place = self.shared_place(block, lane, from, space, (bytes, align), Verb::Read)?;
        let verb = if reduce.is_some() {
            Verb::Update
        } else {
            Verb::Write
        };
        let grain = reduce.map_or(1, |reduction| reduction.bytes);
        for &(_, address, length) in &rows {
            self.global_range(lane, (address, length, grain), verb)?;
            self.count_bulk(address, length, verb);
        }
        self.count_shared_bulk(bytes);
        self.charge(bytes as usize);
        let store = BulkStore {
            lane,
            group: warp.bulk.groups.current(lane as usize),
            from: place.offset,
            bytes,
            swizzle,
            data: None,
            rows,
            reduce,
        };
        block.storing_bytes += store.held_bytes();
        warp.bulk.pending.push_back(store);
        while block.storing_bytes >= MAX_HELD_BYTES
            && let Some(mut oldest) = warp.bulk.pending.pop_front()
        {
            self.read_store(block, &mut oldest);
            self.finish_store(block, &oldest)?;
        }
        Ok(())
    }

    /// Waits until all but `keep` groups of these threads have read, or are done. Without a number
    /// everything is done, committed or not.
    pub(super) fn wait_bulk(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        keep: Option<u32>,
        reads_only: bool,
        mask: u32,
    ) -> Result<(), Stop> {
        if warp.bulk.pending.is_empty() {
            return Ok(());
        }
        let mut rest = VecDeque::new();
        for mut store in std::mem::take(&mut warp.bulk.pending) {
            let lane = store.lane as usize;
            let is_due = warp.bulk.groups.is_due(lane, store.group, mask, keep);
            if is_due {
                self.read_store(block, &mut store);
            }
            if is_due && !reads_only {
                self.finish_store(block, &store)?;
            } else {
                rest.push_back(store);
            }
        }
        warp.bulk.pending = rest;
        Ok(())
    }

    /// Reads what a store takes from shared memory, unless that is done.
    fn read_store(&mut self, block: &mut Block, store: &mut BulkStore) {
        if store.data.is_none() {
            let mut data = vec![0; store.bytes as usize].into_boxed_slice();
            let place = Place {
                peer: None,
                offset: store.from,
            };
            self.read_shared(block, place, store.swizzle, &mut data);
            store.data = Some(data);
        }
    }

    fn finish_store(&mut self, block: &mut Block, store: &BulkStore) -> Result<(), Stop> {
        block.storing_bytes -= store.held_bytes();
        self.write_rows(store)
    }

    fn write_rows(&self, store: &BulkStore) -> Result<(), Stop> {
        let data = store.data.as_deref().unwrap_or_default();
        for &(at, address, length) in &store.rows {
            let part = &data[at as usize..(at + length) as usize];
            let pointer = self.global_range(store.lane, (address, length, 1), Verb::Write)?;
            // SAFETY: the range is checked, and updates of global memory run alone.
            unsafe {
                match store.reduce {
                    Some(reduction) => update_elements(pointer, part, reduction),
                    None => self.write_bytes(pointer, part),
                }
            }
        }
        Ok(())
    }

    pub(super) fn read_shared(
        &mut self,
        block: &mut Block,
        place: Place,
        swizzle: Swizzle,
        out: &mut [u8],
    ) {
        let start = Place { offset: 0, ..place };
        let base = self.shared_pointer(block, start);
        for (at, chunk) in out.chunks_mut(16).enumerate() {
            let offset = swizzled(swizzle, place.offset + 16 * at as u32);
            // SAFETY: the caller checked the range.
            unsafe {
                let pointer = base.add(offset as usize);
                std::ptr::copy_nonoverlapping(pointer, chunk.as_mut_ptr(), chunk.len());
            }
        }
    }
}
