//! The heap of device code: `malloc` and `free` in kernels.
//!
//! It lives as long as its [`crate::Memory`], so that one kernel may free what another allocated.
//! Allocations lie in a window of their own, 1 MiB and more apart and never at a used address again.

use std::collections::BTreeMap;

use crate::memory::{Region, SHARED_BASE};

/// What a device gives its heap unless the host asks for more.
const HEAP_BYTES: u64 = 8 << 20;
/// First address of the window, which ends where shared memory begins.
const HEAP_BASE: u64 = SHARED_BASE >> 1;
const GAP_BYTES: u64 = 1 << 20;
const ALIGN_BYTES: u64 = 16;

#[derive(Debug)]
struct Chunk {
    bytes: u64,
    /// Absent once freed.
    words: Option<Box<[u64]>>,
}

#[derive(Debug, Default)]
pub(crate) struct Heap {
    chunks: BTreeMap<u64, Chunk>,
    used_bytes: u64,
}

/// Why a pointer cannot be freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotFreed {
    /// It is not what `malloc` gave.
    Unknown,
    /// It was freed before.
    Again,
}

impl Heap {
    /// The address of a new chunk, or null if the heap is full.
    pub(crate) fn allocate(&mut self, bytes: u64) -> u64 {
        if bytes == 0 || bytes > HEAP_BYTES - self.used_bytes {
            return 0;
        }
        let last = self.chunks.last_key_value();
        let end = last.map_or(HEAP_BASE, |(start, chunk)| start + chunk.bytes);
        let address = (end + GAP_BYTES).next_multiple_of(ALIGN_BYTES);
        let words = vec![0; bytes.div_ceil(8) as usize].into_boxed_slice();
        let chunk = Chunk {
            bytes,
            words: Some(words),
        };
        self.chunks.insert(address, chunk);
        self.used_bytes += bytes;
        address
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), NotFreed> {
        if address == 0 {
            return Ok(());
        }
        let chunk = self.chunks.get_mut(&address).ok_or(NotFreed::Unknown)?;
        chunk.words.take().ok_or(NotFreed::Again)?;
        self.used_bytes -= chunk.bytes;
        Ok(())
    }

    /// The chunk that an address in the window means, live or not.
    pub(crate) fn find(&mut self, address: u64) -> Option<Region> {
        if !(HEAP_BASE..SHARED_BASE).contains(&address) {
            return None;
        }
        let (&start, chunk) = self.chunks.range_mut(..=address).next_back()?;
        let (bytes, data) = match &mut chunk.words {
            Some(words) => (chunk.bytes, words.as_mut_ptr().cast()),
            None => (0, std::ptr::null_mut()),
        };
        Some(Region {
            address: start,
            bytes,
            data,
            read_only: false,
            freed: chunk.words.is_none(),
        })
    }

    /// Start and size of the chunk that an address means.
    pub(crate) fn describe(&self, address: u64) -> Option<(u64, u64)> {
        if !(HEAP_BASE..SHARED_BASE).contains(&address) {
            return None;
        }
        let (&start, chunk) = self.chunks.range(..=address).next_back()?;
        Some((start, chunk.bytes))
    }

    /// Chunks that are not freed, and their bytes.
    pub(crate) fn live(&self) -> (u64, u64) {
        let live = self.chunks.values().filter(|chunk| chunk.words.is_some());
        (live.count() as u64, self.used_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_bounded_and_remembered() {
        let mut heap = Heap::default();
        let a = heap.allocate(100);
        let b = heap.allocate(HEAP_BYTES - 100);
        assert_eq!((a % 16, b % 16), (0, 0));
        assert_eq!(heap.allocate(1), 0);
        assert_eq!(heap.live(), (2, HEAP_BYTES));
        assert_eq!(heap.free(a), Ok(()));
        assert_eq!(heap.free(a), Err(NotFreed::Again));
        assert_eq!(heap.free(b + 16), Err(NotFreed::Unknown));
        assert!(heap.find(a + 4).is_some_and(|region| region.freed));
        assert_ne!(heap.allocate(100), a);
    }
}
