//! f32 and f64 arithmetic, and the choice between them and the 16-bit formats.

use super::{Decoder, Modifiers, half, integer, video};
use crate::LoadError;
use crate::lanes::{LaneFn, Slot, bin, ter, un};
use crate::numerics::{DOWN, NEAREST, Rounding, UP, ZERO, approximate as approx, double, single};
use crate::program::{Flop, Pipe};
use crate::syntax::Type;

/// An f32 operation in every rounding mode. Flushing and saturation are part of it to nearest; in
/// the other modes, which are rare, [`Decoder::arithmetic`] puts steps around it.
macro_rules! single_modes {
    ($mode:expr, $ftz:expr, $sat:expr, |$($x:ident),+| $make:ident $f:ident($($y:expr),+)) => {
        match ($mode, $ftz, $sat) {
            (Rounding::Nearest, false, false) => {
                $make(|$($x: u32),+| single::$f::<NEAREST, false, false>($($y),+))
            }
            (Rounding::Nearest, true, false) => {
                $make(|$($x: u32),+| single::$f::<NEAREST, true, false>($($y),+))
            }
            (Rounding::Nearest, false, true) => {
                $make(|$($x: u32),+| single::$f::<NEAREST, false, true>($($y),+))
            }
            (Rounding::Nearest, true, true) => {
                $make(|$($x: u32),+| single::$f::<NEAREST, true, true>($($y),+))
            }
            (Rounding::Zero, ..) => $make(|$($x: u32),+| single::$f::<ZERO, false, false>($($y),+)),
            (Rounding::Down, ..) => $make(|$($x: u32),+| single::$f::<DOWN, false, false>($($y),+)),
            (Rounding::Up, ..) => $make(|$($x: u32),+| single::$f::<UP, false, false>($($y),+)),
        }
    };
}

/// As [`single_modes`], for operations without saturation.
macro_rules! single_modes_unsaturated {
    ($mode:expr, $ftz:expr, |$($x:ident),+| $make:ident $f:ident($($y:expr),+)) => {
        match ($mode, $ftz) {
            (Rounding::Nearest, false) => {
                $make(|$($x: u32),+| single::$f::<NEAREST, false>($($y),+))
            }
            (Rounding::Nearest, true) => $make(|$($x: u32),+| single::$f::<NEAREST, true>($($y),+)),
            (Rounding::Zero, _) => $make(|$($x: u32),+| single::$f::<ZERO, false>($($y),+)),
            (Rounding::Down, _) => $make(|$($x: u32),+| single::$f::<DOWN, false>($($y),+)),
            (Rounding::Up, _) => $make(|$($x: u32),+| single::$f::<UP, false>($($y),+)),
        }
    };
}

/// An f64 operation in every rounding mode.
macro_rules! double_modes {
    ($mode:expr, |$($x:ident),+| $make:ident $f:ident($($y:expr),+)) => {
        match $mode {
            Rounding::Nearest => $make(|$($x: u64),+| double::$f::<NEAREST>($($y),+)),
            Rounding::Zero => $make(|$($x: u64),+| double::$f::<ZERO>($($y),+)),
            Rounding::Down => $make(|$($x: u64),+| double::$f::<DOWN>($($y),+)),
            Rounding::Up => $make(|$($x: u64),+| double::$f::<UP>($($y),+)),
        }
    };
}

const SIGN: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;

impl Decoder<'_> {
    /// An operation of `count` operands, with the steps that `.ftz` and `.sat` need around it when
    /// the function itself does not take them.
    fn arithmetic(
        &mut self,
        m: &Modifiers<'_>,
        run: LaneFn,
        ty: Type,
        count: usize,
        (mode, ftz, sat): (Rounding, bool, bool),
    ) -> Result<(), LoadError> {
        if ty != Type::F32 || mode == Rounding::Nearest || !(ftz || sat) {
            return match count {
                1 => self.unary(Some(run), ty, m),
                2 => self.binary(Some(run), ty, m),
                _ => self.ternary(Some(run), ty, m),
            };
        }
        let flop = std::mem::take(&mut self.flop);
        let mut sources = [Slot::default(); 3];
        for (at, slot) in sources.iter_mut().enumerate().take(count) {
            *slot = self.source(at + 1, ty)?;
            if ftz {
                let flushed = self.temporary(false);
                self.lane(un(single::flush), flushed, &[*slot]);
                *slot = flushed;
            }
        }
        self.destination(0, ty, |d, dst| {
            d.flop = flop;
            d.lane(run, dst, &sources[..count]);
            if ftz {
                d.lane(un(single::flush), dst, &[dst]);
            }
            if sat {
                d.lane(un(single::saturate), dst, &[dst]);
            }
        })
    }
}

