//! f16 and bf16 arithmetic, each result rounded once from the exact value.
//!
//! Operands widen to f64, where products are exact and sums are rounded to odd, and narrow again
//! by way of an f32 that is rounded to odd as well.

use super::single::odd_sum;

/// A 16-bit format.
pub(crate) trait Half: Copy {
    const NAN: u16;
    const ONE: u16;
    fn widen(bits: u16) -> f32;
    /// To nearest, ties to even.
    fn narrow(value: f32) -> u16;
    fn is_nan(bits: u16) -> bool;
}

#[derive(Clone, Copy)]
pub(crate) struct F16;
#[derive(Clone, Copy)]
pub(crate) struct Bf16;

impl Half for F16 {
    const NAN: u16 = 0x7fff;
    const ONE: u16 = 0x3c00;

    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        // Scaling by 2^112 makes subnormals exact; infinity and NaN get the exponent by hand.
        let magnitude = u32::from(bits & 0x7fff) << 13;
        let sign = u32::from(bits & 0x8000) << 16;
        let scaled = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000);
        let special = magnitude >= 0x7c00 << 13;
        let value = if special {
            magnitude | 0x7f80_0000
        } else {
            scaled.to_bits()
        };
        f32::from_bits(value | sign)
    }

    #[inline(always)]
    fn narrow(value: f32) -> u16 {
        let bits = value.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        let normal = {
            let odd = magnitude >> 13 & 1;
            (magnitude.wrapping_add(0xfff + odd) >> 13).wrapping_sub(112 << 10)
        };
        // Below 2^-14: adding a half lets the host round at 2^-24.
        let small = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(0x3f00_0000);
        let result = if magnitude > 0x7f80_0000 {
            return Self::NAN;
        } else if magnitude >= 0x477f_f000 {
            0x7c00
        } else if magnitude < 0x3880_0000 {
            small
        } else {
            normal
        };
        sign | result as u16
    }

    #[inline(always)]
    fn is_nan(bits: u16) -> bool {
        bits & 0x7fff > 0x7c00
    }
}

impl Half for Bf16 {
    const NAN: u16 = 0x7fff;
    const ONE: u16 = 0x3f80;

    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }

    #[inline(always)]
    fn narrow(value: f32) -> u16 {
        let bits = value.to_bits();
        if value.is_nan() {
            return Self::NAN;
        }
        (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
    }

    #[inline(always)]
    fn is_nan(bits: u16) -> bool {
        bits & 0x7fff > 0x7f80
    }
}

/// A double to a 16-bit format, to nearest, rounded once.
#[inline(always)]
pub(crate) fn narrow_double<H: Half>(value: f64) -> u16 {
    H::narrow(single_to_odd(value))
}

/// A double to f32, inexact values to the odd neighbour.
#[inline(always)]
fn single_to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    if back == value || value.is_nan() || bits & 1 == 1 {
        return near;
    }
    let inward = back.abs() > value.abs();
    f32::from_bits(if inward {
        bits.wrapping_sub(1)
    } else {
        bits.wrapping_add(1)
    })
}

#[inline(always)]
pub(crate) fn add<H: Half>(a: u16, b: u16) -> u16 {
    narrow_double::<H>(odd_sum(f64::from(H::widen(a)), f64::from(H::widen(b))))
}

#[inline(always)]
pub(crate) fn subtract<H: Half>(a: u16, b: u16) -> u16 {
    narrow_double::<H>(odd_sum(f64::from(H::widen(a)), -f64::from(H::widen(b))))
}

#[inline(always)]
pub(crate) fn multiply<H: Half>(a: u16, b: u16) -> u16 {
    narrow_double::<H>(f64::from(H::widen(a)) * f64::from(H::widen(b)))
}

#[inline(always)]
pub(crate) fn fma<H: Half>(a: u16, b: u16, c: u16) -> u16 {
    let product = f64::from(H::widen(a)) * f64::from(H::widen(b));
    narrow_double::<H>(odd_sum(product, f64::from(H::widen(c))))
}

/// A magnitude under the sign of `sign`; a NaN becomes the format's own.
#[inline(always)]
pub(crate) fn signed<H: Half>(magnitude: u16, sign: u16) -> u16 {
    if H::is_nan(magnitude) {
        H::NAN
    } else {
        magnitude & 0x7fff | sign & 0x8000
    }
}

/// Clamps to [0, 1]; NaN becomes 0.
#[inline(always)]
pub(crate) fn saturate<H: Half>(bits: u16) -> u16 {
    let value = H::widen(bits);
    if value > 0.0 {
        if value >= 1.0 { H::ONE } else { bits }
    } else {
        0
    }
}

