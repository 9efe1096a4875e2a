//! Seeded orders: which block begins next, which warp runs next, and for how long.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, 2014): a counter that grows by a constant,
//! mixed. Blocks are drawn from those whose number is less than `window` above the lowest that has
//! not ended, so that a block which waits for an earlier one gets what it waits for.

/// SplitMix64.
#[derive(Debug, Clone)]
pub(super) struct Generator(u64);

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// The blocks, or clusters of blocks, that have not begun.
#[derive(Debug)]
pub(super) struct Queue {
    total: u64,
    /// First block that was not offered yet.
    next: u64,
    /// Offered and not begun.
    waiting: Vec<u64>,
    /// Begun and not ended.
    running: Vec<u64>,
    window: u64,
    is_seeded: bool,
}

impl Queue {
    pub(super) fn new(total: u64, window: usize, is_seeded: bool) -> Self {
        Self {
            total,
            next: 0,
            waiting: Vec::new(),
            running: Vec::new(),
            window: window.max(1) as u64,
            is_seeded,
        }
    }

    /// The block to begin with next.
    pub(super) fn begin(&mut self, generator: Option<&mut Generator>) -> Option<u64> {
        let Some(generator) = generator.filter(|_| self.is_seeded) else {
            let block = self.next;
            self.next += 1;
            return (block < self.total).then_some(block);
        };
        let lowest = self.waiting.iter().chain(&self.running).min();
        let limit = lowest.copied().unwrap_or(self.next) + self.window;
        while self.next < self.total.min(limit) {
            self.waiting.push(self.next);
            self.next += 1;
        }
        if self.waiting.is_empty() {
            return None;
        }
        let drawn = generator.below(self.waiting.len());
        let block = self.waiting.swap_remove(drawn);
        self.running.push(block);
        Some(block)
    }

    pub(super) fn end(&mut self, block: u64) {
        self.running.retain(|&running| running != block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference implementation for the seed 1234567.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut generator = Generator::new(1_234_567);
        assert_eq!(generator.next(), 6_457_827_717_110_365_317);
        assert_eq!(generator.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_block_begins_once_and_none_far_ahead() {
        let mut generator = Generator::new(7);
        let mut blocks = Queue::new(100, 8, true);
        let mut begun = Vec::new();
        while let Some(block) = blocks.begin(Some(&mut generator)) {
            let lowest = (0..100).find(|at| !begun.contains(at)).unwrap_or(100);
            assert!(block < lowest + 8, "{block} before {lowest}");
            begun.push(block);
            blocks.end(block);
        }
        assert_ne!(begun, (0..100).collect::<Vec<_>>());
        begun.sort_unstable();
        assert_eq!(begun, (0..100).collect::<Vec<_>>());
    }
}
