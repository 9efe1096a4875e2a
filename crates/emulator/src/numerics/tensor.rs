//! Sums of products as tensor cores make them.
//!
//! NVIDIA states no rule. Two studies measured the same one on Hopper (Xie et al., "MMA-Sim",
//! arXiv 2511.10909; Khattak and Mikaitis, "Accurate models of NVIDIA tensor cores", arXiv 2512.07004), and
//! [`accumulate`] follows it; the device crate's differential suite compares `mma` and `wmma` with an
//! H200's bits. A block of k is one step: its products are exact, all of them and
//! the accumulator are aligned to the largest exponent among them, cut off toward zero below
//! [`Rule::fraction_bits`] bits of fraction, added exactly, and the sum becomes an f32 toward zero
//! or an f16 to nearest. The exponent of a product is the sum of its factors', before it is
//! normalised; subnormal numbers have the exponent of the smallest normal one.
#![allow(unsafe_code)]

use super::half::{F16, narrow_double};
use super::single;
use crate::lanes::has_wide_vectors;

/// Formats of factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
}

impl Format {
    /// Exponent of the smallest normal number.
    fn least_exponent(self) -> i32 {
        match self {
            Self::F16 | Self::E5m2 => -14,
            Self::Bf16 | Self::Tf32 => -126,
            Self::E4m3 => -6,
        }
    }
}

/// How the sum of a block is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Bits below the largest exponent that products keep.
    pub(crate) fraction_bits: i32,
    /// Bits of fraction that an f32 result keeps.
    pub(crate) result_bits: u32,
    pub(crate) steps: Steps,
}

/// How the machine goes along k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// All in one step.
    One,
    /// So many in a step.
    Of(usize),
    /// Eight-bit factors as f16: of every four along k the first two, then the other two. Their sum
    /// begins at zero; the accumulator is added to it as any two numbers are.
    Unpacked,
}

impl Steps {
    /// How many there are for `k`.
    pub(crate) fn count(self, k: usize) -> usize {
        match self {
            Self::One => 1,
            Self::Of(block) => k / block,
            Self::Unpacked => 2,
        }
    }

    /// The step that has this place along k.
    pub(crate) fn of(self, place: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Of(block) => place / block,
            Self::Unpacked => place % 4 / 2,
        }
    }
}

/// The rule of an H200. Eight-bit floats are summed with fewer bits by `wgmma`; `mma` has no unit for them
/// and is made of conversions and f16 products.
pub(crate) fn rule(format: Format, group: bool) -> Rule {
    let eight_bits = matches!(format, Format::E4m3 | Format::E5m2);
    let short = group && eight_bits;
    Rule {
        fraction_bits: if short { 13 } else { 25 },
        result_bits: if short { 13 } else { 23 },
        steps: if eight_bits && !group {
            Steps::Unpacked
        } else {
            Steps::One
        },
    }
}

/// Columns that one step works on.
const WIDTH: usize = 8;
/// Terms whose sum surely fits 32 bits: each is below `4 * 2^25` by a relative `2^-10`.
const TERMS: usize = 16;
/// Exponent that stands for zero, infinity and NaN: no other is smaller.
const NOTHING: i32 = -1 << 20;
/// Exponent of the smallest normal f32: no accumulator has less.
const FLOOR: i32 = -126;

/// Factors, split: `value = significand * 2^exponent` with a significand of magnitude below two.
#[derive(Debug, Default)]
pub(crate) struct Factors {
    pub(crate) values: Vec<f32>,
    significands: Vec<f32>,
    exponents: Vec<i32>,
    special: bool,
}

impl Factors {
    /// Splits `values`.
    pub(crate) fn split(&mut self, format: Format) {
        self.split_at(format.least_exponent());
    }

    fn split_at(&mut self, least: i32) {
        self.significands.resize(self.values.len(), 0.0);
        self.exponents.resize(self.values.len(), 0);
        let scale = f32::from_bits(((127 - least) as u32) << 23);
        let mut most = 0;
        let parts = self.significands.iter_mut().zip(&mut self.exponents);
        for (&value, (significand, exponent)) in self.values.iter().zip(parts) {
            let bits = value.to_bits();
            let biased = (bits >> 23 & 0xff) as i32;
            let ordinary = f32::from_bits(bits & 0x807f_ffff | 0x3f80_0000);
            let small = value * scale;
            let nothing = biased == 0xff || bits & 0x7fff_ffff == 0;
            let is_small = biased - 127 < least;
            *significand = match (nothing, is_small) {
                (true, _) => 0.0,
                (false, true) => small,
                (false, false) => ordinary,
            };
            *exponent = if nothing {
                NOTHING
            } else {
                (biased - 127).max(least)
            };
            most = most.max(biased);
        }
        self.special = most == 0xff;
    }
}

