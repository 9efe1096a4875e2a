//! `cvt` into and out of packed values: half pairs, eight-bit floats, saturated integers.

use super::convert::Form;
use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::{bin, un};
use crate::numerics::half::{Bf16, F16, Half, relu};
use crate::numerics::{Rounding, exact, fp8};
use crate::syntax::Type;

/// `cvt.rn.f16x2.f32 d, high, low`, and `cvt.rn.f16x2.e4m3x2`'s kin by way of [`eight_bits`].
pub(super) fn pair_of_singles(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    form: Form,
    to: Type,
    from: Type,
) -> Result<(), LoadError> {
    let mode = form.round.ok_or_else(|| m.unsupported())?;
    if from != Type::F32 || form.ftz || form.sat || form.satfinite {
        return Err(m.unsupported());
    }
    let run = match (to == Type::F16x2, mode) {
        (true, Rounding::Nearest) => bin(|high: u32, low: u32| {
            join(
                F16::narrow(f32::from_bits(high)),
                F16::narrow(f32::from_bits(low)),
            )
        }),
        (false, Rounding::Nearest) => bin(|high: u32, low: u32| {
            join(
                Bf16::narrow(f32::from_bits(high)),
                Bf16::narrow(f32::from_bits(low)),
            )
        }),
        (true, Rounding::Zero) => bin(|high: u32, low: u32| {
            let one = |a| exact::convert(u64::from(a), exact::F32, exact::F16, Rounding::Zero);
            join(one(high) as u16, one(low) as u16)
        }),
        (false, Rounding::Zero) => bin(|high: u32, low: u32| {
            let one = |a| exact::convert(u64::from(a), exact::F32, exact::BF16, Rounding::Zero);
            join(one(high) as u16, one(low) as u16)
        }),
        _ => return Err(m.unsupported()),
    };
    let (high, low) = (d.source(1, Type::F32)?, d.source(2, Type::F32)?);
    let positive = match (form.relu, to == Type::F16x2) {
        (false, _) => None,
        (true, true) => Some(un(|a: u32| crate::numerics::half::pair1(a, relu::<F16>))),
        (true, false) => Some(un(|a: u32| crate::numerics::half::pair1(a, relu::<Bf16>))),
    };
    d.destination(0, Type::B32, |d, dst| {
        d.lane(run, dst, &[high, low]);
        if let Some(positive) = positive {
            d.lane(positive, dst, &[dst]);
        }
    })
}

