//! Whether an access can meet an earlier one at the same time.

use super::clocks::{Clocks, Times};
use super::touch::{Reads, Touch, Written};

/// A lane about to access a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Actor<'a> {
    pub(super) clocks: &'a Clocks,
    pub(super) times: &'a Times,
    pub(super) warp: u32,
    pub(super) lane: usize,
    /// Of the word: the bytes accessed, and whether strongly.
    pub(super) flags: u8,
    pub(super) is_shared: bool,
}

/// An earlier access that nothing orders before this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rival {
    pub(super) touch: Touch,
    pub(super) wrote: bool,
}

impl Actor<'_> {
    pub(super) fn rival_write(&self, written: &Written) -> Option<Rival> {
        let wrote = true;
        let touch = written.0;
        self.meets(&touch).then_some(Rival { touch, wrote })
    }

    pub(super) fn rival_read(&self, reads: &Reads) -> Option<Rival> {
        let wrote = false;
        let touch = reads.0.into_iter().find(|touch| self.meets(touch))?;
        Some(Rival { touch, wrote })
    }

    #[inline(always)]
    fn meets(&self, earlier: &Touch) -> bool {
        earlier.stamp != 0
            && earlier.flags & self.flags & Touch::BYTES != 0
            && earlier.flags & self.flags & Touch::STRONG == 0
            // Shared memory's cells may remember a block that had it before.
            && (!self.is_shared || earlier.block == self.clocks.block)
            && !self.clocks.is_after(self.times, self.warp, self.lane, earlier)
    }
}

/// The words of an access and which of their bytes it touches.
pub(super) fn words(offset: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    let first = offset / 4;
    let last = (offset + u64::from(bytes) - 1) / 4;
    let part = if bytes >= 4 {
        Touch::BYTES
    } else {
        ((1u8 << bytes) - 1) << (offset % 4)
    };
    (first..=last).map(move |word| (word, part))
}
