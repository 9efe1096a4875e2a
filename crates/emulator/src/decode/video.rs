//! Rarer arithmetic of integers: pairs of 16 bits (`add`, `min`, `max` of `.u16x2` and `.s16x2`), extremes that
//! stop at zero, and the differences of bytes or halves that are left of the video instructions (`vabsdiff2`,
//! `vabsdiff4`).

use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::{LaneFn, bin, ter};
use crate::syntax::Type;

/// The packed form of `add`, `min` or `max`, if the opcode is one: it stands in front of the type.
pub(super) fn pairs(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Option<Result<(), LoadError>> {
    let is_signed = m.take("s16x2");
    (is_signed || m.take("u16x2")).then(|| {
        let relu = m.take("relu");
        m.finish()?;
        let run = pair_function(m.base(), is_signed, relu).ok_or_else(|| m.unsupported())?;
        d.binary(Some(run), Type::B32, m)
    })
}

fn pair_function(base: &str, is_signed: bool, relu: bool) -> Option<LaneFn> {
    Some(match (base, is_signed, relu) {
        ("add", _, false) => bin(|a: u32, b: u32| halves(a, b, u16::wrapping_add)),
        ("min", false, false) => bin(|a: u32, b: u32| halves(a, b, u16::min)),
        ("max", false, false) => bin(|a: u32, b: u32| halves(a, b, u16::max)),
        ("min", true, false) => bin(|a: u32, b: u32| signed_halves(a, b, i16::min)),
        ("max", true, false) => bin(|a: u32, b: u32| signed_halves(a, b, i16::max)),
        ("min", true, true) => bin(|a: u32, b: u32| signed_halves(a, b, |a, b| a.min(b).max(0))),
        ("max", true, true) => bin(|a: u32, b: u32| signed_halves(a, b, |a, b| a.max(b).max(0))),
        _ => return None,
    })
}

#[inline(always)]
fn halves(a: u32, b: u32, of: impl Fn(u16, u16) -> u16) -> u32 {
    let (low, high) = (
        of(a as u16, b as u16),
        of((a >> 16) as u16, (b >> 16) as u16),
    );
    u32::from(high) << 16 | u32::from(low)
}

#[inline(always)]
fn signed_halves(a: u32, b: u32, of: impl Fn(i16, i16) -> i16) -> u32 {
    halves(a, b, |a, b| of(a as i16, b as i16) as u16)
}

/// `min.relu` and `max.relu`: nothing below 0.
pub(super) fn extreme_above_zero(least: bool, ty: Type) -> Option<LaneFn> {
    match (ty, least) {
        (Type::S32, true) => Some(bin(|a: u32, b: u32| (a as i32).min(b as i32).max(0) as u32)),
        (Type::S32, false) => Some(bin(|a: u32, b: u32| (a as i32).max(b as i32).max(0) as u32)),
        _ => None,
    }
}

/// `vabsdiff2` and `vabsdiff4`: differences of parts, each in its part's place, or added up to `c`.
/// Without masks, selections and saturation, which compilers do not make.
pub(super) fn differences(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let adds = m.take("add");
    let (right, left, to) = (m.last_type()?, m.last_type()?, m.last_type()?);
    m.finish()?;
    let is_word = |ty| matches!(ty, Type::U32 | Type::S32);
    // A difference of signed parts may exceed its signed place, which nothing here clamps: all the same bits.
    if left != right || !is_word(left) || !is_word(to) {
        return Err(m.unsupported());
    }
    let four = m.base() == "vabsdiff4";
    let run = match (four, left.is_signed(), adds) {
        (true, false, false) => ter(|a: u32, b: u32, _: u32| apart::<8, false>(a, b).0),
        (true, true, false) => ter(|a: u32, b: u32, _: u32| apart::<8, true>(a, b).0),
        (false, false, false) => ter(|a: u32, b: u32, _: u32| apart::<16, false>(a, b).0),
        (false, true, false) => ter(|a: u32, b: u32, _: u32| apart::<16, true>(a, b).0),
        (true, false, true) => {
            ter(|a: u32, b: u32, c: u32| apart::<8, false>(a, b).1.wrapping_add(c))
        }
        (true, true, true) => {
            ter(|a: u32, b: u32, c: u32| apart::<8, true>(a, b).1.wrapping_add(c))
        }
        (false, false, true) => {
            ter(|a: u32, b: u32, c: u32| apart::<16, false>(a, b).1.wrapping_add(c))
        }
        (false, true, true) => {
            ter(|a: u32, b: u32, c: u32| apart::<16, true>(a, b).1.wrapping_add(c))
        }
    };
    d.ternary(Some(run), Type::B32, m)
}

/// How far the parts of `BITS` bits are from each other: in place, and added up.
#[inline(always)]
fn apart<const BITS: u32, const SIGNED: bool>(a: u32, b: u32) -> (u32, u32) {
    let (mut places, mut sum) = (0, 0);
    for at in (0..32).step_by(BITS as usize) {
        let part = |word: u32| {
            let top = word << (32 - BITS - at);
            match SIGNED {
                true => top as i32 >> (32 - BITS),
                false => (top >> (32 - BITS)) as i32,
            }
        };
        let difference = part(a).abs_diff(part(b));
        places |= difference << at;
        sum += difference;
    }
    (places, sum)
}
