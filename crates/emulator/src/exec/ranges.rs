//! Ranges of global memory: checked as one, read and written byte by byte, counted by their sectors.
#![allow(unsafe_code)]

use super::violations::Verb;
use super::worker::{Stop, Worker};
use crate::memory::Region;

/// Bytes whose copy costs as much as an instruction.
const WORK_BYTES: u64 = 128;

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
    pub(super) unsafe fn write_bytes(&self, pointer: *mut u8, data: &[u8]) {
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

    pub(super) fn count_shared_bulk(&mut self, bytes: u32) {
        self.counters.shared_requests += 1;
        self.counters.shared_wavefronts += u64::from(bytes.div_ceil(128));
    }

    /// What bytes that are moved at once cost beyond their instruction.
    pub(super) fn charge(&mut self, bytes: usize) {
        self.work += bytes as u64 / WORK_BYTES;
    }
}
