//! Bulk copies between global and shared memory, and between blocks of a cluster.
//!
//! Loads are checked and read when they are issued and land when their barrier is waited for
//! (`exec/mbarrier.rs`). Stores are checked when they are issued; they read shared memory when the
//! thread waits for that (`wait_group.read`) and write when it waits for the whole, or exits.
#![allow(unsafe_code)]

use super::atomics::combine;
use super::block::Block;
use super::cluster::Place;
use super::copies::PendingCopy;
use super::elements::lanes_of;
use super::reconverge::{Warp, lane_value};
use super::step::Here;
use super::tiles::swizzled;
use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::lanes::LANES;
use crate::memory::Region;
use crate::program::{AddressSpace, AsyncOp, Reduction};
use crate::tensor_map::Swizzle;

/// Something under way to a barrier.
#[derive(Debug)]
pub(super) struct Flight {
    /// Offset of the barrier in the block's shared memory.
    pub(super) barrier: u32,
    /// Of the transaction count.
    pub(super) bytes: u32,
    pub(super) effect: Effect,
}

#[derive(Debug)]
pub(super) enum Effect {
    /// Bytes for the block's shared memory.
    Bytes {
        to: u32,
        data: Box<[u8]>,
        swizzle: Swizzle,
    },
    Reduce {
        to: u32,
        data: Box<[u8]>,
        reduction: Reduction,
    },
    /// A thread's copies; it arrives when they are done.
    Copies {
        thread: u32,
        copies: Vec<PendingCopy>,
    },
}

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

/// The bulk stores of a warp's threads.
#[derive(Debug, Default)]
pub(super) struct BulkStores {
    pending: Vec<BulkStore>,
    committed: [u32; LANES],
}

impl BulkStores {
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.committed = [0; LANES];
    }

    pub(super) fn commit(&mut self, mask: u32) {
        for lane in lanes_of(mask) {
            self.committed[lane] += 1;
        }
    }
}

