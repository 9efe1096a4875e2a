//! Logic, shifts, bit fields, selection.

use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::{LaneFn, bin, ter, un};
use crate::numerics::single;
use crate::program::{Kind, Logic, Predicate};
use crate::syntax::Type;

/// One-, two- or three-operand closures for the 16-, 32- and 64-bit untyped forms.
macro_rules! each_width {
    ($ty:expr, |$($x:ident),+| $make:ident $body:expr) => {
        match $ty.bytes() {
            2 => Some($make(|$($x: u32),+| ($body) & 0xffff)),
            4 => Some($make(|$($x: u32),+| $body)),
            8 => Some($make(|$($x: u64),+| $body)),
            _ => None,
        }
    };
}

pub(super) fn logic(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    if ty == Type::Pred {
        return predicate_logic(d, m);
    }
    if !matches!(ty, Type::B16 | Type::B32 | Type::B64) {
        return Err(m.unsupported());
    }
    if m.base() == "not" {
        return d.unary(each_width!(ty, |a| un !a), ty, m);
    }
    let run = match m.base() {
        "and" => each_width!(ty, |a, b| bin a & b),
        "or" => each_width!(ty, |a, b| bin a | b),
        _ => each_width!(ty, |a, b| bin a ^ b),
    };
    d.binary(run, ty, m)
}

fn predicate_logic(d: &mut Decoder<'_>, m: &Modifiers<'_>) -> Result<(), LoadError> {
    let dst = d.predicate_destination(d.operand(0)?)?;
    let mut a = d.predicate(1)?;
    let (op, b) = match m.base() {
        "not" => {
            a.negated = !a.negated;
            (Logic::First, Predicate::default())
        }
        "and" => (Logic::And, d.predicate(2)?),
        "or" => (Logic::Or, d.predicate(2)?),
        _ => (Logic::Xor, d.predicate(2)?),
    };
    d.emit(Kind::Logic { dst, op, a, b });
    Ok(())
}

pub(super) fn logical_not(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = match ty {
        Type::B16 | Type::B32 => Some(un(|a: u32| u32::from(a == 0))),
        Type::B64 => Some(un(|a: u64| u64::from(a == 0))),
        _ => None,
    };
    d.unary(run, ty, m)
}

/// Shift counts beyond the width clamp to it.
pub(super) fn shift(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let left = m.base() == "shl";
    let run = match (left, ty) {
        (true, Type::B16) => bin(|a: u32, n: u32| if n > 15 { 0 } else { a << n & 0xffff }),
        (true, Type::B32) => bin(|a: u32, n: u32| if n > 31 { 0 } else { a << n }),
        (true, Type::B64) => bin(|a: u64, n: u32| if n > 63 { 0 } else { a << n }),
        (false, Type::U16 | Type::B16) => bin(|a: u32, n: u32| if n > 15 { 0 } else { a >> n }),
        (false, Type::U32 | Type::B32) => bin(|a: u32, n: u32| if n > 31 { 0 } else { a >> n }),
        (false, Type::U64 | Type::B64) => bin(|a: u64, n: u32| if n > 63 { 0 } else { a >> n }),
        (false, Type::S16) => bin(|a: u32, n: u32| u32::from((a as i16 >> n.min(15)) as u16)),
        (false, Type::S32) => bin(|a: u32, n: u32| (a as i32 >> n.min(31)) as u32),
        (false, Type::S64) => bin(|a: u64, n: u32| (a as i64 >> n.min(63)) as u64),
        _ => return Err(m.unsupported()),
    };
    let (a, n) = (d.source(1, ty)?, d.source(2, Type::U32)?);
    d.destination(0, ty, |d, dst| d.lane(run, dst, &[a, n]))
}

