//! Integer arithmetic.

use super::{Decoder, Modifiers, float, video};
use crate::LoadError;
use crate::lanes::{LaneFn, bin, ter, un};
use crate::program::{Carry, CarryOp, Kind};
use crate::syntax::Type;

/// A two-operand operation in each integer type: the body sees operands of that very type.
macro_rules! each_integer {
    ($ty:expr, |$a:ident, $b:ident| $body:expr) => {
        match $ty {
            Type::U16 | Type::B16 => Some(bin(|x: u32, y: u32| {
                let ($a, $b) = (x as u16, y as u16);
                u32::from($body)
            })),
            Type::S16 => Some(bin(|x: u32, y: u32| {
                let ($a, $b) = (x as i16, y as i16);
                u32::from(($body) as u16)
            })),
            Type::U32 | Type::B32 => Some(bin(|$a: u32, $b: u32| $body)),
            Type::S32 => Some(bin(|x: u32, y: u32| {
                let ($a, $b) = (x as i32, y as i32);
                ($body) as u32
            })),
            Type::U64 | Type::B64 => Some(bin(|$a: u64, $b: u64| $body)),
            Type::S64 => Some(bin(|x: u64, y: u64| {
                let ($a, $b) = (x as i64, y as i64);
                ($body) as u64
            })),
            _ => None,
        }
    };
}

fn is_integer(ty: Type) -> bool {
    use Type::{B16, B32, B64, S16, S32, S64, U16, U32, U64};
    matches!(ty, U16 | S16 | B16 | U32 | S32 | B32 | U64 | S64 | B64)
}

pub(super) fn add(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if let Some(done) = video::pairs(d, m) {
        return done;
    }
    if m.take("cc") {
        return carry_form(d, m, CarryOp::Add, false, true);
    }
    let ty = m.last_type()?;
    if !is_integer(ty) {
        return float::add(d, m, ty, false);
    }
    let run = if m.take("sat") {
        (ty == Type::S32).then(|| bin(|a: u32, b: u32| (a as i32).saturating_add(b as i32) as u32))
    } else {
        each_integer!(ty, |a, b| a.wrapping_add(b))
    };
    m.finish()?;
    d.binary(run, ty, m)
}

pub(super) fn subtract(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.take("cc") {
        return carry_form(d, m, CarryOp::Sub, false, true);
    }
    let ty = m.last_type()?;
    if !is_integer(ty) {
        return float::add(d, m, ty, true);
    }
    let run = if m.take("sat") {
        (ty == Type::S32).then(|| bin(|a: u32, b: u32| (a as i32).saturating_sub(b as i32) as u32))
    } else {
        each_integer!(ty, |a, b| a.wrapping_sub(b))
    };
    m.finish()?;
    d.binary(run, ty, m)
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Low,
    High,
    Wide,
}

const PARTS: [(&str, Part); 3] = [("lo", Part::Low), ("hi", Part::High), ("wide", Part::Wide)];

pub(super) fn multiply(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    if !is_integer(ty) {
        return float::multiply(d, m, ty);
    }
    let part = m.take_one(&PARTS).ok_or_else(|| m.unsupported())?;
    m.finish()?;
    let (run, to) = product(part, ty).ok_or_else(|| m.unsupported())?;
    let (a, b) = (d.source(1, ty)?, d.source(2, ty)?);
    d.destination(0, to, |d, dst| d.lane(run, dst, &[a, b]))
}

/// `mul24` and `mad24`: the lower or the upper 32 of the 48 bits that the lower 24 bits make.
pub(super) fn multiply_24(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let part = m.take_one(&PARTS).ok_or_else(|| m.unsupported())?;
    let saturate = m.take("sat");
    m.finish()?;
    let run = match (ty, part) {
        (Type::U32, Part::Low) => bin(|a: u32, b: u32| product_u24(a, b) as u32),
        (Type::U32, Part::High) => bin(|a: u32, b: u32| (product_u24(a, b) >> 16) as u32),
        (Type::S32, Part::Low) => bin(|a: u32, b: u32| product_s24(a, b) as u32),
        (Type::S32, Part::High) => bin(|a: u32, b: u32| (product_s24(a, b) >> 16) as u32),
        _ => return Err(m.unsupported()),
    };
    let adds = m.base() == "mad24";
    if saturate && !(adds && (ty, part) == (Type::S32, Part::High)) {
        return Err(m.unsupported());
    }
    if !adds {
        return d.binary(Some(run), ty, m);
    }
    let sum = if saturate {
        bin(|a: u32, b: u32| (a as i32).saturating_add(b as i32) as u32)
    } else {
        bin(|a: u32, b: u32| a.wrapping_add(b))
    };
    let (a, b, c) = (d.source(1, ty)?, d.source(2, ty)?, d.source(3, ty)?);
    d.destination(0, ty, |d, dst| {
        let whole = d.temporary(false);
        d.lane(run, whole, &[a, b]);
        d.lane(sum, dst, &[whole, c]);
    })
}

