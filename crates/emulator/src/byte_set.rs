//! Sets of byte offsets, one bit each: what of an allocation is defined, read or written.

/// Offsets below a fixed length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ByteSet(Vec<u64>);

/// The bits of an aligned element of up to 64 bytes, within its word.
#[inline(always)]
fn element(offset: u64, bytes: u32) -> (usize, u64) {
    let bits = u64::MAX >> (64 - bytes);
    ((offset / 64) as usize, bits << (offset % 64))
}

impl ByteSet {
    /// None of `bytes` offsets.
    pub(crate) fn empty(bytes: u64) -> Self {
        Self(vec![0; bytes.div_ceil(64) as usize])
    }

    /// None of `bytes` offsets, in the storage at hand.
    pub(crate) fn reset(&mut self, bytes: u64) {
        self.0.clear();
        self.0.resize(bytes.div_ceil(64) as usize, 0);
    }

    /// Adds an element of 1 to 64 bytes that is aligned to its size rounded up to a power of two.
    #[inline(always)]
    pub(crate) fn insert_element(&mut self, offset: u64, bytes: u32) {
        let (at, bits) = element(offset, bytes);
        self.0[at] |= bits;
    }

    /// Takes such an element out.
    pub(crate) fn remove_element(&mut self, offset: u64, bytes: u32) {
        let (at, bits) = element(offset, bytes);
        self.0[at] &= !bits;
    }

    /// Whether no byte of such an element is in the set.
    #[inline(always)]
    pub(crate) fn lacks_element(&self, offset: u64, bytes: u32) -> bool {
        let (at, bits) = element(offset, bytes);
        self.0[at] & bits == 0
    }

    /// Whether every byte of such an element is in the set.
    #[inline(always)]
    pub(crate) fn holds_element(&self, offset: u64, bytes: u32) -> bool {
        let (at, bits) = element(offset, bytes);
        self.0[at] & bits == bits
    }

    /// Adds `bytes` offsets from `start`, or takes them out.
    pub(crate) fn set_range(&mut self, start: u64, bytes: u64, present: bool) {
        let end = start + bytes;
        let mut at = start;
        while at < end {
            let next = (at / 64 + 1) * 64;
            let count = next.min(end) - at;
            let bits = u64::MAX >> (64 - count) << (at % 64);
            let word = &mut self.0[(at / 64) as usize];
            *word = if present { *word | bits } else { *word & !bits };
            at += count;
        }
    }

    pub(crate) fn contains(&self, offset: u64) -> bool {
        self.0[(offset / 64) as usize] >> (offset % 64) & 1 != 0
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cross_words() {
        let mut set = ByteSet::empty(200);
        set.set_range(60, 70, true);
        assert_eq!(set.count(), 70);
        assert!(!set.contains(59) && set.contains(60) && set.contains(129) && !set.contains(130));
        set.set_range(64, 64, false);
        assert_eq!(set.count(), 6);
        set.set_range(0, 0, true);
        assert_eq!(set.count(), 6);
    }

    #[test]
    fn elements_are_whole_or_partly_in() {
        let mut set = ByteSet::empty(64);
        set.insert_element(60, 2);
        assert!(!set.lacks_element(60, 4) && !set.holds_element(60, 4));
        set.insert_element(62, 2);
        assert!(set.holds_element(60, 4));
        set.insert_element(0, 64);
        assert_eq!(set.count(), 64);
        set.remove_element(32, 32);
        assert_eq!(set.count(), 32);
    }
}
