//! `cvt`: between integers, floats and packed pairs.

use super::packed::{eight_bits, pack, pair_of_singles};
use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::{LaneFn, Slot, un};
use crate::numerics::half::{Bf16, F16, Half, narrow_double, relu};
use crate::numerics::{
    DOWN, NEAREST, Rounding, UP, ZERO, convert as numeric, double, exact, single,
};
use crate::syntax::Type;

/// Instantiates an expression for each rounding mode.
macro_rules! modes {
    ($mode:expr, $m:ident => $e:expr) => {
        match $mode {
            Rounding::Nearest => {
                const $m: u8 = NEAREST;
                $e
            }
            Rounding::Zero => {
                const $m: u8 = ZERO;
                $e
            }
            Rounding::Down => {
                const $m: u8 = DOWN;
                $e
            }
            Rounding::Up => {
                const $m: u8 = UP;
                $e
            }
        }
    };
}

/// What a `cvt` states besides its types.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// `.rn` and its kin.
    pub(super) round: Option<Rounding>,
    /// `.rni` and its kin.
    pub(super) integral: Option<Rounding>,
    pub(super) ftz: bool,
    pub(super) sat: bool,
    pub(super) relu: bool,
    pub(super) satfinite: bool,
}

pub(super) fn convert(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if m.take("pack") {
        return pack(d, m);
    }
    if m.take("tf32") {
        return super::tensor::to_tf32(d, m);
    }
    let form = Form {
        round: m.rounding(),
        integral: m.integral_rounding(),
        ftz: m.take("ftz"),
        sat: m.take("sat"),
        relu: m.take("relu"),
        satfinite: m.take("satfinite"),
    };
    let eight = ["e4m3x2", "e5m2x2"];
    if let Some(at) = m.take_one(&[(eight[0], 0), (eight[1], 1)]) {
        return eight_bits(d, m, form, at == 0);
    }
    let from = m.last_type()?;
    let to = m.last_type()?;
    m.finish()?;
    if matches!(to, Type::F16x2 | Type::Bf16x2) {
        return pair_of_singles(d, m, form, to, from);
    }
    if form.satfinite {
        return Err(m.unsupported());
    }
    match (class(from), class(to)) {
        (Class::Integer, Class::Integer) => integers(d, m, form, from, to),
        (Class::Integer, Class::Float) => to_float(d, m, form, from, to),
        (Class::Float, Class::Integer) => to_integer(d, m, form, from, to),
        (Class::Float, Class::Float) => floats(d, m, form, from, to),
        _ => Err(m.unsupported()),
    }
}

#[derive(PartialEq)]
enum Class {
    Integer,
    Float,
    Other,
}

fn class(ty: Type) -> Class {
    match ty {
        Type::U8
        | Type::S8
        | Type::U16
        | Type::S16
        | Type::U32
        | Type::S32
        | Type::U64
        | Type::S64 => Class::Integer,
        Type::F16 | Type::Bf16 | Type::F32 | Type::F64 => Class::Float,
        _ => Class::Other,
    }
}

/// Extends the low bits of a register to a whole 32-bit value.
fn extend(ty: Type) -> Option<LaneFn> {
    match ty {
        Type::U8 => Some(un(|a: u32| a & 0xff)),
        Type::S8 => Some(un(|a: u32| a as i8 as u32)),
        Type::U16 => Some(un(|a: u32| a & 0xffff)),
        Type::S16 => Some(un(|a: u32| a as i16 as u32)),
        _ => None,
    }
}