/// Factors and accumulators of one step.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// m by k.
    pub(crate) a: Factors,
    /// k by n.
    pub(crate) b: Factors,
    /// m by n, replaced by the sums; f16 ones as f32.
    pub(crate) c: Factors,
}

/// `c += a * b` for one block of k; n is a multiple of 8.
pub(crate) fn accumulate(step: &mut Step, extents: [usize; 3], rule: Rule, half: [bool; 2]) {
    step.c.split_at(if half[0] { -14 } else { FLOOR });
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: the processor has the features.
        unsafe { sums_wide(step, extents, rule, half[1]) };
        return;
    }
    let _ = has_wide_vectors;
    sums(step, extents, rule, half[1]);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn sums_wide(step: &mut Step, extents: [usize; 3], rule: Rule, half: bool) {
    sums(step, extents, rule, half);
}

#[inline(always)]
fn sums(step: &mut Step, extents: [usize; 3], rule: Rule, half: bool) {
    let [m, n, k] = extents;
    let special = step.a.special || step.b.special || step.c.special;
    for row in 0..m {
        let a = (
            &step.a.significands[row * k..][..k],
            &step.a.exponents[row * k..][..k],
        );
        for first in (0..n).step_by(WIDTH) {
            let at = row * n + first;
            let c = (
                eight(&step.c.significands[at..]),
                eight(&step.c.exponents[at..]),
            );
            let mut sums = columns(a, &step.b, (n, first), c, rule);
            for (column, sum) in sums.iter_mut().enumerate() {
                if special && let Some(found) = special_sum(step, [row, first + column], [n, k]) {
                    *sum = f64::from(found);
                }
            }
            let out = &mut step.c.values[at..at + WIDTH];
            for (out, &sum) in out.iter_mut().zip(&sums) {
                *out = if half {
                    // What rounds to zero loses its sign.
                    <F16 as super::half::Half>::widen(narrow_double::<F16>(sum)) + 0.0
                } else {
                    toward_zero(sum, rule.result_bits)
                };
            }
        }
    }
}

#[inline(always)]
fn eight<T: Copy + Default>(values: &[T]) -> [T; WIDTH] {
    let mut out = [T::default(); WIDTH];
    out.copy_from_slice(&values[..WIDTH]);
    out
}

/// The sums of one row of a with eight columns of b.
#[inline(always)]
fn columns(
    (a, ea): (&[f32], &[i32]),
    b: &Factors,
    (n, first): (usize, usize),
    (c, ec): ([f32; WIDTH], [i32; WIDTH]),
    rule: Rule,
) -> [f64; WIDTH] {
    let mut most = ec.map(|exponent| exponent.max(FLOOR));
    for (at, &ea) in ea.iter().enumerate() {
        let eb = eight(&b.exponents[at * n + first..]);
        for column in 0..WIDTH {
            most[column] = most[column].max(ea + eb[column]);
        }
    }
    // 2^(fraction - (most - exponent)); 0 stands for what lies below every bit that is kept.
    let top = rule.fraction_bits + 127;
    let scale = |most: i32, exponent: i32| {
        f32::from_bits(((top - (most - exponent).min(top)) as u32) << 23)
    };
    let cut = |value: f32| {
        // SAFETY: finite, and of magnitude below 2^27: two factors below 2, times at most 2^25.
        unsafe { value.to_int_unchecked::<i32>() }
    };
    let mut totals = [0.0; WIDTH];
    for column in 0..WIDTH {
        totals[column] = f64::from(cut(c[column] * scale(most[column], ec[column])));
    }
    for start in (0..a.len()).step_by(TERMS) {
        let mut sum = [0i32; WIDTH];
        for at in start..a.len().min(start + TERMS) {
            let b_at = at * n + first;
            let (sb, eb) = (eight(&b.significands[b_at..]), eight(&b.exponents[b_at..]));
            for column in 0..WIDTH {
                let scale = scale(most[column], ea[at] + eb[column]);
                sum[column] += cut(a[at] * sb[column] * scale);
            }
        }
        for column in 0..WIDTH {
            totals[column] += f64::from(sum[column]);
        }
    }
    for column in 0..WIDTH {
        let exponent = most[column] - rule.fraction_bits;
        totals[column] *= f64::from_bits(((exponent + 1023) as u64) << 52);
    }
    totals
}

