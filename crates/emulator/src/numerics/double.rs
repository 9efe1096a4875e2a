//! f64 arithmetic. To nearest it is the host's; directed modes take the exact, slow way.

use super::{NEAREST, Rounding, exact};

#[inline(always)]
pub(crate) fn add<const MODE: u8>(a: u64, b: u64) -> u64 {
    if MODE == NEAREST {
        return canonical(f64::from_bits(a) + f64::from_bits(b));
    }
    exact::add(a, b, exact::F64, Rounding::from_const(MODE))
}

#[inline(always)]
pub(crate) fn multiply<const MODE: u8>(a: u64, b: u64) -> u64 {
    if MODE == NEAREST {
        return canonical(f64::from_bits(a) * f64::from_bits(b));
    }
    exact::multiply(a, b, exact::F64, Rounding::from_const(MODE))
}

#[inline(always)]
pub(crate) fn fma<const MODE: u8>(a: u64, b: u64, c: u64) -> u64 {
    if MODE == NEAREST {
        return canonical(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)));
    }
    exact::fma(a, b, c, exact::F64, Rounding::from_const(MODE))
}

#[inline(always)]
pub(crate) fn divide<const MODE: u8>(a: u64, b: u64) -> u64 {
    if MODE == NEAREST {
        return canonical(f64::from_bits(a) / f64::from_bits(b));
    }
    exact::divide(a, b, exact::F64, Rounding::from_const(MODE))
}

#[inline(always)]
pub(crate) fn square_root<const MODE: u8>(a: u64) -> u64 {
    if MODE == NEAREST {
        return canonical(f64::from_bits(a).sqrt());
    }
    exact::square_root(a, exact::F64, Rounding::from_const(MODE))
}

/// Hosts differ in the NaN they make; ours is the quiet one without a sign.
#[inline(always)]
pub(crate) fn canonical(value: f64) -> u64 {
    if value.is_nan() {
        exact::F64.nan()
    } else {
        value.to_bits()
    }
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
        return if y.is_nan() { exact::F64.nan() } else { b };
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
