//! Between floats and integers.

use super::Rounding;
use super::exact::{self, Exact, Format};

/// A double rounded to an integral value.
#[inline(always)]
pub(crate) fn integral(value: f64, mode: u8) -> f64 {
    match Rounding::from_const(mode) {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// An f32 rounded to an integral value.
#[inline(always)]
pub(crate) fn integral_single(value: f32, mode: u8) -> f32 {
    match Rounding::from_const(mode) {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// What a NaN becomes in an integer of `bits` bits: zero, but the top bit where either side has
/// 64 bits.
#[inline(always)]
pub(crate) fn nan_integer(bits: u32, from_double: bool) -> u64 {
    if from_double || bits == 64 {
        1 << (bits - 1)
    } else {
        0
    }
}

/// A float to an integer of `bits` bits, clamped to its range.
#[inline(always)]
pub(crate) fn to_integer(value: f64, mode: u8, bits: u32, signed: bool, from_double: bool) -> u64 {
    if value.is_nan() {
        return nan_integer(bits, from_double);
    }
    let whole = integral(value, mode);
    let mask = u64::MAX >> (64 - bits);
    if signed {
        let limit = i64::MAX >> (64 - bits);
        (whole as i64).clamp(-limit - 1, limit) as u64 & mask
    } else {
        (whole as u64).min(mask)
    }
}

/// An integer to a float of any format, rounded once.
#[inline(always)]
pub(crate) fn from_integer(value: i128, format: Format, mode: u8) -> u64 {
    exact::round(Exact::integer(value), format, Rounding::from_const(mode))
}

#[cfg(test)]
mod tests {
    use super::super::{DOWN, NEAREST, UP, ZERO};
    use super::*;

    #[test]
    fn out_of_range_clamps_and_nan_follows_the_width() {
        assert_eq!(to_integer(3e9, ZERO, 32, true, false), 0x7fff_ffff);
        assert_eq!(to_integer(-3e9, ZERO, 32, true, false), 0x8000_0000);
        assert_eq!(to_integer(-1.0, ZERO, 32, false, false), 0);
        assert_eq!(to_integer(1e30, ZERO, 64, false, false), u64::MAX);
        assert_eq!(to_integer(f64::NAN, ZERO, 32, true, false), 0);
        assert_eq!(to_integer(f64::NAN, ZERO, 64, true, false), 1 << 63);
        assert_eq!(to_integer(f64::NAN, ZERO, 32, true, true), 1 << 31);
        assert_eq!(to_integer(300.0, ZERO, 8, false, false), 255);
    }

    #[test]
    fn modes_of_rounding_to_an_integer() {
        for (mode, expected) in [(NEAREST, 2), (ZERO, 2), (DOWN, 2), (UP, 3)] {
            assert_eq!(to_integer(2.5, mode, 32, true, false), expected);
        }
        assert_eq!(to_integer(3.5, NEAREST, 32, true, false), 4);
    }

    #[test]
    fn large_integers_round_once() {
        let value = (1i128 << 60) + (1 << 36) + 1;
        assert_eq!(
            from_integer(value, exact::F32, NEAREST) as u32,
            (value as f32).to_bits()
        );
        assert_eq!(from_integer(-1, exact::F16, NEAREST), 0xbc00);
    }
}