/// A subnormal f16 becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 {
        bits & 0x8000
    } else {
        bits
    }
}

/// Negative results become +0; NaN is kept canonical.
#[inline(always)]
pub(crate) fn relu<H: Half>(bits: u16) -> u16 {
    if H::is_nan(bits) {
        H::NAN
    } else if bits & 0x8000 != 0 {
        0
    } else {
        bits
    }
}

#[inline(always)]
pub(crate) fn choose<H: Half, const LEAST: bool, const NAN_WINS: bool>(a: u16, b: u16) -> u16 {
    let (x, y) = (H::widen(a), H::widen(b));
    match (H::is_nan(a), H::is_nan(b)) {
        (true, true) => return H::NAN,
        (true, false) => return if NAN_WINS { H::NAN } else { b },
        (false, true) => return if NAN_WINS { H::NAN } else { a },
        (false, false) => {}
    }
    if x == y {
        return if x == 0.0 {
            if LEAST { a | b } else { a & b }
        } else {
            a
        };
    }
    if (x < y) == LEAST { a } else { b }
}

/// Applies a scalar function to both halves of a packed pair.
#[inline(always)]
pub(crate) fn pair1(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f(a as u16)) | u32::from(f((a >> 16) as u16)) << 16
}

/// As [`pair1`], of two operands.
#[inline(always)]
pub(crate) fn pair2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// As [`pair1`], of three operands.
#[inline(always)]
pub(crate) fn pair3(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16, c as u16))
        | u32::from(f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16
}

#[cfg(test)]
mod tests {
    use super::super::{Rounding, exact};
    use super::*;
    use proptest::prelude::*;

    fn check<H: Half>(a: u16, b: u16, c: u16, format: exact::Format) -> Result<(), TestCaseError> {
        let (x, y, z) = (u64::from(a), u64::from(b), u64::from(c));
        let near = Rounding::Nearest;
        prop_assert_eq!(u64::from(add::<H>(a, b)), exact::add(x, y, format, near));
        prop_assert_eq!(
            u64::from(multiply::<H>(a, b)),
            exact::multiply(x, y, format, near)
        );
        prop_assert_eq!(
            u64::from(fma::<H>(a, b, c)),
            exact::fma(x, y, z, format, near)
        );
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40_000))]

        #[test]
        fn f16_agrees_with_the_exact_reference(a: u16, b: u16, c: u16) {
            check::<F16>(a, b, c, exact::F16)?;
        }

        #[test]
        fn bf16_agrees_with_the_exact_reference(a: u16, b: u16, c: u16) {
            check::<Bf16>(a, b, c, exact::BF16)?;
        }

        #[test]
        fn narrowing_agrees_with_the_exact_reference(a: u32, wide: u64) {
            let near = Rounding::Nearest;
            let (single, double) = (f32::from_bits(a), f64::from_bits(wide));
            let bits = u64::from(a);
            prop_assert_eq!(u64::from(F16::narrow(single)), exact::convert(bits, exact::F32, exact::F16, near));
            prop_assert_eq!(u64::from(Bf16::narrow(single)), exact::convert(bits, exact::F32, exact::BF16, near));
            prop_assert_eq!(u64::from(narrow_double::<F16>(double)), exact::convert(wide, exact::F64, exact::F16, near));
            prop_assert_eq!(u64::from(narrow_double::<Bf16>(double)), exact::convert(wide, exact::F64, exact::BF16, near));
        }
    }

    #[test]
    fn every_f16_survives_a_round_trip() {
        for bits in 0..=u16::MAX {
            let expected = if F16::is_nan(bits) { F16::NAN } else { bits };
            assert_eq!(F16::narrow(F16::widen(bits)), expected);
            assert_eq!(half::f16::from_bits(bits).is_nan(), F16::is_nan(bits));
            if !F16::is_nan(bits) {
                assert_eq!(half::f16::from_bits(bits).to_f32(), F16::widen(bits));
            }
        }
    }

    /// Doubles close to the boundaries between neighbouring f16 values, where double rounding errs.
    #[test]
    fn doubles_just_beside_a_tie_round_once() {
        let tie = 1.0 + 2f64.powi(-11);
        assert_eq!(narrow_double::<F16>(tie), 0x3c00);
        assert_eq!(narrow_double::<F16>(tie.next_up()), 0x3c01);
        assert_eq!(narrow_double::<F16>(tie.next_down()), 0x3c00);
    }
}