impl Decoder<'_> {
    /// The converted operand as a full 32- or 64-bit value of its type.
    fn full_source(&mut self, ty: Type) -> Result<Slot, LoadError> {
        let read = if ty.bytes() < 4 { Type::U32 } else { ty };
        let slot = self.source(1, read)?;
        let Some(run) = extend(ty) else {
            return Ok(slot);
        };
        let full = self.temporary(false);
        self.lane(run, full, &[slot]);
        Ok(full)
    }

    /// Writes a 32-bit value of a type of at most 32 bits into the destination register: extended
    /// to the register's width, upper half zero in a 16-bit one.
    fn store_narrow(&mut self, ty: Type, value: Slot) -> Result<(), LoadError> {
        let to = if ty.is_signed() { Type::S32 } else { Type::U32 };
        let half = match self.operand(0)? {
            crate::syntax::Operand::Register(register) => {
                self.text.registers[*register as usize].bytes() == 2
            }
            _ => false,
        };
        let run = match (half, extend(ty)) {
            (true, _) => match ty {
                Type::S8 => un(|a: u32| a as i8 as u32 & 0xffff),
                Type::U8 => un(|a: u32| a & 0xff),
                _ => un(|a: u32| a & 0xffff),
            },
            (false, Some(run)) => run,
            (false, None) => un(|a: u32| a),
        };
        self.destination(0, to, |d, dst| d.lane(run, dst, &[value]))
    }

    fn simple(&mut self, run: LaneFn, from: Type, to: Type) -> Result<(), LoadError> {
        let a = self.source(1, from)?;
        self.destination(0, to, |d, dst| d.lane(run, dst, &[a]))
    }
}

fn integers(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    form: Form,
    from: Type,
    to: Type,
) -> Result<(), LoadError> {
    if form.round.is_some() || form.integral.is_some() || form.ftz || form.relu {
        return Err(m.unsupported());
    }
    if form.sat {
        return clamped(d, from, to);
    }
    // The frequent forms take one step.
    match (from, to) {
        (Type::U64 | Type::S64, Type::U64 | Type::S64) => {
            return d.simple(un(|a: u64| a), Type::U64, Type::U64);
        }
        (Type::U32, Type::U64 | Type::S64) => {
            return d.simple(un(|a: u32| u64::from(a)), Type::U32, Type::U64);
        }
        (Type::S32, Type::U64 | Type::S64) => {
            return d.simple(un(|a: u32| a as i32 as u64), Type::U32, Type::U64);
        }
        (Type::U64 | Type::S64, Type::U32 | Type::S32) => {
            let a = d.source(1, Type::U64)?;
            return d.destination(0, to, |d, dst| d.lane(un(|a: u64| a as u32), dst, &[a]));
        }
        _ => {}
    }
    let value = d.full_source(from)?;
    if to.bytes() == 8 {
        let run = if from.is_signed() {
            un(|a: u32| a as i32 as u64)
        } else {
            un(|a: u32| u64::from(a))
        };
        return d.destination(0, to, |d, dst| d.lane(run, dst, &[value]));
    }
    let value = if from.bytes() == 8 {
        let low = d.temporary(false);
        d.lane(un(|a: u64| a as u32), low, &[value]);
        low
    } else {
        value
    };
    d.store_narrow(to, value)
}

/// `cvt.sat` between integers.
fn clamped(d: &mut Decoder<'_>, from: Type, to: Type) -> Result<(), LoadError> {
    let value = d.full_source(from)?;
    let wide = if from.bytes() == 8 {
        value
    } else {
        let wide = d.temporary(true);
        let run = if from.is_signed() {
            un(|a: u32| a as i32 as u64)
        } else {
            un(|a: u32| u64::from(a))
        };
        d.lane(run, wide, &[value]);
        wide
    };
    macro_rules! to_type {
        ($t:ty) => {
            if from == Type::U64 {
                un(|a: u64| a.min(<$t>::MAX as u64))
            } else {
                un(
                    |a: u64| {
                        i128::from(a as i64).clamp(<$t>::MIN as i128, <$t>::MAX as i128) as u64
                    },
                )
            }
        };
    }
    let run = match to {
        Type::U8 => to_type!(u8),
        Type::S8 => to_type!(i8),
        Type::U16 => to_type!(u16),
        Type::S16 => to_type!(i16),
        Type::U32 => to_type!(u32),
        Type::S32 => to_type!(i32),
        Type::U64 => to_type!(u64),
        _ => to_type!(i64),
    };
    let clamped = d.temporary(true);
    d.lane(run, clamped, &[wide]);
    if to.bytes() == 8 {
        return d.destination(0, to, |d, dst| d.lane(un(|a: u64| a), dst, &[clamped]));
    }
    let low = d.temporary(false);
    d.lane(un(|a: u64| a as u32), low, &[clamped]);
    d.store_narrow(to, low)
}

