//! f32 arithmetic. Directed rounding goes through a double that is rounded to odd: with at least
//! two spare bits the second rounding is then exact.

use super::{DOWN, NEAREST, UP, ZERO};

/// The NaN that f32 arithmetic produces.
pub(crate) const NAN: u32 = 0x7fff_ffff;

/// Flushes a subnormal to a zero of its sign.
#[inline(always)]
pub(crate) fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

#[inline(always)]
fn input<const FTZ: bool>(bits: u32) -> f32 {
    f32::from_bits(if FTZ { flush(bits) } else { bits })
}

/// Canonical NaN, then flush, then clamp to [0, 1] (NaN becomes 0).
#[inline(always)]
pub(crate) fn finish<const FTZ: bool, const SAT: bool>(value: f32) -> u32 {
    let bits = if value.is_nan() { NAN } else { value.to_bits() };
    let bits = if FTZ { flush(bits) } else { bits };
    if SAT { saturate(bits) } else { bits }
}

#[inline(always)]
pub(crate) fn saturate(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    // Written so that NaN and -0 give +0.
    if value > 0.0 {
        if value >= 1.0 { 1f32.to_bits() } else { bits }
    } else {
        0
    }
}

#[inline(always)]
pub(crate) fn add<const MODE: u8, const FTZ: bool, const SAT: bool>(a: u32, b: u32) -> u32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    if MODE == NEAREST {
        return finish::<FTZ, SAT>(a + b);
    }
    let value = odd_sum(f64::from(a), f64::from(b));
    let value = signed_zero::<MODE>(value, a.is_sign_negative(), b.is_sign_negative());
    finish::<FTZ, SAT>(narrow::<MODE>(value))
}

#[inline(always)]
pub(crate) fn multiply<const MODE: u8, const FTZ: bool, const SAT: bool>(a: u32, b: u32) -> u32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    if MODE == NEAREST {
        return finish::<FTZ, SAT>(a * b);
    }
    // 24 by 24 bits fit a double.
    finish::<FTZ, SAT>(narrow::<MODE>(f64::from(a) * f64::from(b)))
}

#[inline(always)]
pub(crate) fn fma<const MODE: u8, const FTZ: bool, const SAT: bool>(a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (input::<FTZ>(a), input::<FTZ>(b), input::<FTZ>(c));
    if MODE == NEAREST {
        return finish::<FTZ, SAT>(a.mul_add(b, c));
    }
    let product = f64::from(a) * f64::from(b);
    let value = odd_sum(product, f64::from(c));
    let value = signed_zero::<MODE>(value, product.is_sign_negative(), c.is_sign_negative());
    finish::<FTZ, SAT>(narrow::<MODE>(value))
}

#[inline(always)]
pub(crate) fn divide<const MODE: u8, const FTZ: bool>(a: u32, b: u32) -> u32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    if MODE == NEAREST {
        return finish::<FTZ, false>(a / b);
    }
    let (wide_a, wide_b) = (f64::from(a), f64::from(b));
    let quotient = wide_a / wide_b;
    let rest = (-quotient).mul_add(wide_b, wide_a);
    let rest = if wide_b < 0.0 { -rest } else { rest };
    finish::<FTZ, false>(narrow::<MODE>(to_odd(quotient, rest)))
}

#[inline(always)]
pub(crate) fn square_root<const MODE: u8, const FTZ: bool>(a: u32) -> u32 {
    let a = input::<FTZ>(a);
    if MODE == NEAREST {
        return finish::<FTZ, false>(a.sqrt());
    }
    let wide = f64::from(a);
    let root = wide.sqrt();
    let rest = (-root).mul_add(root, wide);
    finish::<FTZ, false>(narrow::<MODE>(to_odd(root, rest)))
}

/// `a + b` rounded to odd: exact sums stay, others end in an odd bit.
#[inline(always)]
pub(crate) fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let rest = (a - (sum - part)) + (b - part);
    to_odd(sum, rest)
}

