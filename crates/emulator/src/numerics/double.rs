//! f64 arithmetic. To nearest it is the host's; directed modes take the exact, slow way.
//!
//! Hosts differ in the NaN they make. Ours is the hardware's: an operand that is one, made quiet, or [`INVALID`]
//! where none is. Of several it is the second operand's, then the first's; in a quotient the first's.

use super::{NEAREST, Rounding, exact};

/// The NaN of an operation that has no result: `0 / 0`, the root of -1.
pub(crate) const INVALID: u64 = 0xfff8_0000_0000_0000;
/// The bit of the fraction that tells a quiet NaN from one that signals.
const QUIET: u64 = 1 << 51;
const SIGN: u64 = 1 << 63;

#[inline(always)]
fn is_nan(bits: u64) -> bool {
    bits & !SIGN > 0x7ff0_0000_0000_0000
}

/// A result, with the right NaN in place of any.
#[inline(always)]
fn settle<const N: usize>(result: u64, operands: [u64; N]) -> u64 {
    // Chosen without branches, so that lanes go together.
    let mut nan = INVALID;
    for at in [2, 0, 1] {
        if at < N {
            let bits = operands[at];
            nan = if is_nan(bits) { bits | QUIET } else { nan };
        }
    }
    if is_nan(result) { nan } else { result }
}

#[inline(always)]
pub(crate) fn add<const MODE: u8>(a: u64, b: u64) -> u64 {
    if MODE == NEAREST {
        return settle((f64::from_bits(a) + f64::from_bits(b)).to_bits(), [a, b]);
    }
    settle(
        exact::add(a, b, exact::F64, Rounding::from_const(MODE)),
        [a, b],
    )
}

/// `a + b` as atomics of global memory have it: a NaN that comes in stays as it is.
pub(crate) fn add_in_memory(a: u64, b: u64) -> u64 {
    let sum = add::<NEAREST>(a, b);
    match (is_nan(a), is_nan(b)) {
        (_, true) => b,
        (true, false) => a,
        (false, false) => sum,
    }
}

#[inline(always)]
pub(crate) fn multiply<const MODE: u8>(a: u64, b: u64) -> u64 {
    if MODE == NEAREST {
        return settle((f64::from_bits(a) * f64::from_bits(b)).to_bits(), [a, b]);
    }
    settle(
        exact::multiply(a, b, exact::F64, Rounding::from_const(MODE)),
        [a, b],
    )
}

#[inline(always)]
pub(crate) fn fma<const MODE: u8>(a: u64, b: u64, c: u64) -> u64 {
    if MODE == NEAREST {
        return settle(
            f64::from_bits(a)
                .mul_add(f64::from_bits(b), f64::from_bits(c))
                .to_bits(),
            [a, b, c],
        );
    }
    settle(
        exact::fma(a, b, c, exact::F64, Rounding::from_const(MODE)),
        [a, b, c],
    )
}

#[inline(always)]
pub(crate) fn divide<const MODE: u8>(a: u64, b: u64) -> u64 {
    if MODE == NEAREST {
        return settle((f64::from_bits(a) / f64::from_bits(b)).to_bits(), [b, a]);
    }
    settle(
        exact::divide(a, b, exact::F64, Rounding::from_const(MODE)),
        [b, a],
    )
}

#[inline(always)]
pub(crate) fn square_root<const MODE: u8>(a: u64) -> u64 {
    if MODE == NEAREST {
        return of(a, f64::sqrt);
    }
    settle(
        exact::square_root(a, exact::F64, Rounding::from_const(MODE)),
        [a],
    )
}

/// A value made from one operand by `f`.
#[inline(always)]
pub(crate) fn of(bits: u64, f: impl Fn(f64) -> f64) -> u64 {
    settle(f(f64::from_bits(bits)).to_bits(), [bits])
}

/// `-a`; a NaN stays as it is.
#[inline(always)]
pub(crate) fn negate(bits: u64) -> u64 {
    settle(bits ^ SIGN, [bits])
}

/// An f32 as a double. Of a NaN sign and payload stay.
#[inline(always)]
pub(crate) fn from_single(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    let sign = u64::from(bits >> 31) << 63;
    let payload = u64::from(bits & 0x007f_ffff) << 29;
    if value.is_nan() {
        sign | 0x7ff0_0000_0000_0000 | QUIET | payload
    } else {
        f64::from(value).to_bits()
    }
}

/// What a NaN becomes in a format of `fraction` and `exponent` bits: sign and the payload's upper part stay.
#[inline(always)]
pub(crate) fn narrowed_nan(bits: u64, exponent: u32, fraction: u32) -> u32 {
    let payload = ((bits | QUIET) & (u64::MAX >> 12)) >> (52 - fraction);
    let exponents = (1u32 << exponent) - 1;
    let sign = ((bits >> 63) as u32) << (exponent + fraction);
    sign | exponents << fraction | payload as u32
}

#[inline(always)]
pub(crate) fn minimum(a: u64, b: u64) -> u64 {
    choose(a, b, true)
}

#[inline(always)]
pub(crate) fn maximum(a: u64, b: u64) -> u64 {
    choose(a, b, false)
}

#[inline(always)]
fn choose(a: u64, b: u64, least: bool) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    if x.is_nan() {
        return if y.is_nan() { b | QUIET } else { b };
    }
    if y.is_nan() {
        return a;
    }
    if x == y {
        return if x == 0.0 {
            if least { a | b } else { a & b }
        } else {
            a
        };
    }
    if (x < y) == least { a } else { b }
}
