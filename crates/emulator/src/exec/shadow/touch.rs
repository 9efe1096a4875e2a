//! Who touched a word last: what a race check compares an access with.
//!
//! A cell stands for four aligned bytes and keeps the last write and the last reads of two warps. An
//! entry remembers which of the four bytes it touched, so that neighbours in one word are not taken
//! for rivals. What a cell forgets can only hide a race, never make one up.

use std::collections::HashMap;

/// Accesses of one warp to one word, all with the same stamp and source line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Touch {
    /// Number of the block, truncated.
    pub(super) block: u32,
    /// The launch's clock at that time; 0 for no access.
    pub(super) stamp: u32,
    pub(super) lanes: u32,
    /// Source line; 0 when unknown.
    pub(super) line: u16,
    pub(super) warp: u8,
    /// A bit for each byte of the word, and [`Touch::STRONG`].
    pub(super) flags: u8,
}

impl Touch {
    pub(super) const BYTES: u8 = 0xf;
    /// Atomic, volatile or ordered.
    pub(super) const STRONG: u8 = 0x10;

    fn is_same_warp(&self, other: &Self) -> bool {
        self.block == other.block && self.warp == other.warp
    }

    /// Takes another lane of the same access in; otherwise the newer one replaces this.
    fn merge(&mut self, newer: &Self) {
        let lanes = self.lanes;
        let is_same = Self { lanes, ..*newer } == *self;
        *self = *newer;
        if is_same {
            self.lanes |= lanes;
        }
    }
}

/// The last write of a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written(pub(super) Touch);

/// The last reads of a word by two warps, the latest first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reads(pub(super) [Touch; 2]);

impl Written {
    pub(super) fn record(&mut self, touch: &Touch) {
        self.0.merge(touch);
    }
}

impl Reads {
    pub(super) fn record(&mut self, touch: &Touch) {
        let [latest, other] = &mut self.0;
        if latest.stamp != 0 && !latest.is_same_warp(touch) {
            std::mem::swap(latest, other);
            if !latest.is_same_warp(touch) {
                *latest = Touch::default();
            }
        }
        latest.merge(touch);
    }
}

/// Words of a page.
const PAGE_WORDS: usize = 1024;
/// Beyond so many bytes of cells, further words are not watched.
const MOST_CELL_BYTES: usize = 512 << 20;

/// Cells of global memory, made page by page where something is touched.
#[derive(Debug, Default)]
pub(super) struct Pages<Cell> {
    pages: HashMap<(u32, u32), Box<[Cell]>>,
    /// Page of the last access.
    at: Option<((u32, u32), *mut Cell)>,
    bytes: usize,
}

impl<Cell: Copy + Default> Pages<Cell> {
    /// The cell of a word of an allocation, made if it is missing. None beyond the bound.
    #[inline(always)]
    pub(super) fn cell(&mut self, allocation: u32, word: u64) -> Option<&mut Cell> {
        let key = (allocation, (word / PAGE_WORDS as u64) as u32);
        let within = (word % PAGE_WORDS as u64) as usize;
        let first = match self.at {
            Some((known, first)) if known == key => first,
            _ => self.page(key)?,
        };
        // SAFETY: `first` leads to a page's cells, which stay where they are as long as the map
        // holds their box; `self` is borrowed exclusively.
        #[allow(unsafe_code)]
        Some(unsafe { &mut *first.add(within) })
    }

    /// The cell of a word, if its page was made.
    #[inline(always)]
    pub(super) fn known(&mut self, allocation: u32, word: u64) -> Option<&Cell> {
        let key = (allocation, (word / PAGE_WORDS as u64) as u32);
        let is_at_hand = self.at.is_some_and(|(known, _)| known == key);
        if !is_at_hand && !self.pages.contains_key(&key) {
            return None;
        }
        self.cell(allocation, word).map(|cell| &*cell)
    }

    fn page(&mut self, key: (u32, u32)) -> Option<*mut Cell> {
        let bytes = PAGE_WORDS * size_of::<Cell>();
        if !self.pages.contains_key(&key) {
            if self.bytes + bytes > MOST_CELL_BYTES {
                return None;
            }
            self.bytes += bytes;
            let page = vec![Cell::default(); PAGE_WORDS].into_boxed_slice();
            self.pages.insert(key, page);
        }
        let first = self.pages.get_mut(&key)?.as_mut_ptr();
        self.at = Some((key, first));
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(warp: u8, lanes: u32, flags: u8) -> Touch {
        Touch {
            block: 0,
            stamp: 1,
            lanes,
            line: 3,
            warp,
            flags,
        }
    }

    #[test]
    fn reads_of_two_warps_are_kept() {
        let mut reads = Reads::default();
        reads.record(&touch(0, 1, 0xf));
        reads.record(&touch(0, 2, 0xf));
        reads.record(&touch(1, 1, 0xf));
        assert_eq!(reads.0, [touch(1, 1, 0xf), touch(0, 3, 0xf)]);
        reads.record(&touch(0, 4, 0xf));
        assert_eq!(reads.0, [touch(0, 7, 0xf), touch(1, 1, 0xf)]);
        reads.record(&touch(2, 1, 0xf));
        assert_eq!(reads.0, [touch(2, 1, 0xf), touch(0, 7, 0xf)]);
    }

    /// Lane 0 with byte 0 and lane 1 with byte 1 must not become two lanes with two bytes.
    #[test]
    fn lanes_at_other_bytes_replace() {
        let mut written = Written::default();
        written.record(&touch(0, 1, 1));
        written.record(&touch(0, 2, 2));
        assert_eq!(written.0, touch(0, 2, 2));
    }
}