fn to_float(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    form: Form,
    from: Type,
    to: Type,
) -> Result<(), LoadError> {
    let mode = form.round.ok_or_else(|| m.unsupported())?;
    if form.integral.is_some() || form.ftz || form.sat || form.relu {
        return Err(m.unsupported());
    }
    let value = d.full_source(from)?;
    let near = mode == Rounding::Nearest;
    let signed = from.is_signed();
    let wide = from.bytes() == 8;
    macro_rules! exactly {
        ($t:ty, $s:ty, $format:expr, $out:ty) => {
            if signed {
                modes!(mode, M => un(|a: $t| numeric::from_integer(a as $s as i128, $format, M) as $out))
            } else {
                modes!(mode, M => un(|a: $t| numeric::from_integer(i128::from(a), $format, M) as $out))
            }
        };
    }
    let run = match (to, wide) {
        (Type::F32, false) if near && signed => un(|a: u32| (a as i32 as f32).to_bits()),
        (Type::F32, false) if near => un(|a: u32| (a as f32).to_bits()),
        (Type::F32, true) if near && signed => un(|a: u64| (a as i64 as f32).to_bits()),
        (Type::F32, true) if near => un(|a: u64| (a as f32).to_bits()),
        (Type::F64, false) if signed => un(|a: u32| f64::from(a as i32).to_bits()),
        (Type::F64, false) => un(|a: u32| f64::from(a).to_bits()),
        (Type::F64, true) if near && signed => un(|a: u64| (a as i64 as f64).to_bits()),
        (Type::F64, true) if near => un(|a: u64| (a as f64).to_bits()),
        (Type::F64, true) => exactly!(u64, i64, exact::F64, u64),
        (Type::F32, false) => exactly!(u32, i32, exact::F32, u32),
        (Type::F32, true) => exactly!(u64, i64, exact::F32, u32),
        (Type::F16, false) => exactly!(u32, i32, exact::F16, u32),
        (Type::F16, true) => exactly!(u64, i64, exact::F16, u32),
        (_, false) => exactly!(u32, i32, exact::BF16, u32),
        (_, true) => exactly!(u64, i64, exact::BF16, u32),
    };
    d.destination(0, to, |d, dst| d.lane(run, dst, &[value]))
}