#[inline(always)]
fn product_u24(a: u32, b: u32) -> u64 {
    u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
}

#[inline(always)]
fn product_s24(a: u32, b: u32) -> i64 {
    let one = |a: u32| i64::from((a << 8) as i32 >> 8);
    one(a) * one(b)
}

pub(super) fn multiply_add(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.take("cc") {
        let part = m.take_one(&PARTS).ok_or_else(|| m.unsupported())?;
        return carry_product(d, m, part, false, true);
    }
    let ty = m.last_type()?;
    if !is_integer(ty) {
        return float::fused_of(d, m, ty);
    }
    let part = m.take_one(&PARTS).ok_or_else(|| m.unsupported())?;
    let saturate = m.take("sat");
    m.finish()?;
    if saturate && (part, ty) != (Part::High, Type::S32) {
        return Err(m.unsupported());
    }
    if let Some(run) = fused_low(part, ty) {
        let to = if part == Part::Wide { Type::B64 } else { ty };
        let (a, b, c) = (d.source(1, ty)?, d.source(2, ty)?, d.source(3, to)?);
        return d.destination(0, to, |d, dst| d.lane(run, dst, &[a, b, c]));
    }
    let (run, to) = product(part, ty).ok_or_else(|| m.unsupported())?;
    let sum = if saturate {
        Some(bin(|a: u32, b: u32| {
            (a as i32).saturating_add(b as i32) as u32
        }))
    } else {
        each_integer!(to, |a, b| a.wrapping_add(b))
    };
    let sum = sum.ok_or_else(|| m.unsupported())?;
    let (a, b, c) = (d.source(1, ty)?, d.source(2, ty)?, d.source(3, to)?);
    d.destination(0, to, |d, dst| {
        let whole = d.temporary(to.bytes() == 8);
        d.lane(run, whole, &[a, b]);
        d.lane(sum, dst, &[whole, c]);
    })
}

/// The frequent forms in one step.
fn fused_low(part: Part, ty: Type) -> Option<LaneFn> {
    Some(match (part, ty) {
        (Part::Low, Type::U32 | Type::S32 | Type::B32) => {
            ter(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c))
        }
        (Part::Low, Type::U64 | Type::S64 | Type::B64) => {
            ter(|a: u64, b: u64, c: u64| a.wrapping_mul(b).wrapping_add(c))
        }
        (Part::Wide, Type::U32) => {
            ter(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))
        }
        (Part::Wide, Type::S32) => ter(|a: u32, b: u32, c: u64| {
            (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
        }),
        _ => return None,
    })
}

fn product(part: Part, ty: Type) -> Option<(LaneFn, Type)> {
    let run = match (part, ty) {
        (Part::Low, _) => return each_integer!(ty, |a, b| a.wrapping_mul(b)).map(|run| (run, ty)),
        (Part::High, Type::U16) => bin(|a: u32, b: u32| a.wrapping_mul(b) >> 16),
        (Part::High, Type::S16) => bin(|a: u32, b: u32| {
            let product = i32::from(a as i16) * i32::from(b as i16);
            (product >> 16) as u32 & 0xffff
        }),
        (Part::High, Type::U32) => {
            bin(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32)
        }
        (Part::High, Type::S32) => {
            bin(|a: u32, b: u32| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
        }
        (Part::High, Type::U64) => {
            bin(|a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64)
        }
        (Part::High, Type::S64) => {
            bin(|a: u64, b: u64| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64)
        }
        (Part::Wide, Type::U16) => {
            let run = bin(|a: u32, b: u32| (a & 0xffff).wrapping_mul(b & 0xffff));
            return Some((run, Type::U32));
        }
        (Part::Wide, Type::S16) => {
            let run = bin(|a: u32, b: u32| (i32::from(a as i16) * i32::from(b as i16)) as u32);
            return Some((run, Type::S32));
        }
        (Part::Wide, Type::U32) => {
            return Some((bin(|a: u32, b: u32| u64::from(a) * u64::from(b)), Type::U64));
        }
        (Part::Wide, Type::S32) => {
            let run = bin(|a: u32, b: u32| (i64::from(a as i32) * i64::from(b as i32)) as u64);
            return Some((run, Type::S64));
        }
        _ => return None,
    };
    Some((run, ty))
}

/// Integer quotient; the hardware gives all ones for a division by zero.
pub(super) fn quotient(ty: Type) -> Option<LaneFn> {
    each_integer!(ty, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) })
}