fn single_flop(count: u8) -> Flop {
    Flop {
        pipe: Pipe::F32,
        count,
    }
}

fn double_flop(count: u8) -> Flop {
    Flop {
        pipe: Pipe::F64,
        count,
    }
}

/// Addition, or subtraction, of any float type.
pub(super) fn add(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    ty: Type,
    minus: bool,
) -> Result<(), LoadError> {
    if half::is_half(ty) {
        return half::add(d, m, ty, minus);
    }
    let mode = m.rounding().unwrap_or(Rounding::Nearest);
    let (ftz, sat) = (m.take("ftz"), m.take("sat"));
    m.finish()?;
    let (run, flop) = match (ty, minus) {
        (Type::F32, false) => (
            single_modes!(mode, ftz, sat, |a, b| bin add(a, b)),
            single_flop(1),
        ),
        (Type::F32, true) => (
            single_modes!(mode, ftz, sat, |a, b| bin add(a, b ^ SIGN)),
            single_flop(1),
        ),
        (Type::F64, _) if ftz || sat => return Err(m.unsupported()),
        (Type::F64, false) => (double_modes!(mode, |a, b| bin add(a, b)), double_flop(1)),
        (Type::F64, true) => (
            double_modes!(mode, |a, b| bin add(a, double::negate(b))),
            double_flop(1),
        ),
        _ => return Err(m.unsupported()),
    };
    d.flop = flop;
    d.arithmetic(m, run, ty, 2, (mode, ftz, sat))
}

pub(super) fn multiply(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    ty: Type,
) -> Result<(), LoadError> {
    if half::is_half(ty) {
        return half::multiply(d, m, ty);
    }
    let mode = m.rounding().unwrap_or(Rounding::Nearest);
    let (ftz, sat) = (m.take("ftz"), m.take("sat"));
    m.finish()?;
    let (run, flop) = match ty {
        Type::F32 => (
            single_modes!(mode, ftz, sat, |a, b| bin multiply(a, b)),
            single_flop(1),
        ),
        Type::F64 if !ftz && !sat => (
            double_modes!(mode, |a, b| bin multiply(a, b)),
            double_flop(1),
        ),
        _ => return Err(m.unsupported()),
    };
    d.flop = flop;
    d.arithmetic(m, run, ty, 2, (mode, ftz, sat))
}

pub(super) fn fused(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    fused_of(d, m, ty)
}

/// `fma`, and `mad` of floats, which is the same on these devices.
pub(super) fn fused_of(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    ty: Type,
) -> Result<(), LoadError> {
    if half::is_half(ty) {
        return half::fused(d, m, ty);
    }
    let mode = m.rounding().ok_or_else(|| m.unsupported())?;
    let (ftz, sat) = (m.take("ftz"), m.take("sat"));
    m.finish()?;
    let (run, flop) = match ty {
        Type::F32 => (
            single_modes!(mode, ftz, sat, |a, b, c| ter fma(a, b, c)),
            single_flop(2),
        ),
        Type::F64 if !ftz && !sat => (
            double_modes!(mode, |a, b, c| ter fma(a, b, c)),
            double_flop(2),
        ),
        _ => return Err(m.unsupported()),
    };
    d.flop = flop;
    d.arithmetic(m, run, ty, 3, (mode, ftz, sat))
}

pub(super) fn divide(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let (approximate, full) = (m.take("approx"), m.take("full"));
    let mode = m.rounding();
    let ftz = m.take("ftz");
    m.finish()?;
    if full && (approximate || mode.is_some() || ty != Type::F32) {
        return Err(m.unsupported());
    }
    let run = match (ty, mode, approximate) {
        _ if full && ftz => bin(|a: u32, b: u32| approx::full_divide::<true>(a, b)),
        _ if full => bin(|a: u32, b: u32| approx::full_divide::<false>(a, b)),
        (Type::F32, None, true) if ftz => bin(|a: u32, b: u32| approx::divide::<true>(a, b)),
        (Type::F32, None, true) => bin(|a: u32, b: u32| approx::divide::<false>(a, b)),
        (Type::F32, Some(mode), false) => {
            single_modes_unsaturated!(mode, ftz, |a, b| bin divide(a, b))
        }
        (Type::F64, Some(mode), false) if !ftz => double_modes!(mode, |a, b| bin divide(a, b)),
        (_, None, false) if !ftz => {
            return d.binary(integer::quotient(ty), ty, m);
        }
        _ => return Err(m.unsupported()),
    };
    d.flop = if ty == Type::F32 {
        single_flop(1)
    } else {
        double_flop(1)
    };
    d.arithmetic(
        m,
        run,
        ty,
        2,
        (mode.unwrap_or(Rounding::Nearest), ftz, false),
    )
}