/// Moves a value rounded to nearest to the odd neighbour on the side of what was lost.
#[inline(always)]
pub(crate) fn to_odd(value: f64, rest: f64) -> f64 {
    let bits = value.to_bits();
    let inexact = rest != 0.0 && rest.is_finite() && value.is_finite() && bits & 1 == 0;
    let away = (rest > 0.0) == (value > 0.0);
    let moved = if away {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    f64::from_bits(if inexact { moved } else { bits })
}

/// A double to f32 in a directed mode.
#[inline(always)]
pub(crate) fn narrow<const MODE: u8>(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    let inward = f32::from_bits(bits.wrapping_sub(1));
    let outward = f32::from_bits(bits.wrapping_add(1));
    let smallest = if value < 0.0 {
        -f32::from_bits(1)
    } else {
        f32::from_bits(1)
    };
    match MODE {
        ZERO => {
            if back.abs() > value.abs() {
                inward
            } else {
                near
            }
        }
        DOWN => {
            if back > value {
                if near == 0.0 {
                    smallest
                } else if near > 0.0 {
                    inward
                } else {
                    outward
                }
            } else {
                near
            }
        }
        UP => {
            if back < value {
                if near == 0.0 {
                    smallest
                } else if near < 0.0 {
                    inward
                } else {
                    outward
                }
            } else {
                near
            }
        }
        _ => near,
    }
}

/// An exact zero sum of opposite signs is -0 when rounding down.
#[inline(always)]
fn signed_zero<const MODE: u8>(sum: f64, a_negative: bool, b_negative: bool) -> f64 {
    if MODE == DOWN && sum == 0.0 && a_negative != b_negative {
        -0.0
    } else {
        sum
    }
}

/// A magnitude under the sign of `sign`; a NaN becomes [`NAN`].
#[inline(always)]
pub(crate) fn signed(magnitude: u32, sign: u32) -> u32 {
    if f32::from_bits(magnitude).is_nan() {
        NAN
    } else {
        magnitude & 0x7fff_ffff | sign & 0x8000_0000
    }
}

/// The lesser operand; a NaN loses unless `NAN_WINS`. -0 is below +0.
#[inline(always)]
pub(crate) fn minimum<const FTZ: bool, const NAN_WINS: bool>(a: u32, b: u32) -> u32 {
    choose::<FTZ, NAN_WINS>(a, b, true)
}

/// The greater operand, as [`minimum`].
#[inline(always)]
pub(crate) fn maximum<const FTZ: bool, const NAN_WINS: bool>(a: u32, b: u32) -> u32 {
    choose::<FTZ, NAN_WINS>(a, b, false)
}

#[inline(always)]
fn choose<const FTZ: bool, const NAN_WINS: bool>(a: u32, b: u32, least: bool) -> u32 {
    let (a, b) = if FTZ { (flush(a), flush(b)) } else { (a, b) };
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let zeros = if least { a | b } else { a & b };
    let ordered = if x == y {
        if x == 0.0 { zeros } else { a }
    } else if (x < y) == least {
        a
    } else {
        b
    };
    match (x.is_nan(), y.is_nan()) {
        (false, false) => ordered,
        (true, true) => NAN,
        (true, false) if !NAN_WINS => b,
        (false, true) if !NAN_WINS => a,
        _ => NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rounding, exact};
    use super::*;
    use proptest::prelude::*;

    fn check<const MODE: u8>(a: u32, b: u32, c: u32) -> Result<(), TestCaseError> {
        let mode = Rounding::from_const(MODE);
        let (x, y, z) = (u64::from(a), u64::from(b), u64::from(c));
        let cases = [
            (
                add::<MODE, false, false>(a, b),
                exact::add(x, y, exact::F32, mode),
            ),
            (
                multiply::<MODE, false, false>(a, b),
                exact::multiply(x, y, exact::F32, mode),
            ),
            (
                fma::<MODE, false, false>(a, b, c),
                exact::fma(x, y, z, exact::F32, mode),
            ),
            (
                divide::<MODE, false>(a, b),
                exact::divide(x, y, exact::F32, mode),
            ),
            (
                square_root::<MODE, false>(a),
                exact::square_root(x, exact::F32, mode),
            ),
        ];
        for (at, (fast, reference)) in cases.into_iter().enumerate() {
            prop_assert_eq!(u64::from(fast), reference, "case {} of mode {:?}", at, mode);
        }
        Ok(())
    }

    fn float() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            // Values near one another, near the ends of the range, and the special ones.
            (0x3f00_0000u32..0x4100_0000, any::<bool>()).prop_map(|(b, n)| b | u32::from(n) << 31),
            (0u32..0x0100_0000, any::<bool>()).prop_map(|(b, n)| b | u32::from(n) << 31),
            (0x7f00_0000u32..=0x7f80_0000, any::<bool>()).prop_map(|(b, n)| b | u32::from(n) << 31),
            Just(0),
            Just(0x8000_0000),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn every_mode_agrees_with_the_exact_reference(a in float(), b in float(), c in float()) {
            check::<NEAREST>(a, b, c)?;
            check::<ZERO>(a, b, c)?;
            check::<DOWN>(a, b, c)?;
            check::<UP>(a, b, c)?;
        }

        #[test]
        fn cancelling_sums_keep_the_right_zero(a in float()) {
            check::<DOWN>(a, a ^ 0x8000_0000, a)?;
            check::<UP>(a, a ^ 0x8000_0000, a ^ 0x8000_0000)?;
        }
    }

    #[test]
    fn flushing_and_saturation() {
        assert_eq!(add::<NEAREST, true, false>(1, 0x8000_0000), 0);
        assert_eq!(add::<NEAREST, false, false>(1, 0x8000_0000), 1);
        assert_eq!(
            add::<NEAREST, false, true>(3f32.to_bits(), 0),
            1f32.to_bits()
        );
        assert_eq!(add::<NEAREST, false, true>(NAN, 0), 0);
        assert_eq!(add::<NEAREST, false, true>((-3f32).to_bits(), 0), 0);
    }

    #[test]
    fn minimum_prefers_numbers_and_minus_zero() {
        assert_eq!(minimum::<false, false>(NAN, 5), 5);
        assert_eq!(minimum::<false, true>(NAN, 5), NAN);
        assert_eq!(minimum::<false, false>(0, 0x8000_0000), 0x8000_0000);
        assert_eq!(maximum::<false, false>(0x8000_0000, 0), 0);
    }
}