fn to_integer(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    form: Form,
    from: Type,
    to: Type,
) -> Result<(), LoadError> {
    let mode = form.integral.ok_or_else(|| m.unsupported())?;
    // Conversions to integers clamp with or without `.sat`.
    if form.round.is_some() || form.relu {
        return Err(m.unsupported());
    }
    let a = d.source(1, from)?;
    // A 16-bit source is read as f32, whose conversion is exact.
    let single = match from {
        Type::F16 => Some(un(|a: u32| F16::widen(a as u16).to_bits())),
        Type::Bf16 => Some(un(|a: u32| Bf16::widen(a as u16).to_bits())),
        Type::F32 if form.ftz => Some(un(|a: u32| single::flush(a))),
        _ => None,
    };
    let a = match single {
        Some(run) => {
            let wide = d.temporary(false);
            d.lane(run, wide, &[a]);
            wide
        }
        None => a,
    };
    let run = match (to, from == Type::F64) {
        (Type::S32, false) => Some(modes!(mode, M => un(|a: u32| {
            numeric::integral_single(f32::from_bits(a), M) as i32 as u32
        }))),
        (Type::U32, false) => Some(modes!(mode, M => un(|a: u32| {
            numeric::integral_single(f32::from_bits(a), M) as u32
        }))),
        _ => None,
    };
    if let Some(run) = run {
        return d.destination(0, to, |d, dst| d.lane(run, dst, &[a]));
    }
    // The rarer forms: to a double, to an integral value, to the integer.
    let whole = d.temporary(true);
    let a = if from == Type::F64 {
        a
    } else {
        d.lane(
            un(|a: u32| f64::from(f32::from_bits(a)).to_bits()),
            whole,
            &[a],
        );
        whole
    };
    let integral = modes!(mode, M => un(|a: u64| {
        numeric::integral(f64::from_bits(a), M).to_bits()
    }));
    d.lane(integral, whole, &[a]);
    let a = whole;
    let run = clamp_to_integer(to, from == Type::F64).ok_or_else(|| m.unsupported())?;
    if to.bytes() >= 4 {
        return d.destination(0, to, |d, dst| d.lane(run, dst, &[a]));
    }
    let value = d.temporary(false);
    d.lane(run, value, &[a]);
    d.store_narrow(to, value)
}

/// An integral double to an integer type.
fn clamp_to_integer(to: Type, from_double: bool) -> Option<LaneFn> {
    macro_rules! clamped {
        ($bits:literal, $signed:literal, $out:ty) => {
            if from_double {
                un(|a: u64| {
                    numeric::to_integer(f64::from_bits(a), ZERO, $bits, $signed, true) as $out
                })
            } else {
                un(|a: u64| {
                    numeric::to_integer(f64::from_bits(a), ZERO, $bits, $signed, false) as $out
                })
            }
        };
    }
    Some(match to {
        Type::U8 => clamped!(8, false, u32),
        Type::S8 => clamped!(8, true, u32),
        Type::U16 => clamped!(16, false, u32),
        Type::S16 => clamped!(16, true, u32),
        Type::U32 => clamped!(32, false, u32),
        Type::S32 => clamped!(32, true, u32),
        Type::U64 => clamped!(64, false, u64),
        Type::S64 => clamped!(64, true, u64),
        _ => return None,
    })
}

fn floats(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    form: Form,
    from: Type,
    to: Type,
) -> Result<(), LoadError> {
    if form.round.is_some() && form.integral.is_some() {
        return Err(m.unsupported());
    }
    if form.relu && !matches!(to, Type::F16 | Type::Bf16) {
        return Err(m.unsupported());
    }
    let narrowing = from.bytes() > to.bytes()
        || from.bytes() == to.bytes() && from != to
        || (from, to) == (Type::F32, Type::Bf16);
    if narrowing != form.round.is_some() && form.integral.is_none() {
        return Err(m.unsupported());
    }
    if let Some(mode) = form.integral {
        if from != to {
            return Err(m.unsupported());
        }
        return to_integral(d, m, form, mode, to);
    }
    let mode = form.round.unwrap_or(Rounding::Nearest);
    match (from, to) {
        (Type::F32, Type::F32) => {
            let run = match (form.ftz, form.sat) {
                (false, false) => un(|a: u32| a),
                (true, false) => un(|a: u32| canonical(f32::from_bits(single::flush(a)))),
                (false, true) => un(|a: u32| single::saturate(a)),
                (true, true) => un(|a: u32| single::saturate(single::flush(a))),
            };
            d.simple(run, from, to)
        }
        (Type::F64, Type::F64) if !form.sat => d.simple(un(|a: u64| a), from, to),
        (Type::F64, Type::F64) => d.simple(un(|a: u64| unit_interval(a)), from, to),
        (Type::F32, Type::F64) => widen_single(d, form, from, to),
        (Type::F64, Type::F32) => narrow_to_single(d, form, mode),
        (Type::F16 | Type::Bf16, Type::F32) => {
            let f16 = from == Type::F16;
            let run = match (f16, form.sat) {
                (true, false) => un(|a: u32| canonical(F16::widen(a as u16))),
                (true, true) => un(|a: u32| single::saturate(F16::widen(a as u16).to_bits())),
                // The hardware shifts: a NaN keeps its bits.
                (false, false) => un(|a: u32| Bf16::widen(a as u16).to_bits()),
                (false, true) => un(|a: u32| single::saturate(Bf16::widen(a as u16).to_bits())),
            };
            d.simple(run, from, to)
        }
        (Type::F16, Type::F64) if !form.sat => d.simple(
            un(|a: u32| double::from_single(F16::widen(a as u16).to_bits())),
            from,
            to,
        ),
        (Type::F16, Type::F64) => d.simple(
            un(|a: u32| unit_interval(f64::from(F16::widen(a as u16)).to_bits())),
            from,
            to,
        ),
        (Type::Bf16, Type::F64) if !form.sat => d.simple(
            un(|a: u32| double::from_single(Bf16::widen(a as u16).to_bits())),
            from,
            to,
        ),
        (_, Type::F16 | Type::Bf16) => narrow_to_half(d, m, form, mode, from, to),
        _ => Err(m.unsupported()),
    }
}