pub(super) fn square_root(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let approximate = m.take("approx");
    let mode = m.rounding();
    let ftz = m.take("ftz");
    m.finish()?;
    let run = match (ty, mode, approximate) {
        (Type::F32, None, true) if ftz => un(|a: u32| approx::square_root::<true>(a)),
        (Type::F32, None, true) => un(|a: u32| approx::square_root::<false>(a)),
        (Type::F32, Some(mode), false) => {
            single_modes_unsaturated!(mode, ftz, |a| un square_root(a))
        }
        (Type::F64, Some(mode), false) if !ftz => double_modes!(mode, |a| un square_root(a)),
        _ => return Err(m.unsupported()),
    };
    d.flop = if ty == Type::F32 {
        single_flop(1)
    } else {
        double_flop(1)
    };
    d.arithmetic(
        m,
        run,
        ty,
        1,
        (mode.unwrap_or(Rounding::Nearest), ftz, false),
    )
}

pub(super) fn reciprocal(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let approximate = m.take("approx");
    let mode = m.rounding();
    let ftz = m.take("ftz");
    m.finish()?;
    const ONE: u32 = 0x3f80_0000;
    const ONE_64: u64 = 0x3ff0_0000_0000_0000;
    let run = match (ty, mode, approximate) {
        (Type::F32, None, true) if ftz => un(|a: u32| approx::reciprocal::<true>(a)),
        (Type::F32, None, true) => un(|a: u32| approx::reciprocal::<false>(a)),
        (Type::F64, None, true) if ftz => un(|a: u64| approx::reciprocal_double(a)),
        (Type::F32, Some(mode), false) => {
            single_modes_unsaturated!(mode, ftz, |a| un divide(ONE, a))
        }
        (Type::F64, Some(mode), false) if !ftz => double_modes!(mode, |a| un divide(ONE_64, a)),
        _ => return Err(m.unsupported()),
    };
    d.flop = if ty == Type::F32 {
        single_flop(1)
    } else {
        double_flop(1)
    };
    d.arithmetic(
        m,
        run,
        ty,
        1,
        (mode.unwrap_or(Rounding::Nearest), ftz, false),
    )
}

/// `ex2`, `lg2`, `sin`, `cos`, `tanh` and `rsqrt`.
pub(super) fn approximate(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    if half::is_half(ty) {
        return half::approximate(d, m, ty);
    }
    let ftz = m.take("ftz");
    if !m.take("approx") {
        return Err(m.unsupported());
    }
    m.finish()?;
    macro_rules! flushed {
        ($f:ident) => {
            if ftz {
                un(|a: u32| approx::$f::<true>(a))
            } else {
                un(|a: u32| approx::$f::<false>(a))
            }
        };
    }
    let run = match (m.base(), ty) {
        ("ex2", Type::F32) => flushed!(exp2),
        ("lg2", Type::F32) => flushed!(log2),
        ("sin", Type::F32) => flushed!(sine),
        ("cos", Type::F32) => flushed!(cosine),
        ("rsqrt", Type::F32) => flushed!(reciprocal_square_root),
        // Only the flushing form is the hardware's own; the other is refined to full precision.
        ("rsqrt", Type::F64) if !ftz => un(approx::full_reciprocal_square_root_double),
        ("rsqrt", Type::F64) => un(|a: u64| approx::reciprocal_square_root_double(a)),
        ("tanh", Type::F32) if !ftz => un(|a: u32| approx::hyperbolic_tangent(a)),
        _ => return Err(m.unsupported()),
    };
    d.flop = Flop {
        pipe: Pipe::Special,
        count: 1,
    };
    d.unary(Some(run), ty, m)
}

pub(super) fn absolute(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    sign_operation(d, m, true)
}