/// An exact sum as f32 with `bits` bits of fraction, cut off.
#[inline(always)]
fn toward_zero(sum: f64, bits: u32) -> f32 {
    let cut = f64::from_bits(sum.to_bits() & (u64::MAX << (52 - bits)));
    if sum.abs() < f64::from(f32::MIN_POSITIVE) {
        // Subnormal: the last bit has a fixed place.
        let unit = f64::from_bits(u64::from(1023 - 126 - bits) << 52);
        return ((sum / unit).trunc() * unit) as f32;
    }
    if sum.is_nan() {
        return f32::from_bits(single::NAN);
    }
    cut as f32
}

/// Infinity or NaN, if a term is one.
fn special_sum(step: &Step, [row, column]: [usize; 2], [n, k]: [usize; 2]) -> Option<f32> {
    let mut sum = step.c.values[row * n + column];
    let mut found = !sum.is_finite();
    if !found {
        sum = 0.0;
    }
    for at in 0..k {
        let (a, b) = (step.a.values[row * k + at], step.b.values[at * n + column]);
        if !(a.is_finite() && b.is_finite()) {
            found = true;
            sum += a * b;
        }
    }
    found.then_some(sum)
}

/// Halves away from zero.
pub(crate) const AWAY: u8 = 0;
/// Halves to even.
pub(crate) const EVEN: u8 = 1;
/// Toward zero.
pub(crate) const CUT: u8 = 2;

/// An f32 with ten bits of fraction.
#[inline(always)]
pub(crate) fn to_tf32(bits: u32, mode: u8, relu: bool) -> u32 {
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        // The old instruction cuts a NaN as it cuts a number.
        return if mode == AWAY {
            bits & !0x1fff
        } else {
            single::NAN
        };
    }
    if relu && bits >> 31 != 0 {
        return 0;
    }
    let more = match mode {
        AWAY => 0x1000,
        EVEN => 0xfff + (bits >> 13 & 1),
        _ => 0,
    };
    if bits & 0x7f80_0000 == 0x7f80_0000 {
        bits
    } else {
        bits.wrapping_add(more) & !0x1fff
    }
}