#[inline(always)]
fn join(high: u16, low: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

/// Conversions from and to pairs of eight-bit floats.
pub(super) fn eight_bits(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    form: Form,
    e4m3: bool,
) -> Result<(), LoadError> {
    let other = m.last_type()?;
    m.finish()?;
    if form.round != Some(Rounding::Nearest) || form.ftz || form.sat || form.integral.is_some() {
        return Err(m.unsupported());
    }
    match (other, form.satfinite) {
        (Type::F32, true) => {
            let run = match (e4m3, form.relu) {
                (true, false) => bin(|high: u32, low: u32| two(high, low, fp8::to_e4m3)),
                (false, false) => bin(|high: u32, low: u32| two(high, low, fp8::to_e5m2)),
                (true, true) => {
                    bin(|high: u32, low: u32| two(positive(high), positive(low), fp8::to_e4m3))
                }
                (false, true) => {
                    bin(|high: u32, low: u32| two(positive(high), positive(low), fp8::to_e5m2))
                }
            };
            let (high, low) = (d.source(1, Type::F32)?, d.source(2, Type::F32)?);
            d.destination(0, Type::B16, |d, dst| d.lane(run, dst, &[high, low]))
        }
        // The destination comes first in the opcode; a source of f16x2 narrows, a destination
        // widens, and only the narrowing form saturates.
        (Type::F16x2, true) => {
            let run = match (e4m3, form.relu) {
                (true, false) => un(|a: u32| two(upper(a), lower(a), fp8::to_e4m3)),
                (false, false) => un(|a: u32| two(upper(a), lower(a), fp8::to_e5m2)),
                (true, true) => {
                    un(|a: u32| two(positive(upper(a)), positive(lower(a)), fp8::to_e4m3))
                }
                (false, true) => {
                    un(|a: u32| two(positive(upper(a)), positive(lower(a)), fp8::to_e5m2))
                }
            };
            let a = d.source(1, Type::B32)?;
            d.destination(0, Type::B16, |d, dst| d.lane(run, dst, &[a]))
        }
        (Type::F16x2, false) => {
            let run = if e4m3 {
                un(|a: u32| {
                    let one = |a: u8| F16::narrow(fp8::from_e4m3(a));
                    join(one((a >> 8) as u8), one(a as u8))
                })
            } else {
                un(|a: u32| {
                    let one = |a: u8| F16::narrow(fp8::from_e5m2(a));
                    join(one((a >> 8) as u8), one(a as u8))
                })
            };
            let positive = un(|a: u32| crate::numerics::half::pair1(a, relu::<F16>));
            let a = d.source(1, Type::B16)?;
            d.destination(0, Type::B32, |d, dst| {
                d.lane(run, dst, &[a]);
                if form.relu {
                    d.lane(positive, dst, &[dst]);
                }
            })
        }
        _ => Err(m.unsupported()),
    }
}

/// Two f32 as bytes.
#[inline(always)]
fn two(high: u32, low: u32, to_byte: impl Fn(u32) -> u8) -> u32 {
    u32::from(to_byte(high)) << 8 | u32::from(to_byte(low))
}

/// The halves of a pair of f16, as f32.
#[inline(always)]
fn upper(pair: u32) -> u32 {
    F16::widen((pair >> 16) as u16).to_bits()
}

#[inline(always)]
fn lower(pair: u32) -> u32 {
    F16::widen(pair as u16).to_bits()
}

/// `.relu` of an f32: negative ones are +0, a NaN stays one.
#[inline(always)]
fn positive(bits: u32) -> u32 {
    let is_nan = f32::from_bits(bits).is_nan();
    if bits >> 31 != 0 && !is_nan { 0 } else { bits }
}

/// `cvt.pack.sat.u16.s32 d, a, b` and its 8-bit form with a third operand.
pub(super) fn pack(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if !m.take("sat") {
        return Err(m.unsupported());
    }
    let third = m.take("b32");
    let from = m.last_type()?;
    let to = m.last_type()?;
    m.finish()?;
    if from != Type::S32 {
        return Err(m.unsupported());
    }
    let run = match (to, third) {
        (Type::U16, false) => bin(|a: u32, b: u32| {
            let one = |a: u32| (a as i32).clamp(0, 0xffff) as u32;
            one(a) << 16 | one(b)
        }),
        (Type::S16, false) => bin(|a: u32, b: u32| {
            let one = |a: u32| (a as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff;
            one(a) << 16 | one(b)
        }),
        (Type::U8, true) => bin(|a: u32, b: u32| {
            let one = |a: u32| (a as i32).clamp(0, 0xff) as u32;
            one(a) << 8 | one(b)
        }),
        (Type::S8, true) => bin(|a: u32, b: u32| {
            let one = |a: u32| (a as i32).clamp(-0x80, 0x7f) as u32 & 0xff;
            one(a) << 8 | one(b)
        }),
        _ => return Err(m.unsupported()),
    };
    let (a, b) = (d.source(1, Type::U32)?, d.source(2, Type::U32)?);
    if !third {
        return d.destination(0, Type::U32, |d, dst| d.lane(run, dst, &[a, b]));
    }
    let c = d.source(3, Type::U32)?;
    let low = d.temporary(false);
    d.lane(run, low, &[a, b]);
    let join = bin(|low: u32, c: u32| c << 16 | low);
    d.destination(0, Type::U32, |d, dst| d.lane(join, dst, &[low, c]))
}