pub(super) fn negate(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    sign_operation(d, m, false)
}

/// `abs` and `neg`: on floats they change the sign bit alone, but for NaN: f64 has it as any operation does, the
/// others make it the one of their format.
fn sign_operation(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    absolute: bool,
) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let ftz = m.take("ftz");
    m.finish()?;
    let run = match (ty, absolute, ftz) {
        (Type::F32, true, false) => Some(un(|a: u32| single::signed(a, 0))),
        (Type::F32, true, true) => Some(un(|a: u32| single::signed(single::flush(a), 0))),
        (Type::F32, false, false) => Some(un(|a: u32| single::signed(a, !a))),
        (Type::F32, false, true) => Some(un(|a: u32| single::signed(single::flush(a), !a))),
        (Type::F64, true, false) => Some(un(|a: u64| double::of(a, f64::abs))),
        (Type::F64, false, false) => Some(un(|a: u64| double::negate(a))),
        _ if half::is_half(ty) => Some(half::sign_operation(ty, absolute)),
        (_, true, false) => integer::absolute(ty),
        (_, false, false) => integer::negate(ty),
        _ => None,
    };
    if ftz && half::is_half(ty) {
        return Err(m.unsupported());
    }
    d.unary(run, ty, m)
}

/// `min` and `max` of every type.
pub(super) fn extreme(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    if let Some(done) = video::pairs(d, m) {
        return done;
    }
    let relu = m.take("relu");
    let ty = m.last_type()?;
    let least = m.base() == "min";
    if relu {
        m.finish()?;
        return d.binary(video::extreme_above_zero(least, ty), ty, m);
    }
    if half::is_half(ty) {
        return half::extreme(d, m, ty, least);
    }
    let (ftz, nan, xorsign) = (m.take("ftz"), m.take("NaN"), half::xorsign(m)?);
    m.finish()?;
    macro_rules! pick {
        ($f:ident) => {
            match (ftz, nan, xorsign) {
                (false, false, false) => bin(|a: u32, b: u32| single::$f::<false, false>(a, b)),
                (true, false, false) => bin(|a: u32, b: u32| single::$f::<true, false>(a, b)),
                (false, true, false) => bin(|a: u32, b: u32| single::$f::<false, true>(a, b)),
                (true, true, false) => bin(|a: u32, b: u32| single::$f::<true, true>(a, b)),
                (false, false, true) => {
                    bin(|a: u32, b: u32| xor_signs(a, b, single::$f::<false, false>))
                }
                (true, false, true) => {
                    bin(|a: u32, b: u32| xor_signs(a, b, single::$f::<true, false>))
                }
                (false, true, true) => {
                    bin(|a: u32, b: u32| xor_signs(a, b, single::$f::<false, true>))
                }
                (true, true, true) => {
                    bin(|a: u32, b: u32| xor_signs(a, b, single::$f::<true, true>))
                }
            }
        };
    }
    let run = match (ty, least) {
        (Type::F32, true) => Some(pick!(minimum)),
        (Type::F32, false) => Some(pick!(maximum)),
        _ if ftz || nan || xorsign => None,
        (Type::F64, true) => Some(bin(|a: u64, b: u64| double::minimum(a, b))),
        (Type::F64, false) => Some(bin(|a: u64, b: u64| double::maximum(a, b))),
        _ => integer::extreme(least, ty),
    };
    match ty {
        Type::F32 => d.flop = single_flop(1),
        Type::F64 => d.flop = double_flop(1),
        _ => {}
    }
    d.binary(run, ty, m)
}

/// `.xorsign.abs`: of the magnitudes, under the product's sign.
#[inline(always)]
fn xor_signs(a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    single::signed(f(a & !SIGN, b & !SIGN), a ^ b)
}

/// `copysign d, a, b`: the magnitude of `b` with the sign of `a`.
pub(super) fn copy_sign(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    m.finish()?;
    let run = match ty {
        Type::F32 => Some(bin(|a: u32, b: u32| (a & SIGN) | (b & !SIGN))),
        Type::F64 => Some(bin(|a: u64, b: u64| (a & SIGN_64) | (b & !SIGN_64))),
        _ => None,
    };
    d.binary(run, ty, m)
}

/// Used by [`half`] for operations that it shares.
pub(super) fn half_flop(pair: bool, count: u8) -> Flop {
    Flop {
        pipe: Pipe::F16,
        count: if pair { 2 * count } else { count },
    }
}