/// `shf.l` and `shf.r` of a 64-bit pair.
pub(super) fn funnel(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let left = m
        .take_one(&[("l", true), ("r", false)])
        .ok_or_else(|| m.unsupported())?;
    let wrap = m
        .take_one(&[("wrap", true), ("clamp", false)])
        .ok_or_else(|| m.unsupported())?;
    let ty = m.last_type()?;
    m.finish()?;
    if ty != Type::B32 {
        return Err(m.unsupported());
    }
    let run = match (left, wrap) {
        (true, true) => ter(|a: u32, b: u32, n: u32| {
            ((u64::from(b) << 32 | u64::from(a)) << (n & 31) >> 32) as u32
        }),
        (true, false) => ter(|a: u32, b: u32, n: u32| {
            ((u64::from(b) << 32 | u64::from(a)) << n.min(32) >> 32) as u32
        }),
        (false, true) => {
            ter(|a: u32, b: u32, n: u32| ((u64::from(b) << 32 | u64::from(a)) >> (n & 31)) as u32)
        }
        (false, false) => {
            ter(|a: u32, b: u32, n: u32| ((u64::from(b) << 32 | u64::from(a)) >> n.min(32)) as u32)
        }
    };
    d.ternary(Some(run), Type::B32, m)
}

pub(super) fn population(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    count(
        d,
        m,
        un(|a: u32| a.count_ones()),
        un(|a: u64| a.count_ones()),
    )
}

pub(super) fn leading_zeros(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    count(
        d,
        m,
        un(|a: u32| a.leading_zeros()),
        un(|a: u64| a.leading_zeros()),
    )
}

fn count(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    narrow: LaneFn,
    wide: LaneFn,
) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = match ty {
        Type::B32 => narrow,
        Type::B64 => wide,
        _ => return Err(m.unsupported()),
    };
    let a = d.source(1, ty)?;
    d.destination(0, Type::U32, |d, dst| d.lane(run, dst, &[a]))
}

pub(super) fn reverse(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = match ty {
        Type::B32 => Some(un(|a: u32| a.reverse_bits())),
        Type::B64 => Some(un(|a: u64| a.reverse_bits())),
        _ => None,
    };
    d.unary(run, ty, m)
}