impl Worker<'_> {
    /// A range of global memory within one allocation: address, size, alignment.
    pub(super) fn global_range(
        &self,
        lane: u32,
        (address, size, align): (u64, u32, u32),
        verb: Verb,
    ) -> Result<*mut u8, Stop> {
        let region = self.find_region(address).unwrap_or(Region::NONE);
        let offset = address.wrapping_sub(region.address);
        let inside = u64::from(size) <= region.bytes && offset <= region.bytes - u64::from(size);
        if !inside || verb != Verb::Read && region.read_only {
            return Err(self.global_stop(&region, lane, address, size, verb));
        }
        if !address.is_multiple_of(u64::from(align)) {
            return Err(self.global_stop(&region, lane, address, align, verb));
        }
        Ok(region.data.wrapping_add(offset as usize))
    }

    /// # Safety
    /// The bytes at `pointer` must be of global memory.
    pub(super) unsafe fn read_bytes(&self, pointer: *mut u8, out: &mut [u8]) {
        use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
        // SAFETY: the caller's promise; other host threads may write unless this one is alone.
        unsafe {
            if self.context.alone {
                std::ptr::copy_nonoverlapping(pointer, out.as_mut_ptr(), out.len());
                return;
            }
            for (at, byte) in out.iter_mut().enumerate() {
                *byte = AtomicU8::from_ptr(pointer.add(at)).load(Relaxed);
            }
        }
    }

    /// # Safety
    /// As for [`Worker::read_bytes`].
    unsafe fn write_bytes(&self, pointer: *mut u8, data: &[u8]) {
        use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
        // SAFETY: as in `read_bytes`.
        unsafe {
            if self.context.alone {
                std::ptr::copy_nonoverlapping(data.as_ptr(), pointer, data.len());
                return;
            }
            for (at, &byte) in data.iter().enumerate() {
                AtomicU8::from_ptr(pointer.add(at)).store(byte, Relaxed);
            }
        }
    }

    pub(super) fn count_bulk(&mut self, address: u64, bytes: u32, verb: Verb) {
        let sectors = (address + u64::from(bytes)).div_ceil(32) - address / 32;
        self.count_global(address, sectors, verb);
    }

    fn count_shared_bulk(&mut self, bytes: u32) {
        self.counters.shared_requests += 1;
        self.counters.shared_wavefronts += u64::from(bytes.div_ceil(128));
    }

    /// `cp.async.bulk` into shared memory.
    pub(super) fn bulk_load(
        &mut self,
        block: &mut Block,
        (to, from, reduce): (AddressSpace, AddressSpace, Option<Reduction>),
        multicast: bool,
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            let number = lane as u32;
            // SAFETY: the slots are the program's.
            let value = |at: usize| unsafe { lane_value(&here.view, what.sources[at], lane) };
            let bytes = value(2) as u32;
            check_size(number, bytes)?;
            let mut data = vec![0; bytes as usize].into_boxed_slice();
            if from == AddressSpace::Global {
                let pointer = self.global_range(number, (value(1), bytes, 16), Verb::Read)?;
                // SAFETY: the range is checked.
                unsafe { self.read_bytes(pointer, &mut data) };
                self.count_bulk(value(1), bytes, Verb::Read);
            } else {
                let range = (bytes, 16);
                let place = self.shared_place(block, number, value(1), from, range, Verb::Read)?;
                self.read_shared(block, place, Swizzle::None, &mut data);
                self.count_shared_bulk(bytes);
            }
            let targets = multicast.then(|| value(4) as u32);
            let ends = (value(0), value(3), targets);
            let make = |to: u32| match reduce {
                Some(reduction) => Effect::Reduce {
                    to,
                    data: data.clone(),
                    reduction,
                },
                None => Effect::Bytes {
                    to,
                    data: data.clone(),
                    swizzle: Swizzle::None,
                },
            };
            self.send(block, number, (to, bytes, 16), ends, &make)?;
        }
        Ok(())
    }

    /// Puts a load under way: to one block, or to all of a multicast's mask.
    pub(super) fn send(
        &mut self,
        block: &mut Block,
        lane: u32,
        (space, bytes, align): (AddressSpace, u32, u32),
        (to, barrier, mask): (u64, u64, Option<u32>),
        make: &dyn Fn(u32) -> Effect,
    ) -> Result<(), Stop> {
        let verb = Verb::Write;
        let place = self.shared_place(block, lane, to, space, (bytes, align), verb)?;
        let signal = self.shared_place(block, lane, barrier, space, (8, 8), Verb::Update)?;
        let own = block.rank as usize;
        let owner = |place: Place| place.peer.unwrap_or(own);
        if owner(place) != owner(signal) {
            let what = "copies into one block's shared memory and tells a barrier of another";
            return Err(Stop::new(FaultKind::OutOfBounds, lane, what.to_owned()));
        }
        self.count_shared_bulk(bytes);
        let ranks: Vec<usize> = match mask {
            None => vec![owner(place)],
            Some(mask) => lanes_of(mask & 0xffff).collect(),
        };
        for rank in ranks {
            let target = match self.peers.get(rank) {
                _ if rank == own => &mut *block,
                Some(peer) if peer.live > 0 => &mut self.peers[rank],
                _ => {
                    let what = format!(
                        "copies into shared memory of block {rank} of its cluster, which does not run"
                    );
                    return Err(Stop::new(FaultKind::OutOfBounds, lane, what));
                }
            };
            target.in_flight.push(Flight {
                barrier: signal.offset,
                bytes,
                effect: make(place.offset),
            });
            target.progressed = true;
        }
        Ok(())
    }

    /// Does what was under way to the block.
    pub(super) fn apply(&mut self, block: &mut Block, effect: Effect) {
        match effect {
            Effect::Bytes { to, data, swizzle } => {
                let base = self.own_base(block);
                for (at, chunk) in data.chunks(16).enumerate() {
                    let offset = swizzled(swizzle, to + 16 * at as u32);
                    // SAFETY: the range was checked when the copy was issued.
                    unsafe {
                        let pointer = base.add(offset as usize);
                        std::ptr::copy_nonoverlapping(chunk.as_ptr(), pointer, chunk.len());
                    }
                }
            }
            Effect::Reduce {
                to,
                data,
                reduction,
            } => {
                let pointer = self.own_base(block).wrapping_add(to as usize);
                // SAFETY: the range was checked when the update was issued.
                unsafe { update_elements(pointer, &data, reduction) };
            }
            Effect::Copies { copies, .. } => self.land_copies(block, &copies),
        }
    }

    fn own_base(&mut self, block: &mut Block) -> *mut u8 {
        let place = Place {
            peer: None,
            offset: 0,
        };
        self.shared_pointer(block, place)
    }

    fn read_shared(&mut self, block: &mut Block, place: Place, swizzle: Swizzle, out: &mut [u8]) {
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

    /// `cp.async.bulk` into global memory.
    pub(super) fn bulk_store(
        &mut self,
        block: &Block,
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
        block: &Block,
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
        warp.bulk.pending.push(BulkStore {
            lane,
            group: warp.bulk.committed[lane as usize],
            from: place.offset,
            bytes,
            swizzle,
            data: None,
            rows,
            reduce,
        });
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
        let committed = warp.bulk.committed;
        let mut rest = Vec::new();
        for mut store in std::mem::take(&mut warp.bulk.pending) {
            let groups = committed[store.lane as usize];
            let is_due = mask >> store.lane & 1 != 0
                && keep.is_none_or(|keep| store.group < groups.saturating_sub(keep));
            if !is_due {
                rest.push(store);
                continue;
            }
            if store.data.is_none() {
                let mut data = vec![0; store.bytes as usize].into_boxed_slice();
                let place = Place {
                    peer: None,
                    offset: store.from,
                };
                self.read_shared(block, place, store.swizzle, &mut data);
                store.data = Some(data);
            }
            if reads_only {
                rest.push(store);
            } else {
                self.write_rows(&store)?;
            }
        }
        warp.bulk.pending = rest;
        Ok(())
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

    /// `st.async` and `red.async`: a few elements for another block.
    pub(super) fn send_elements(
        &mut self,
        block: &mut Block,
        (bytes, reduction): (u32, Option<Reduction>),
        what: &AsyncOp,
        here: &Here,
    ) -> Result<(), Stop> {
        for lane in lanes_of(here.mask) {
            // SAFETY: the slots are the program's.
            let value = |slot| unsafe { lane_value(&here.view, slot, lane) };
            let elements = what.sources[2..].iter().map(|&slot| value(slot));
            let data: Box<[u8]> = elements
                .flat_map(|element| element.to_le_bytes().into_iter().take(bytes as usize))
                .collect();
            let make = |to: u32| match reduction {
                Some(reduction) => Effect::Reduce {
                    to,
                    data: data.clone(),
                    reduction,
                },
                None => Effect::Bytes {
                    to,
                    data: data.clone(),
                    swizzle: Swizzle::None,
                },
            };
            let size = data.len() as u32;
            let ends = (value(what.sources[0]), value(what.sources[1]), None);
            let range = (AddressSpace::Cluster, size, size);
            self.send(block, lane as u32, range, ends, &make)?;
        }
        Ok(())
    }
}

fn check_size(lane: u32, bytes: u32) -> Result<(), Stop> {
    if bytes != 0 && bytes.is_multiple_of(16) {
        return Ok(());
    }
    let what = format!("copies {bytes} bytes in bulk; a size is a multiple of 16");
    Err(Stop::new(FaultKind::Misaligned, lane, what))
}

/// # Safety
/// `pointer` must lead to as many bytes as `operands` has, aligned to the elements, that nobody
/// else touches meanwhile.
unsafe fn update_elements(pointer: *mut u8, operands: &[u8], reduction: Reduction) {
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
