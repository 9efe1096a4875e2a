//! Which part executes which asynchronous instruction, and the heap of device code.
#![allow(unsafe_code)]

use std::sync::{MutexGuard, PoisonError};

use super::block::Block;
use super::elements::lanes_of;
use super::mbarrier::wait_cost;
use super::reconverge::Warp;
use super::step::Here;
use super::worker::{Stop, Worker};
use crate::fault::FaultKind;
use crate::heap::{Heap, NotFreed};
use crate::memory::Region;
use crate::program::{AsyncKind, AsyncOp};

impl Worker<'_> {
    /// Whether the split has left its place.
    pub(super) fn asynchronous(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        what: &AsyncOp,
        here: &Here,
        budget: &mut i64,
    ) -> Result<bool, Stop> {
        let mask = here.mask;
        *budget -= wait_cost(&what.kind);
        match what.kind {
            AsyncKind::Barrier { op, space } => {
                // One word, whose lanes come one after another.
                self.counters.shared_requests += 1;
                self.counters.shared_wavefronts += u64::from(mask.count_ones());
                self.observe_barrier(block, warp, here, (op, space), what)?;
                return self.mbarrier(block, warp, (op, space), what, here);
            }
            AsyncKind::Copy { bytes, ignores } => {
                self.copy_async(block, warp, (bytes, ignores), what, here)?;
            }
            AsyncKind::CommitCopies => warp.copies.groups.commit(mask),
            AsyncKind::WaitCopies { keep } => {
                let line = self.line_of(warp, &here.split);
                self.wait_copies(block, warp, keep, (mask, line))?;
            }
            AsyncKind::CopiesArrive { space, counted } => {
                self.copies_arrive(block, warp, (space, counted), what, here)?;
            }
            AsyncKind::BulkLoad {
                to,
                from,
                multicast,
                reduce,
            } => self.bulk_load(block, (to, from, reduce), multicast, what, here)?,
            AsyncKind::BulkStore { reduce } => {
                self.bulk_store(block, warp, reduce, what, here)?;
            }
            AsyncKind::CommitBulk => warp.bulk.groups.commit(mask),
            AsyncKind::WaitBulk { keep, read } => {
                self.wait_bulk(block, warp, Some(keep), read, mask)?;
            }
            AsyncKind::TensorLoad {
                to,
                rank,
                multicast,
            } => self.tensor_load(block, (to, rank, multicast), what, here)?,
            AsyncKind::TensorStore { rank, reduce } => {
                self.tensor_store(block, warp, (rank, reduce), what, here)?;
            }
            AsyncKind::Store { bytes } => {
                self.send_elements(block, (bytes, None), what, here)?;
            }
            AsyncKind::Reduce { reduction } => {
                self.send_elements(block, (reduction.bytes, Some(reduction)), what, here)?;
            }
            AsyncKind::ClusterArrive => self.cluster_arrive(block, warp, mask)?,
            AsyncKind::ClusterWait => return self.cluster_wait(warp, here),
            AsyncKind::Allocate { bytes, result } => self.allocate(warp, (bytes, result), here),
            AsyncKind::Free { pointer } => self.free(warp, pointer, here)?,
        }
        Ok(false)
    }

    pub(super) fn heap(&self) -> MutexGuard<'_, Heap> {
        // A worker that panicked ends the launch; what it left of the heap is sound.
        let heap = self.context.heap.lock();
        heap.unwrap_or_else(PoisonError::into_inner)
    }

    fn allocate(&mut self, warp: &mut Warp, (bytes, result): (u32, u32), here: &Here) {
        for lane in lanes_of(here.mask) {
            let base = here.bounds.base;
            let size = warp.local.read(lane, base + bytes, 8);
            let address = self.heap().allocate(size);
            if address != 0 {
                self.charge(size as usize);
            }
            warp.local.write(lane, base + result, 8, address);
        }
    }

    fn free(&mut self, warp: &mut Warp, pointer: u32, here: &Here) -> Result<(), Stop> {
        // It may have been the allocation that the last access met.
        self.region = Region::NONE;
        for lane in lanes_of(here.mask) {
            let address = warp.local.read(lane, here.bounds.base + pointer, 8);
            let freed = self.heap().free(address);
            let Err(why) = freed else { continue };
            let (kind, what) = match why {
                NotFreed::Again => (FaultKind::UseAfterFree, "which was freed before"),
                NotFreed::Unknown => (FaultKind::OutOfBounds, "which malloc did not give"),
            };
            let what = format!("frees {address:#x}, {what}");
            let mut stop = Stop::new(kind, lane as u32, what);
            stop.address = Some(address);
            return Err(stop);
        }
        Ok(())
    }
}
