//! The heap of device code: `malloc` and `free` in kernels.
//!
//! It lives as long as its [`crate::Memory`], so that one kernel may free what another allocated.
//! Allocations lie in a window of their own, 1 MiB and more apart and never at a used address again.

use std::collections::{BTreeMap, VecDeque};

use crate::memory::{Region, SHARED_BASE};

/// What a device gives its heap unless the host asks for more.
const HEAP_BYTES: u64 = 8 << 20;
/// First address of the window, which ends where shared memory begins.
const HEAP_BASE: u64 = SHARED_BASE >> 1;
const GAP_BYTES: u64 = 1 << 20;
const ALIGN_BYTES: u64 = 16;
/// What a chunk takes of the heap at least.
const LEAST_BYTES: u64 = 64;
/// Freed chunks that are remembered: an access of an earlier one is in no allocation.
const REMEMBERED: usize = 1 << 16;

#[derive(Debug)]
struct Chunk {
    bytes: u64,
    /// Absent once freed.
    words: Option<Box<[u64]>>,
}

#[derive(Debug, Default)]
pub(crate) struct Heap {
    chunks: BTreeMap<u64, Chunk>,
    /// Addresses of those that were freed, the last one last.
    freed: VecDeque<u64>,
    used_bytes: u64,
    /// What the live chunks take.
    taken_bytes: u64,
    /// End of the chunk that was given last, from the window's start.
    end: u64,
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
        let taken = bytes.max(LEAST_BYTES);
        if bytes == 0 || taken > HEAP_BYTES - self.taken_bytes {
            return 0;
        }
        let offset = (self.end + GAP_BYTES).next_multiple_of(ALIGN_BYTES);
        if HEAP_BASE + offset + bytes > SHARED_BASE {
            return 0;
        }
        let address = HEAP_BASE + offset;
        let words = vec![0; bytes.div_ceil(8) as usize].into_boxed_slice();
        let chunk = Chunk {
            bytes,
            words: Some(words),
        };
        self.chunks.insert(address, chunk);
        self.end = offset + bytes;
        self.used_bytes += bytes;
        self.taken_bytes += taken;
        address
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), NotFreed> {
        if address == 0 {
            return Ok(());
        }
        let chunk = self.chunks.get_mut(&address).ok_or(NotFreed::Unknown)?;
        chunk.words.take().ok_or(NotFreed::Again)?;
        self.used_bytes -= chunk.bytes;
        self.taken_bytes -= chunk.bytes.max(LEAST_BYTES);
        self.freed.push_back(address);
        if self.freed.len() > REMEMBERED
            && let Some(oldest) = self.freed.pop_front()
        {
            self.chunks.remove(&oldest);
        }
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

    #[test]
    fn small_chunks_are_limited_in_number() {
        let mut heap = Heap::default();
        let most = HEAP_BYTES / 64;
        assert!((0..most).all(|_| heap.allocate(1) != 0));
        assert_eq!(heap.allocate(1), 0);
        assert_eq!(heap.live(), (most, most));
    }

    #[test]
    fn the_last_freed_chunks_are_remembered() {
        let mut heap = Heap::default();
        let first = heap.allocate(16);
        heap.free(first).unwrap();
        let second = heap.allocate(16);
        assert!(second > first);
        heap.free(second).unwrap();
        for _ in 1..REMEMBERED {
            let address = heap.allocate(16);
            heap.free(address).unwrap();
        }
        assert_eq!(heap.free(first), Err(NotFreed::Unknown));
        assert_eq!(heap.free(second), Err(NotFreed::Again));
        assert_eq!(heap.chunks.len(), REMEMBERED);
    }
}