/// Infinities become the largest tf32.
#[inline(always)]
pub(crate) fn clamp_tf32(bits: u32) -> u32 {
    if bits & 0x7fff_ffff == 0x7f80_0000 {
        bits & 0x8000_0000 | 0x7f7f_e000
    } else {
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rule with whole numbers and no vectors: terms are significand and exponent.
    fn reference(a: &[f32], b: &[f32], c: f32, rule: Rule, least: i32) -> f32 {
        let split = |value: f32, least: i32| -> (i128, i32) {
            if value == 0.0 {
                return (0, NOTHING);
            }
            let exponent = (value.abs().log2().floor() as i32).max(least);
            let whole = f64::from(value) * 2f64.powi(23 - exponent);
            (whole as i128, exponent)
        };
        let mut terms: Vec<(i128, i32)> = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| {
                let ((a, ea), (b, eb)) = (split(a, least), split(b, least));
                (a * b, ea + eb)
            })
            .collect();
        let (c, ec) = split(c, FLOOR);
        terms.push((c << 23, ec));
        let most = terms.iter().map(|&(_, e)| e).max().unwrap().max(FLOOR);
        let mut total = 0i128;
        for (whole, exponent) in terms {
            // A fraction of 46 bits is cut to `fraction_bits` after the shift to the right.
            let shift = (46 - rule.fraction_bits + (most - exponent)).clamp(0, 120);
            total += whole.signum() * (whole.abs() >> shift);
        }
        let value = total as f64 * 2f64.powi(most - rule.fraction_bits);
        let near = value as f32;
        if f64::from(near).abs() > value.abs() {
            f32::from_bits(near.to_bits() - 1)
        } else {
            near
        }
    }

    fn half_value() -> impl Strategy<Value = f32> {
        any::<u16>().prop_filter_map("finite", |bits| {
            let value = half::f16::from_bits(bits).to_f32();
            value.is_finite().then_some(value)
        })
    }

    proptest! {
        #[test]
        fn sums_follow_the_rule(
            a in proptest::collection::vec(half_value(), 16),
            b in proptest::collection::vec(half_value(), 16),
            c in -1e6f32..1e6,
        ) {
            let rule = rule(Format::F16, false);
            let mut step = Step::default();
            step.a.values = a.clone();
            step.b.values = b.iter().flat_map(|&b| [b; 8]).collect();
            step.c.values = vec![c; 8];
            step.a.split(Format::F16);
            step.b.split(Format::F16);
            accumulate(&mut step, [1, 8, 16], rule, [false, false]);
            let expected = reference(&a, &b, c, rule, -14);
            prop_assert_eq!(step.c.values[3].to_bits(), (expected + 0.0).to_bits());
        }
    }

    fn one(a: &[f32], b: &[f32], c: f32, format: Format, rule: Rule) -> f32 {
        let mut step = Step::default();
        step.a.values = a.to_vec();
        step.b.values = b.iter().flat_map(|&b| [b; 8]).collect();
        step.c.values = vec![c; 8];
        step.a.split(format);
        step.b.split(format);
        accumulate(&mut step, [1, 8, a.len()], rule, [false, false]);
        step.c.values[0]
    }

    #[test]
    fn what_lies_below_the_kept_bits_is_lost() {
        let rule = rule(Format::F16, false);
        let sum = |tiny: f32| {
            one(
                &[1.0, tiny, tiny],
                &[1.0, tiny, tiny],
                -1.0,
                Format::F16,
                rule,
            )
        };
        assert_eq!(sum(2f32.powi(-12)), 2f32.powi(-23));
        // Each product is 2^-26: cut off before they are added.
        assert_eq!(sum(2f32.powi(-13)), 0.0);
        // The f32 is cut off, not rounded: 1 + 3 * 2^-25 becomes 1.
        let third = 2f32.powi(-12);
        let cut = one(
            &[third, third],
            &[third, third / 2.0],
            1.0,
            Format::F16,
            rule,
        );
        assert_eq!(cut, 1.0);
    }

    #[test]
    fn eight_bit_floats_keep_13_bits_in_a_warpgroup() {
        let (a, b) = ([1.0, 2f32.powi(-7)], [1.0, 2f32.powi(-7)]);
        let short = one(&a, &b, 0.0, Format::E4m3, rule(Format::E4m3, true));
        let long = one(&a, &b, 0.0, Format::E4m3, rule(Format::E4m3, false));
        assert_eq!((short, long), (1.0, 1.0 + 2f32.powi(-14)));
    }

    #[test]
    fn tf32_rounds_halves_as_it_is_told() {
        let half = 0x3f80_1000;
        assert_eq!(to_tf32(half, AWAY, false), 0x3f80_2000);
        assert_eq!(to_tf32(half, EVEN, false), 0x3f80_0000);
        assert_eq!(to_tf32(0x3f80_3000, EVEN, false), 0x3f80_4000);
        assert_eq!(to_tf32(0xbf80_1fff, CUT, false), 0xbf80_0000);
        assert_eq!(to_tf32(0xbf80_1fff, EVEN, true), 0);
        let largest = f32::MAX.to_bits();
        assert_eq!(to_tf32(largest, AWAY, false), 0x7f80_0000);
        assert_eq!(clamp_tf32(to_tf32(largest, AWAY, false)), 0x7f7f_e000);
    }

    #[test]
    fn infinities_and_nan_come_through() {
        let rule = rule(Format::Bf16, false);
        let inf = f32::INFINITY;
        assert_eq!(one(&[inf], &[2.0], 1.0, Format::Bf16, rule), inf);
        assert!(one(&[inf], &[0.0], 1.0, Format::Bf16, rule).is_nan());
        assert!(one(&[inf, -inf], &[1.0, 1.0], 0.0, Format::Bf16, rule).is_nan());
        assert_eq!(one(&[1e38], &[1e38], 0.0, Format::Bf16, rule), inf);
        assert_eq!(one(&[1e-38], &[1e-38], 0.0, Format::Bf16, rule), 0.0);
    }
}