#[inline(always)]
fn canonical(value: f32) -> u32 {
    if value.is_nan() {
        single::NAN
    } else {
        value.to_bits()
    }
}

#[inline(always)]
fn unit_interval(bits: u64) -> u64 {
    let value = f64::from_bits(bits);
    if value > 0.0 {
        value.min(1.0).to_bits()
    } else {
        0
    }
}

fn widen_single(d: &mut Decoder<'_>, form: Form, from: Type, to: Type) -> Result<(), LoadError> {
    let run = match (form.ftz, form.sat) {
        (false, false) => un(|a: u32| double::from_single(a)),
        (true, false) => {
            un(|a: u32| double::from_single(canonical(f32::from_bits(single::flush(a)))))
        }
        (false, true) => un(|a: u32| unit_interval(f64::from(f32::from_bits(a)).to_bits())),
        (true, true) => {
            un(|a: u32| unit_interval(f64::from(f32::from_bits(single::flush(a))).to_bits()))
        }
    };
    d.simple(run, from, to)
}

fn narrow_to_single(d: &mut Decoder<'_>, form: Form, mode: Rounding) -> Result<(), LoadError> {
    macro_rules! flags {
        ($ftz:literal, $sat:literal) => {
            modes!(mode, M => un(|a: u64| {
                let value = f64::from_bits(a);
                let nan = if $sat { 0 } else { double::narrowed_nan(a, 8, 23) };
                let narrow = single::finish::<$ftz, $sat>(single::narrow::<M>(value));
                if value.is_nan() { nan } else { narrow }
            }))
        };
    }
    let run = match (form.ftz, form.sat) {
        (false, false) => flags!(false, false),
        (true, false) => flags!(true, false),
        (false, true) => flags!(false, true),
        (true, true) => flags!(true, true),
    };
    d.simple(run, Type::F64, Type::F32)
}

