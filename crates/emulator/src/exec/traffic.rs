//! How much of each allocation a launch moved: what the caches and the atomic units of a device see.
//!
//! A request belongs to the allocation of its first active lane.

use crate::counters::Counters;
use crate::memory::Regions;

const SECTOR_BYTES: u64 = 32;

/// Of one allocation.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    read_sectors: u64,
    written_sectors: u64,
    atomic_passes: u64,
}

/// By the allocations' numbers; the last entry is of the device's heap.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    moved: Vec<Moved>,
    /// Of the last request.
    at: usize,
}

impl Traffic {
    pub(super) fn new(regions: &Regions) -> Self {
        Self {
            moved: vec![Moved::default(); regions.count() + 1],
            at: 0,
        }
    }

    /// A request that moves sectors of the allocation of `address`.
    #[inline(always)]
    pub(super) fn note(&mut self, regions: &Regions, address: u64, sectors: u64, moves: [bool; 2]) {
        let heap = self.moved.len() - 1;
        let number = regions.find_numbered(address);
        self.at = number.map_or(heap, |(number, _)| number as usize);
        let moved = &mut self.moved[self.at];
        let [reads, writes] = moves;
        moved.read_sectors += if reads { sectors } else { 0 };
        moved.written_sectors += if writes { sectors } else { 0 };
    }

    /// The last request was an atomic one that takes so many passes.
    pub(super) fn note_passes(&mut self, passes: u64) {
        self.moved[self.at].atomic_passes += passes;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.moved
            .resize(self.moved.len().max(other.moved.len()), Moved::default());
        for (into, from) in self.moved.iter_mut().zip(&other.moved) {
            into.read_sectors += from.read_sectors;
            into.written_sectors += from.written_sectors;
            into.atomic_passes += from.atomic_passes;
        }
    }

    /// Enters what follows from the sizes of the allocations.
    pub(super) fn count(&self, regions: &Regions, counters: &mut Counters) {
        for (number, moved) in self.moved.iter().enumerate() {
            let bytes = regions.bytes_of(number).unwrap_or(u64::MAX);
            let once = |sectors: u64| (SECTOR_BYTES * sectors).min(bytes);
            counters.first_read_bytes += once(moved.read_sectors);
            counters.first_written_bytes += once(moved.written_sectors);
            let sectors = bytes.div_ceil(SECTOR_BYTES).max(1);
            counters.atomic_passes_per_sector = counters
                .atomic_passes_per_sector
                .max(moved.atomic_passes.div_ceil(sectors));
        }
    }
}
