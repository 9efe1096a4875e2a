//! A warp's local memory: zero when a block begins, whatever ran before it.

use super::elements::lanes_of;
use crate::lanes::LANES;

/// Words, of all lanes, of which it is known together whether one was written.
const PART_WORDS: usize = 256;
/// Words beyond those in use that are given back.
const SURPLUS_WORDS: usize = 8 << 10;

/// Word `w` of lane `l` is `words[w][l]`.
#[derive(Debug, Default)]
pub(super) struct Local {
    words: Vec<[u32; LANES]>,
    /// Parts that were written since the block began.
    written: Vec<bool>,
}

impl Local {
    /// Makes all of it zero; only what was written has to be.
    pub(super) fn clear(&mut self) {
        for (part, written) in self.words.chunks_mut(PART_WORDS).zip(&mut self.written) {
            if std::mem::take(written) {
                part.fill([0; LANES]);
            }
        }
    }

    pub(super) fn grow(&mut self, bytes: u32) {
        let words = bytes as usize / 4;
        if self.words.is_empty() {
            self.words = vec![[0; LANES]; words];
        } else if self.words.len() < words {
            self.words.resize(words, [0; LANES]);
        }
        self.written
            .resize(self.words.len().div_ceil(PART_WORDS), false);
    }

    /// Whether there is much more than these bytes.
    pub(super) fn exceeds(&self, bytes: u32) -> bool {
        self.words.len() > bytes as usize / 4 + SURPLUS_WORDS
    }

    pub(super) fn shrink(&mut self, bytes: u32) {
        self.words.truncate(bytes as usize / 4);
        self.words.shrink_to_fit();
        self.written.truncate(self.words.len().div_ceil(PART_WORDS));
    }

    /// An element of up to 8 bytes, aligned to its size.
    pub(super) fn read(&self, lane: usize, address: u32, bytes: u32) -> u64 {
        let row = address as usize / 4;
        if bytes == 8 {
            let [low, high] = [self.words[row][lane], self.words[row + 1][lane]];
            return u64::from(low) | u64::from(high) << 32;
        }
        let word = self.words[row][lane] >> (8 * (address % 4));
        u64::from(match bytes {
            1 => word & 0xff,
            2 => word & 0xffff,
            _ => word,
        })
    }

    /// As [`Local::read`], the other way.
    pub(super) fn write(&mut self, lane: usize, address: u32, bytes: u32, value: u64) {
        let row = address as usize / 4;
        self.written[row / PART_WORDS] = true;
        if bytes == 8 {
            // Aligned to 8 bytes, so in the same part.
            self.words[row][lane] = value as u32;
            self.words[row + 1][lane] = (value >> 32) as u32;
            return;
        }
        let shift = 8 * (address % 4);
        let mask = match bytes {
            1 => 0xff,
            2 => 0xffff,
            _ => u32::MAX,
        };
        let word = &mut self.words[row][lane];
        *word = *word & !(mask << shift) | (value as u32 & mask) << shift;
    }

    /// Copies whole words, in the lanes of a mask: from, to and size in bytes of each move.
    pub(super) fn copy(&mut self, moves: &[(u32, u32, u32)], mask: u32) {
        for &(from, to, bytes) in moves {
            for word in 0..bytes.div_ceil(4) as usize {
                let target = to as usize / 4 + word;
                let source = self.words[from as usize / 4 + word];
                self.written[target / PART_WORDS] = true;
                lanes_of(mask).for_each(|lane| self.words[target][lane] = source[lane]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_lanes_interleave() {
        let mut local = Local::default();
        local.grow(16);
        local.write(3, 8, 8, 0x1122_3344_5566_7788);
        local.write(3, 9, 1, 0xaa);
        assert_eq!(local.read(3, 8, 8), 0x1122_3344_5566_aa88);
        assert_eq!(local.read(3, 12, 2), 0x3344);
        assert_eq!(local.read(4, 8, 8), 0);
    }

    #[test]
    fn what_was_written_anywhere_is_cleared() {
        let mut local = Local::default();
        local.grow(1 << 16);
        let addresses = [0, 1020, 1024, (1 << 16) - 4];
        addresses.iter().for_each(|&at| local.write(7, at, 4, 9));
        local.copy(&[(0, 4096, 8)], 1 << 7);
        local.clear();
        for at in addresses.into_iter().chain([4096]) {
            assert_eq!(local.read(7, at, 4), 0, "{at}");
        }
    }
}
