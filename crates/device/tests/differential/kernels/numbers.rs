//! Arguments' numbers: their bytes, and chance that falls alike everywhere.

use half::{bf16, f16};

use super::super::forms::Class;

/// What arrays and results hold.
pub trait Number: Copy {
    const CLASS: Class;
    fn bytes(self) -> Vec<u8>;

    /// The same as a word.
    fn bits(self) -> u64 {
        let bytes = self.bytes();
        bytes
            .iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }
}

macro_rules! numbers {
    ($($ty:ty => $class:ident),+) => {
        $(impl Number for $ty {
            const CLASS: Class = Class::$class;
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        })+
    };
}

// Bytes are never results, so that they need no class of their own.
numbers! {
    u8 => B16, i8 => B16, i16 => B16, u16 => B16, u32 => B32, i32 => B32, u64 => B64, i64 => B64,
    f16 => F16, bf16 => Bf16, f32 => F32, f64 => F64
}

/// SplitMix64.
pub struct Chance(pub u64);

impl Chance {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| (self.word() >> 32) as u32).collect()
    }

    /// Whole numbers from `low` to `high`, both included.
    pub fn integers(&mut self, count: usize, low: i32, high: i32) -> Vec<i32> {
        let span = (high - low + 1) as u64;
        (0..count)
            .map(|_| low + ((self.word() >> 16) % span) as i32)
            .collect()
    }

    /// Whole numbers as floats: their sums and products are exact while they are small.
    pub fn whole_floats(&mut self, count: usize, low: i32, high: i32) -> Vec<f32> {
        let integers = self.integers(count, low, high);
        integers.into_iter().map(|n| n as f32).collect()
    }

    /// Evenly between two numbers.
    pub fn floats(&mut self, count: usize, low: f32, high: f32) -> Vec<f32> {
        let unit = |word: u64| (word >> 40) as f32 / (1 << 24) as f32;
        (0..count)
            .map(|_| low + unit(self.word()) * (high - low))
            .collect()
    }
}