/// `bfind`: position of the highest significant bit, or the shift that brings it to the top.
pub(super) fn find(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let shift = m.take("shiftamt");
    m.finish()?;
    let run = match (ty, shift) {
        (Type::U32, false) => un(|a: u32| 31u32.wrapping_sub(a.leading_zeros())),
        (Type::U32, true) => un(|a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (Type::S32, false) => un(|a: u32| 31u32.wrapping_sub(significant(a).leading_zeros())),
        (Type::S32, true) => un(|a: u32| {
            let a = significant(a);
            if a == 0 { u32::MAX } else { a.leading_zeros() }
        }),
        (Type::U64, false) => un(|a: u64| 63u32.wrapping_sub(a.leading_zeros())),
        (Type::U64, true) => un(|a: u64| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (Type::S64, false) => {
            un(|a: u64| 63u32.wrapping_sub((a ^ (a as i64 >> 63) as u64).leading_zeros()))
        }
        (Type::S64, true) => un(|a: u64| {
            let a = a ^ (a as i64 >> 63) as u64;
            if a == 0 { u32::MAX } else { a.leading_zeros() }
        }),
        _ => return Err(m.unsupported()),
    };
    let a = d.source(1, ty)?;
    d.destination(0, Type::U32, |d, dst| d.lane(run, dst, &[a]))
}

/// The bits of a signed value that differ from its sign.
fn significant(a: u32) -> u32 {
    a ^ (a as i32 >> 31) as u32
}

pub(super) fn field_extract(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = match ty {
        Type::U32 => ter(|a: u32, at: u32, n: u32| extract(u64::from(a), at, n, false, 32) as u32),
        Type::S32 => ter(|a: u32, at: u32, n: u32| extract(u64::from(a), at, n, true, 32) as u32),
        Type::U64 => ter(|a: u64, at: u32, n: u32| extract(a, at, n, false, 64)),
        Type::S64 => ter(|a: u64, at: u32, n: u32| extract(a, at, n, true, 64)),
        _ => return Err(m.unsupported()),
    };
    let (a, at, n) = (
        d.source(1, ty)?,
        d.source(2, Type::U32)?,
        d.source(3, Type::U32)?,
    );
    d.destination(0, ty, |d, dst| d.lane(run, dst, &[a, at, n]))
}

/// Bits `at..at + n`; a signed field repeats its top bit, which past the end is the value's own.
fn extract(a: u64, at: u32, n: u32, signed: bool, width: u32) -> u64 {
    let (at, n) = (at & 0xff, n & 0xff);
    if n == 0 {
        return 0;
    }
    let top = (at + n - 1).min(width - 1);
    let fill = signed && a >> top & 1 != 0;
    let field = if at >= width { 0 } else { a >> at };
    let kept = n.min(width.saturating_sub(at));
    let mask = if kept >= 64 {
        u64::MAX
    } else {
        (1 << kept) - 1
    };
    (field & mask) | if fill { !mask } else { 0 }
}

pub(super) fn field_insert(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    if !matches!(ty, Type::B32 | Type::B64) {
        return Err(m.unsupported());
    }
    // Two steps: the field's mask, then the merge of both words under it.
    let (a, b) = (d.source(1, ty)?, d.source(2, ty)?);
    let (at, n) = (d.source(3, Type::U32)?, d.source(4, Type::U32)?);
    let wide = ty == Type::B64;
    let (mask, moved) = (d.temporary(wide), d.temporary(wide));
    if wide {
        d.lane(bin(|at: u32, n: u32| field_mask(at, n, 64)), mask, &[at, n]);
        d.lane(bin(|a: u64, at: u32| shifted(a, at)), moved, &[a, at]);
        let merge = ter(|f: u64, b: u64, mask: u64| (f & mask) | (b & !mask));
        d.destination(0, ty, |d, dst| d.lane(merge, dst, &[moved, b, mask]))
    } else {
        d.lane(
            bin(|at: u32, n: u32| field_mask(at, n, 32) as u32),
            mask,
            &[at, n],
        );
        d.lane(
            bin(|a: u32, at: u32| shifted(u64::from(a), at) as u32),
            moved,
            &[a, at],
        );
        let merge = ter(|f: u32, b: u32, mask: u32| (f & mask) | (b & !mask));
        d.destination(0, ty, |d, dst| d.lane(merge, dst, &[moved, b, mask]))
    }
}

fn shifted(a: u64, at: u32) -> u64 {
    let at = at & 0xff;
    if at > 63 { 0 } else { a << at }
}

/// Bits `at..at + n` of a word.
fn field_mask(at: u32, n: u32, width: u32) -> u64 {
    let (at, n) = (at & 0xff, n & 0xff);
    if at >= width {
        return 0;
    }
    let n = n.min(width - at);
    let ones = if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    ones << at
}

pub(super) fn mask(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let wrap = m
        .take_one(&[("wrap", true), ("clamp", false)])
        .ok_or_else(|| m.unsupported())?;
    let ty = m.last_type()?;
    m.finish()?;
    let run = match (ty, wrap) {
        (Type::B32, true) => bin(|at: u32, n: u32| field_mask(at & 31, n & 31, 32) as u32),
        (Type::B32, false) => bin(|at: u32, n: u32| field_mask(at.min(255), n.min(32), 32) as u32),
        _ => return Err(m.unsupported()),
    };
    d.binary(Some(run), ty, m)
}

/// `fns d, mask, base, offset`: where the set bit of that number lies, counted from `base` upward, or downward for
/// a negative number; for number zero `base` itself, if it is set. All ones where there is none.
pub(super) fn find_nth_set(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = match ty {
        Type::B32 => ter(|mask: u32, base: u32, number: u32| nth_set(mask, base, number as i32)),
        _ => return Err(m.unsupported()),
    };
    d.ternary(Some(run), ty, m)
}

fn nth_set(mask: u32, base: u32, number: i32) -> u32 {
    let is_set = |at: &u32| mask >> at & 1 != 0;
    let wanted = number.unsigned_abs().saturating_sub(1) as usize;
    let found = match number {
        0 => Some(base).filter(|&at| at < 32 && is_set(&at)),
        1.. => (base..32).filter(is_set).nth(wanted),
        _ if base < 32 => (0..=base).rev().filter(is_set).nth(wanted),
        _ => None,
    };
    found.unwrap_or(u32::MAX)
}

/// `szext`: keeps the low bits of a value, zero- or sign-extended.
pub(super) fn extend(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let wrap = m
        .take_one(&[("wrap", true), ("clamp", false)])
        .ok_or_else(|| m.unsupported())?;
    let ty = m.last_type()?;
    m.finish()?;
    let run = match (ty, wrap) {
        (Type::U32, true) => {
            bin(|a: u32, n: u32| extract(u64::from(a), 0, n & 31, false, 32) as u32)
        }
        (Type::S32, true) => {
            bin(|a: u32, n: u32| extract(u64::from(a), 0, n & 31, true, 32) as u32)
        }
        (Type::U32, false) => {
            bin(|a: u32, n: u32| extract(u64::from(a), 0, n.min(32), false, 32) as u32)
        }
        (Type::S32, false) => {
            bin(|a: u32, n: u32| extract(u64::from(a), 0, n.min(32), true, 32) as u32)
        }
        _ => return Err(m.unsupported()),
    };
    d.binary(Some(run), ty, m)
}

/// `lop3`: any function of three bits, by its truth table.
pub(super) fn three_input(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let table = match d.operand(4)? {
        crate::syntax::Operand::Integer(table) if ty == Type::B32 => *table as u32 & 0xff,
        _ => return Err(m.unsupported()),
    };
    let (a, b, c) = (d.source(1, ty)?, d.source(2, ty)?, d.source(3, ty)?);
    // Shannon's expansion over `a`: each half of the table is a function of `b` and `c`, and the
    // halves' masks are constants.
    let word = |bit: u32| {
        if table >> bit & 1 != 0 {
            u64::from(u32::MAX)
        } else {
            0
        }
    };
    let mut halves = [a; 2];
    for (half, slot) in halves.iter_mut().enumerate() {
        let base = 4 * half as u32;
        let mut quarters = [a; 2];
        for (quarter, slot) in quarters.iter_mut().enumerate() {
            let base = base + 2 * quarter as u32;
            let (zero, one) = (
                d.constant(false, word(base)),
                d.constant(false, word(base + 1)),
            );
            *slot = d.temporary(false);
            let choose = ter(|c: u32, one: u32, zero: u32| (c & one) | (!c & zero));
            d.lane(choose, *slot, &[c, one, zero]);
        }
        *slot = d.temporary(false);
        let choose = ter(|b: u32, one: u32, zero: u32| (b & one) | (!b & zero));
        d.lane(choose, *slot, &[b, quarters[1], quarters[0]]);
    }
    let choose = ter(|a: u32, one: u32, zero: u32| (a & one) | (!a & zero));
    d.destination(0, ty, |d, dst| {
        d.lane(choose, dst, &[a, halves[1], halves[0]]);
    })
}

/// `prmt`: picks four bytes out of eight.
pub(super) fn permute(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    // The mode follows the type.
    let modes = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"].map(|mode| (mode, mode));
    let mode = m.take_one(&modes);
    let ty = m.last_type()?;
    if ty != Type::B32 {
        return Err(m.unsupported());
    }
    let run = match mode {
        None => ter(|a: u32, b: u32, s: u32| {
            let bytes = u64::from(b) << 32 | u64::from(a);
            (0..4).fold(0, |out, at| {
                let pick = s >> (4 * at);
                let byte = (bytes >> (8 * (pick & 7))) as u8;
                let byte = if pick & 8 != 0 {
                    (byte as i8 >> 7) as u8
                } else {
                    byte
                };
                out | u32::from(byte) << (8 * at)
            })
        }),
        Some("f4e") => ter(|a: u32, b: u32, s: u32| gather(a, b, [0, 1, 2, 3], s & 3)),
        Some("b4e") => ter(|a: u32, b: u32, s: u32| gather(a, b, [0, 7, 6, 5], s & 3)),
        Some("rc8") => ter(|a: u32, b: u32, s: u32| gather(a, b, [0, 0, 0, 0], s & 3)),
        Some("ecl") => ter(|a: u32, b: u32, s: u32| {
            let s = s & 3;
            [0, 1, 2, 3].iter().fold(0, |out, &at| {
                out | (gather(a, b, [at.max(s), 0, 0, 0], 0) & 0xff) << (8 * at)
            })
        }),
        Some("ecr") => ter(|a: u32, b: u32, s: u32| {
            let s = s & 3;
            [0, 1, 2, 3].iter().fold(0, |out, &at| {
                out | (gather(a, b, [at.min(s), 0, 0, 0], 0) & 0xff) << (8 * at)
            })
        }),
        Some("rc16") => ter(|a: u32, b: u32, s: u32| gather(a, b, [0, 1, 0, 1], 2 * (s & 1))),
        Some(_) => return Err(m.unsupported()),
    };
    m.finish()?;
    d.ternary(Some(run), ty, m)
}

/// Bytes `(at + shift) mod 8` of the pair.
fn gather(a: u32, b: u32, at: [u32; 4], shift: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    at.iter().enumerate().fold(0, |out, (to, from)| {
        out | ((bytes >> (8 * ((from + shift) & 7))) as u32 & 0xff) << (8 * to)
    })
}

pub(super) fn select(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    if ty == Type::Pred || ty.bytes() < 2 {
        return Err(m.unsupported());
    }
    let (a, b) = (d.source(1, ty)?, d.source(2, ty)?);
    let by = d.predicate(3)?;
    d.destination(0, ty, |d, dst| d.emit(Kind::Select { dst, a, b, by }))
}

/// `slct`: the first operand where the third is not negative.
pub(super) fn select_by_sign(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let flush = m.take("ftz");
    let by = m.last_type()?;
    let ty = m.last_type()?;
    m.finish()?;
    if flush && by != Type::F32 {
        return Err(m.unsupported());
    }
    let run = match (ty.bytes(), by) {
        (4, Type::S32) => ter(|a: u32, b: u32, c: u32| if c as i32 >= 0 { a } else { b }),
        (8, Type::S32) => ter(|a: u64, b: u64, c: u32| if c as i32 >= 0 { a } else { b }),
        (4, Type::F32) => {
            ter(|a: u32, b: u32, c: u32| if f32::from_bits(c) >= 0.0 { a } else { b })
        }
        (8, Type::F32) => {
            ter(|a: u64, b: u64, c: u32| if f32::from_bits(c) >= 0.0 { a } else { b })
        }
        _ => return Err(m.unsupported()),
    };
    let (a, b, mut c) = (d.source(1, ty)?, d.source(2, ty)?, d.source(3, by)?);
    if flush {
        let flushed = d.temporary(false);
        d.lane(un(|a: u32| single::flush(a)), flushed, &[c]);
        c = flushed;
    }
    d.destination(0, ty, |d, dst| d.lane(run, dst, &[a, b, c]))
}

#[cfg(test)]
mod tests {
    use super::{extract, field_mask, gather};

    #[test]
    fn fields() {
        assert_eq!(extract(0xabcd, 4, 8, false, 32), 0xbc);
        assert_eq!(extract(0xabcd, 4, 8, true, 32) as u32, 0xffff_ffbc);
        assert_eq!(extract(0x8000_0000, 28, 16, true, 32) as u32, 0xffff_fff8);
        assert_eq!(extract(5, 3, 0, true, 32), 0);
        assert_eq!(extract(0x8000_0000, 40, 4, true, 32) as u32, u32::MAX);
        assert_eq!(field_mask(4, 8, 32), 0xff0);
        assert_eq!(field_mask(28, 8, 32), 0xf000_0000);
        assert_eq!(field_mask(0, 64, 64), u64::MAX);
    }

    #[test]
    fn byte_gathers_wrap_over_both_words() {
        assert_eq!(
            gather(0x3322_1100, 0x7766_5544, [0, 1, 2, 3], 2),
            0x5544_3322
        );
        assert_eq!(
            gather(0x3322_1100, 0x7766_5544, [0, 7, 6, 5], 0),
            0x5566_7700
        );
    }
}