pub(super) fn remainder(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = each_integer!(ty, |a, b| if b == 0 { !0 } else { a.wrapping_rem(b) });
    d.binary(run, ty, m)
}

/// `min` and `max` of integers.
pub(super) fn extreme(least: bool, ty: Type) -> Option<LaneFn> {
    if least {
        each_integer!(ty, |a, b| a.min(b))
    } else {
        each_integer!(ty, |a, b| a.max(b))
    }
}

pub(super) fn absolute(ty: Type) -> Option<LaneFn> {
    Some(match ty {
        Type::S16 => un(|a: u32| u32::from((a as i16).wrapping_abs() as u16)),
        Type::S32 => un(|a: u32| (a as i32).wrapping_abs() as u32),
        Type::S64 => un(|a: u64| (a as i64).wrapping_abs() as u64),
        _ => return None,
    })
}

pub(super) fn negate(ty: Type) -> Option<LaneFn> {
    Some(match ty {
        Type::S16 => un(|a: u32| a.wrapping_neg() & 0xffff),
        Type::S32 => un(|a: u32| a.wrapping_neg()),
        Type::S64 => un(|a: u64| a.wrapping_neg()),
        _ => return None,
    })
}

pub(super) fn absolute_difference(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = match ty {
        Type::U16 => ter(|a: u32, b: u32, c: u32| {
            u32::from((a as u16).abs_diff(b as u16).wrapping_add(c as u16))
        }),
        Type::S16 => ter(|a: u32, b: u32, c: u32| {
            u32::from((a as i16).abs_diff(b as i16).wrapping_add(c as u16))
        }),
        Type::U32 => ter(|a: u32, b: u32, c: u32| a.abs_diff(b).wrapping_add(c)),
        Type::S32 => ter(|a: u32, b: u32, c: u32| (a as i32).abs_diff(b as i32).wrapping_add(c)),
        Type::U64 => ter(|a: u64, b: u64, c: u64| a.abs_diff(b).wrapping_add(c)),
        Type::S64 => ter(|a: u64, b: u64, c: u64| (a as i64).abs_diff(b as i64).wrapping_add(c)),
        _ => return Err(m.unsupported()),
    };
    d.ternary(Some(run), ty, m)
}

/// `dp4a` and `dp2a`: products of packed bytes, added to a 32-bit sum.
pub(super) fn dot(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let high = m.take("hi");
    let low = m.take("lo");
    let right = m.last_type()?;
    let left = m.last_type()?;
    m.finish()?;
    let four = m.base() == "dp4a";
    if four && (high || low) || !four && high == low {
        return Err(m.unsupported());
    }
    let signed = |ty| match ty {
        Type::S32 => Some(true),
        Type::U32 => Some(false),
        _ => None,
    };
    let (Some(left), Some(right)) = (signed(left), signed(right)) else {
        return Err(m.unsupported());
    };
    let run = match (left, right, four) {
        (true, true, true) => ter(dot4::<true, true>),
        (true, false, true) => ter(dot4::<true, false>),
        (false, true, true) => ter(dot4::<false, true>),
        (false, false, true) => ter(dot4::<false, false>),
        (true, true, false) => ter(dot2::<true, true>),
        (true, false, false) => ter(dot2::<true, false>),
        (false, true, false) => ter(dot2::<false, true>),
        (false, false, false) => ter(dot2::<false, false>),
    };
    let (a, mut b, c) = (
        d.source(1, Type::B32)?,
        d.source(2, Type::B32)?,
        d.source(3, Type::B32)?,
    );
    if high {
        let shifted = d.temporary(false);
        d.lane(un(|b: u32| b >> 16), shifted, &[b]);
        b = shifted;
    }
    d.destination(0, Type::B32, |d, dst| d.lane(run, dst, &[a, b, c]))
}