fn to_integral(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    form: Form,
    mode: Rounding,
    ty: Type,
) -> Result<(), LoadError> {
    let run = match ty {
        Type::F32 => match (form.ftz, form.sat) {
            (false, false) => modes!(mode, M => un(|a: u32| {
                canonical(numeric::integral_single(f32::from_bits(a), M))
            })),
            (true, false) => modes!(mode, M => un(|a: u32| {
                canonical(numeric::integral_single(f32::from_bits(single::flush(a)), M))
            })),
            (false, true) => modes!(mode, M => un(|a: u32| {
                single::saturate(numeric::integral_single(f32::from_bits(a), M).to_bits())
            })),
            (true, true) => return Err(m.unsupported()),
        },
        Type::F64 if !form.sat && !form.ftz => modes!(mode, M => un(|a: u64| {
            double::of(a, |value| numeric::integral(value, M))
        })),
        Type::F16 if !form.sat && !form.ftz => modes!(mode, M => un(|a: u32| {
            u32::from(F16::narrow(numeric::integral_single(F16::widen(a as u16), M)))
        })),
        Type::Bf16 if !form.sat && !form.ftz => modes!(mode, M => un(|a: u32| {
            u32::from(Bf16::narrow(numeric::integral_single(Bf16::widen(a as u16), M)))
        })),
        _ => return Err(m.unsupported()),
    };
    d.simple(run, ty, ty)
}

/// A double to f16 by `f`, but for a NaN, whose sign and upper bits stay.
#[inline(always)]
fn half_of_double(a: u64, f: impl Fn(u64) -> u32) -> u32 {
    if f64::from_bits(a).is_nan() {
        double::narrowed_nan(a, 5, 10)
    } else {
        f(a)
    }
}

fn narrow_to_half(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    form: Form,
    mode: Rounding,
    from: Type,
    to: Type,
) -> Result<(), LoadError> {
    if form.ftz || form.sat && form.relu {
        return Err(m.unsupported());
    }
    let f16 = to == Type::F16;
    let near = mode == Rounding::Nearest;
    let run = match (from, f16) {
        (Type::F32, true) if near => un(|a: u32| u32::from(F16::narrow(f32::from_bits(a)))),
        (Type::F32, false) if near => un(|a: u32| u32::from(Bf16::narrow(f32::from_bits(a)))),
        (Type::F64, true) if near => {
            un(|a: u64| half_of_double(a, |a| u32::from(narrow_double::<F16>(f64::from_bits(a)))))
        }
        (Type::F64, false) if near => {
            un(|a: u64| u32::from(narrow_double::<Bf16>(f64::from_bits(a))))
        }
        (Type::F32, true) => modes!(mode, M => un(|a: u32| {
            exact::convert(u64::from(a), exact::F32, exact::F16, Rounding::from_const(M)) as u32
        })),
        (Type::F32, false) => modes!(mode, M => un(|a: u32| {
            exact::convert(u64::from(a), exact::F32, exact::BF16, Rounding::from_const(M)) as u32
        })),
        (Type::F64, true) => modes!(mode, M => un(|a: u64| {
            half_of_double(a, |a| exact::convert(a, exact::F64, exact::F16, Rounding::from_const(M)) as u32)
        })),
        (Type::F16, false) => modes!(mode, M => un(|a: u32| {
            exact::convert(u64::from(a), exact::F16, exact::BF16, Rounding::from_const(M)) as u32
        })),
        (Type::Bf16, true) => modes!(mode, M => un(|a: u32| {
            exact::convert(u64::from(a), exact::BF16, exact::F16, Rounding::from_const(M)) as u32
        })),
        (Type::F16, true) | (Type::Bf16, false) => un(|a: u32| a),
        _ => return Err(m.unsupported()),
    };
    let ending = match (form.relu, form.sat, f16) {
        (true, _, true) => Some(un(|a: u32| u32::from(relu::<F16>(a as u16)))),
        (true, _, false) => Some(un(|a: u32| u32::from(relu::<Bf16>(a as u16)))),
        (_, true, true) => Some(un(|a: u32| {
            u32::from(crate::numerics::half::saturate::<F16>(a as u16))
        })),
        (_, true, false) => Some(un(|a: u32| {
            u32::from(crate::numerics::half::saturate::<Bf16>(a as u16))
        })),
        _ => None,
    };
    let a = d.source(1, from)?;
    d.destination(0, to, |d, dst| {
        d.lane(run, dst, &[a]);
        if let Some(ending) = ending {
            d.lane(ending, dst, &[dst]);
        }
    })
}
