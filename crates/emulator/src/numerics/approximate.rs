//! The special-function unit: each result is the double-precision value rounded to f32.
//!
//! The hardware's own results differ from these by its documented error (2^-22 or so); programs
//! must not rely on either. `ex2` and `lg2` use polynomials of our own, so that they vectorise and
//! give the same bits on every host; `sin`, `cos` and `tanh` use the host's double functions.

use super::single::{NAN, finish, flush};

#[inline(always)]
fn input<const FTZ: bool>(bits: u32) -> f32 {
    f32::from_bits(if FTZ { flush(bits) } else { bits })
}

/// 2^x.
#[inline(always)]
pub(crate) fn exp2<const FTZ: bool>(bits: u32) -> u32 {
    let x = f64::from(input::<FTZ>(bits));
    finish::<FTZ, false>(exp2_double(x) as f32)
}

/// 2^x to about 1e-16, for |x| far beyond f32's range clamped.
#[inline(always)]
pub(crate) fn exp2_double(x: f64) -> f64 {
    let x = x.clamp(-1000.0, 1000.0);
    let whole = x.round_ties_even();
    let r = (x - whole) * std::f64::consts::LN_2;
    // e^r on |r| <= ln(2)/2: the Taylor remainder past r^13 is below 1e-17.
    let mut sum = 1.0 / 6_227_020_800.0;
    for coefficient in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * r + coefficient;
    }
    // Adding 1.5 * 2^52 leaves the integer in the low bits, without a conversion.
    let biased = (whole + 6_755_399_441_055_744.0).to_bits();
    let exponent = biased.wrapping_add(1023) << 52;
    sum * f64::from_bits(exponent)
}

/// log2 x.
#[inline(always)]
pub(crate) fn log2<const FTZ: bool>(bits: u32) -> u32 {
    let x = input::<FTZ>(bits);
    let special = if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 || x.is_nan() {
        f32::from_bits(NAN)
    } else {
        x
    };
    let ordinary = x > 0.0 && x.is_finite();
    let value = log2_double(f64::from(x)) as f32;
    finish::<FTZ, false>(if ordinary { value } else { special })
}

/// log2 of a positive normal double, to about 1e-16.
#[inline(always)]
fn log2_double(x: f64) -> f64 {
    let bits = x.to_bits();
    // Split so that the fraction lies in [sqrt(1/2), sqrt(2)).
    let shifted = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let exponent = (shifted as i64 >> 52) as i32;
    let m = f64::from_bits(bits.wrapping_sub((i64::from(exponent) << 52) as u64));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 1.0 / 23.0;
    for divisor in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * z + 1.0 / divisor;
    }
    f64::from(exponent) + 2.0 * s * sum * std::f64::consts::LOG2_E
}

#[inline(always)]
pub(crate) fn reciprocal<const FTZ: bool>(bits: u32) -> u32 {
    finish::<FTZ, false>(1.0 / input::<FTZ>(bits))
}

#[inline(always)]
pub(crate) fn square_root<const FTZ: bool>(bits: u32) -> u32 {
    finish::<FTZ, false>(input::<FTZ>(bits).sqrt())
}

#[inline(always)]
pub(crate) fn reciprocal_square_root<const FTZ: bool>(bits: u32) -> u32 {
    let x = input::<FTZ>(bits);
    let value = if x == 0.0 {
        f32::INFINITY.copysign(x)
    } else {
        (1.0 / f64::from(x).sqrt()) as f32
    };
    finish::<FTZ, false>(value)
}

/// `div.full`: `a / b` over the whole range.
#[inline(always)]
pub(crate) fn full_divide<const FTZ: bool>(a: u32, b: u32) -> u32 {
    finish::<FTZ, false>(input::<FTZ>(a) / input::<FTZ>(b))
}

