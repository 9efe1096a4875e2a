//! Chance that falls alike every time.

#![allow(clippy::unwrap_used)] // a step that fails fails the test

/// xorshift64*: the same rolls of the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).unwrap() % sides
    }

    pub fn byte(&mut self) -> u8 {
        u8::try_from(self.roll(256)).unwrap()
    }
}