fn byte<const SIGNED: bool>(word: u32, at: u32) -> i32 {
    let byte = (word >> (8 * at)) as u8;
    if SIGNED {
        i32::from(byte as i8)
    } else {
        i32::from(byte)
    }
}

fn dot4<const LEFT: bool, const RIGHT: bool>(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, at| {
        sum.wrapping_add((byte::<LEFT>(a, at) * byte::<RIGHT>(b, at)) as u32)
    })
}

fn dot2<const LEFT: bool, const RIGHT: bool>(a: u32, b: u32, c: u32) -> u32 {
    (0..2).fold(c, |sum, at| {
        let half = (a >> (16 * at)) as u16;
        let half = if LEFT {
            i32::from(half as i16)
        } else {
            i32::from(half)
        };
        sum.wrapping_add(half.wrapping_mul(byte::<RIGHT>(b, at)) as u32)
    })
}

/// `addc`, `subc` and `madc`, with or without `.cc`.
pub(super) fn carry(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let sets = m.take("cc");
    match m.base() {
        "addc" => carry_form(d, m, CarryOp::Add, true, sets),
        "subc" => carry_form(d, m, CarryOp::Sub, true, sets),
        _ => {
            let part = m.take_one(&PARTS).ok_or_else(|| m.unsupported())?;
            carry_product(d, m, part, true, sets)
        }
    }
}

fn carry_product(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    part: Part,
    takes: bool,
    sets: bool,
) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let signed = ty.is_signed();
    let op = match part {
        Part::Low => CarryOp::MulLow { signed },
        Part::High => CarryOp::MulHigh { signed },
        Part::Wide => return Err(m.unsupported()),
    };
    carry_of(d, m, op, ty, takes, sets)
}

fn carry_form(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    op: CarryOp,
    takes: bool,
    sets: bool,
) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    carry_of(d, m, op, ty, takes, sets)
}

fn carry_of(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    op: CarryOp,
    ty: Type,
    takes: bool,
    sets: bool,
) -> Result<(), LoadError> {
    m.finish()?;
    if !is_integer(ty) || ty.bytes() < 4 {
        return Err(m.unsupported());
    }
    let (a, b) = (d.source(1, ty)?, d.source(2, ty)?);
    let third = matches!(op, CarryOp::MulLow { .. } | CarryOp::MulHigh { .. });
    let c = if third { d.source(3, ty)? } else { a };
    let flag = d.carry_flag;
    d.destination(0, ty, |d, dst| {
        d.emit(Kind::Carry(Carry {
            op,
            dst,
            src: [a, b, c],
            flag,
            takes,
            sets,
        }));
    })
}

impl Decoder<'_> {
    /// Emits a two-operand operation of one type, or fails if there is none.
    pub(super) fn binary(
        &mut self,
        run: Option<LaneFn>,
        ty: Type,
        m: &Modifiers<'_>,
    ) -> Result<(), LoadError> {
        let run = run.ok_or_else(|| m.unsupported())?;
        let flop = std::mem::take(&mut self.flop);
        let (a, b) = (self.source(1, ty)?, self.source(2, ty)?);
        self.destination(0, ty, |d, dst| {
            d.flop = flop;
            d.lane(run, dst, &[a, b]);
        })
    }

    /// As [`Decoder::binary`], of one operand.
    pub(super) fn unary(
        &mut self,
        run: Option<LaneFn>,
        ty: Type,
        m: &Modifiers<'_>,
    ) -> Result<(), LoadError> {
        let run = run.ok_or_else(|| m.unsupported())?;
        let flop = std::mem::take(&mut self.flop);
        let a = self.source(1, ty)?;
        self.destination(0, ty, |d, dst| {
            d.flop = flop;
            d.lane(run, dst, &[a]);
        })
    }

    /// As [`Decoder::binary`], of three operands.
    pub(super) fn ternary(
        &mut self,
        run: Option<LaneFn>,
        ty: Type,
        m: &Modifiers<'_>,
    ) -> Result<(), LoadError> {
        let run = run.ok_or_else(|| m.unsupported())?;
        let flop = std::mem::take(&mut self.flop);
        let (a, b, c) = (
            self.source(1, ty)?,
            self.source(2, ty)?,
            self.source(3, ty)?,
        );
        self.destination(0, ty, |d, dst| {
            d.flop = flop;
            d.lane(run, dst, &[a, b, c]);
        })
    }
}