/// `div.approx`: `a / b`, but 0 for 2^126 < |b| < 2^128.
#[inline(always)]
pub(crate) fn divide<const FTZ: bool>(a: u32, b: u32) -> u32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    if b.is_finite() && b.abs() > f32::from_bits(0x7e80_0000) {
        let nan = !a.is_finite();
        return if nan {
            NAN
        } else {
            finish::<FTZ, false>(0f32.copysign(a) * b.signum())
        };
    }
    finish::<FTZ, false>(a / b)
}

pub(crate) fn sine<const FTZ: bool>(bits: u32) -> u32 {
    finish::<FTZ, false>(f64::from(input::<FTZ>(bits)).sin() as f32)
}

pub(crate) fn cosine<const FTZ: bool>(bits: u32) -> u32 {
    finish::<FTZ, false>(f64::from(input::<FTZ>(bits)).cos() as f32)
}

pub(crate) fn hyperbolic_tangent(bits: u32) -> u32 {
    finish::<false, false>(f64::from(f32::from_bits(bits)).tanh() as f32)
}

/// `rcp.approx.ftz.f64`: the upper word of the quotient's double, the lower one zero.
pub(crate) fn reciprocal_double(bits: u64) -> u64 {
    upper_word(1.0 / flush_double(bits))
}

/// `rsqrt.approx.ftz.f64`, as [`reciprocal_double`].
pub(crate) fn reciprocal_square_root_double(bits: u64) -> u64 {
    let x = flush_double(bits);
    let value = if x == 0.0 {
        f64::INFINITY.copysign(x)
    } else {
        1.0 / x.sqrt()
    };
    upper_word(value)
}

/// `rsqrt.approx.f64`: refined to about the last bit.
pub(crate) fn full_reciprocal_square_root_double(bits: u64) -> u64 {
    super::double::of(bits, |x| {
        if x == 0.0 {
            f64::INFINITY.copysign(x)
        } else {
            1.0 / x.sqrt()
        }
    })
}

fn flush_double(bits: u64) -> f64 {
    let x = f64::from_bits(bits);
    if x.is_subnormal() {
        0f64.copysign(x)
    } else {
        x
    }
}

fn upper_word(value: f64) -> u64 {
    if value.is_nan() {
        return super::exact::F64.nan();
    }
    let value = if value.is_subnormal() {
        0f64.copysign(value)
    } else {
        value
    };
    value.to_bits() & 0xffff_ffff_0000_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn exp2_is_the_rounded_double(x in -150f32..130.0) {
            let expected = f64::from(x).exp2() as f32;
            prop_assert_eq!(f32::from_bits(exp2::<false>(x.to_bits())), expected);
        }

        #[test]
        fn log2_is_the_rounded_double(bits in 1u32..0x7f80_0000) {
            let expected = f64::from(f32::from_bits(bits)).log2() as f32;
            let ours = f32::from_bits(log2::<false>(bits));
            // Ties of the rounding may fall either way: one unit at most.
            prop_assert!((ours.to_bits() as i64 - expected.to_bits() as i64).abs() <= 1, "{ours} {expected}");
        }
    }

    #[test]
    fn ends_of_the_range() {
        let at = |f: fn(u32) -> u32, x: f32| f32::from_bits(f(x.to_bits()));
        assert_eq!(at(exp2::<false>, f32::INFINITY), f32::INFINITY);
        assert_eq!(at(exp2::<false>, f32::NEG_INFINITY), 0.0);
        assert!(at(exp2::<false>, f32::NAN).is_nan());
        assert_eq!(at(exp2::<true>, -149.0), 0.0);
        assert_eq!(at(exp2::<false>, -149.0), f32::from_bits(1));
        assert_eq!(at(log2::<false>, 0.0), f32::NEG_INFINITY);
        assert!(at(log2::<false>, -1.0).is_nan());
        assert_eq!(at(log2::<false>, f32::INFINITY), f32::INFINITY);
        assert_eq!(at(log2::<false>, 8.0), 3.0);
        assert_eq!(at(reciprocal_square_root::<false>, 0.25), 2.0);
        assert_eq!(at(reciprocal_square_root::<false>, -0.0), f32::NEG_INFINITY);
    }
}
