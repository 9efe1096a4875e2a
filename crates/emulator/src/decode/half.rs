//! f16 and bf16 arithmetic, single and packed in pairs.

use super::float::half_flop;
use super::{Decoder, Modifiers};
use crate::LoadError;
use crate::lanes::{LaneFn, bin, ter, un};
use crate::numerics::half::{self as scalar, Bf16, F16, Half, pair1, pair2, pair3};
use crate::program::{Compare, Flop, Kind, Logic, Pipe, Predicate};
use crate::syntax::{Operand, Type};

pub(super) fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

fn is_pair(ty: Type) -> bool {
    matches!(ty, Type::F16x2 | Type::Bf16x2)
}

#[inline(always)]
pub(super) fn value16(bits: u32) -> f32 {
    F16::widen(bits as u16)
}

#[inline(always)]
pub(super) fn value_bf16(bits: u32) -> f32 {
    Bf16::widen(bits as u16)
}

/// What follows the rounding of a result.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Nothing,
    Saturate,
    Relu,
}

/// An operation in both formats, single and packed.
macro_rules! formats {
    ($ty:expr, |$($x:ident),+| $make:ident $pair:ident $f:ident) => {{
        macro_rules! shapes {
            ($h:ty, $single:expr) => {
                if $single {
                    $make(|$($x: u32),+| u32::from(scalar::$f::<$h>($($x as u16),+)))
                } else {
                    $make(|$($x: u32),+| $pair($($x,)+ |$($x: u16),+| scalar::$f::<$h>($($x),+)))
                }
            };
        }
        match $ty {
            Type::F16 => shapes!(F16, true),
            Type::F16x2 => shapes!(F16, false),
            Type::Bf16 => shapes!(Bf16, true),
            _ => shapes!(Bf16, false),
        }
    }};
}

impl Decoder<'_> {
    /// An operation of `count` operands and what follows it.
    fn halves(
        &mut self,
        m: &Modifiers<'_>,
        run: LaneFn,
        ty: Type,
        count: usize,
        Endings { ending, flushes }: Endings,
    ) -> Result<(), LoadError> {
        if flushes {
            if !matches!(ty, Type::F16 | Type::F16x2) {
                return Err(m.unsupported());
            }
            self.flushed_halves(run, ty, count)?;
        } else if count == 2 {
            self.binary(Some(run), ty, m)?;
        } else {
            self.ternary(Some(run), ty, m)?;
        }
        let ending = match ending {
            After::Nothing => return Ok(()),
            After::Saturate => formats!(ty, |a| un pair1 saturate),
            After::Relu => formats!(ty, |a| un pair1 relu),
        };
        self.destination(0, ty, |d, dst| d.lane(ending, dst, &[dst]))
    }

    /// The operation of f16 under `.ftz`.
    fn flushed_halves(&mut self, run: LaneFn, ty: Type, count: usize) -> Result<(), LoadError> {
        let flush = if is_pair(ty) {
            un(|a: u32| pair1(a, scalar::flush))
        } else {
            un(|a: u32| u32::from(scalar::flush(a as u16)))
        };
        let mut operands = Vec::with_capacity(count);
        for at in 1..=count {
            let operand = self.source(at, ty)?;
            let flushed = self.temporary(false);
            self.lane(flush, flushed, &[operand]);
            operands.push(flushed);
        }
        self.destination(0, ty, |d, dst| {
            d.lane(run, dst, &operands);
            d.lane(flush, dst, &[dst]);
        })
    }
}

/// What the modifiers ask for besides the operation.
struct Endings {
    ending: After,
    /// Subnormal operands and results are zeros.
    flushes: bool,
}

/// Takes the modifiers that halves share.
fn endings(m: &mut Modifiers<'_>) -> Result<Endings, LoadError> {
    m.ignore(&["rn"]);
    let flushes = m.take("ftz");
    let ending = m
        .take_one(&[("sat", After::Saturate), ("relu", After::Relu)])
        .unwrap_or(After::Nothing);
    m.finish()?;
    Ok(Endings { ending, flushes })
}

/// Takes `.xorsign.abs`, which stand together.
pub(super) fn xorsign(m: &mut Modifiers<'_>) -> Result<bool, LoadError> {
    let (sign, magnitude) = (m.take("xorsign"), m.take("abs"));
    if sign != magnitude {
        return Err(m.unsupported());
    }
    Ok(sign)
}

pub(super) fn add(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    ty: Type,
    minus: bool,
) -> Result<(), LoadError> {
    let ending = endings(m)?;
    let run = if minus {
        formats!(ty, |a, b| bin pair2 subtract)
    } else {
        formats!(ty, |a, b| bin pair2 add)
    };
    d.flop = half_flop(is_pair(ty), 1);
    d.halves(m, run, ty, 2, ending)
}

pub(super) fn multiply(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    ty: Type,
) -> Result<(), LoadError> {
    let ending = endings(m)?;
    d.flop = half_flop(is_pair(ty), 1);
    d.halves(m, formats!(ty, |a, b| bin pair2 multiply), ty, 2, ending)
}

pub(super) fn fused(d: &mut Decoder<'_>, m: &mut Modifiers<'_>, ty: Type) -> Result<(), LoadError> {
    let ending = endings(m)?;
    d.flop = half_flop(is_pair(ty), 2);
    d.halves(m, formats!(ty, |a, b, c| ter pair3 fma), ty, 3, ending)
}

/// `abs` and `neg` of halves.
pub(super) fn sign_operation(ty: Type, absolute: bool) -> LaneFn {
    macro_rules! both {
        ($h:ty) => {
            match (is_pair(ty), absolute) {
                (true, true) => un(|a: u32| pair1(a, |a| scalar::signed::<$h>(a, 0))),
                (true, false) => un(|a: u32| pair1(a, |a| scalar::signed::<$h>(a, !a))),
                (false, true) => un(|a: u32| u32::from(scalar::signed::<$h>(a as u16, 0))),
                (false, false) => un(|a: u32| u32::from(scalar::signed::<$h>(a as u16, !a as u16))),
            }
        };
    }
    if matches!(ty, Type::F16 | Type::F16x2) {
        both!(F16)
    } else {
        both!(Bf16)
    }
}

pub(super) fn extreme(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    ty: Type,
    least: bool,
) -> Result<(), LoadError> {
    let (nan, xorsign) = (m.take("NaN"), xorsign(m)?);
    m.finish()?;
    macro_rules! shapes {
        ($choose:expr) => {
            if is_pair(ty) {
                bin(|a: u32, b: u32| pair2(a, b, $choose))
            } else {
                bin(|a: u32, b: u32| u32::from($choose(a as u16, b as u16)))
            }
        };
    }
    macro_rules! pick {
        ($h:ty, $least:literal, $nan:literal) => {
            if xorsign {
                shapes!(|a: u16, b: u16| {
                    let chosen = scalar::choose::<$h, $least, $nan>(a & 0x7fff, b & 0x7fff);
                    scalar::signed::<$h>(chosen, a ^ b)
                })
            } else {
                shapes!(|a: u16, b: u16| scalar::choose::<$h, $least, $nan>(a, b))
            }
        };
    }
    let run = match (matches!(ty, Type::F16 | Type::F16x2), least, nan) {
        (true, true, false) => pick!(F16, true, false),
        (true, true, true) => pick!(F16, true, true),
        (true, false, false) => pick!(F16, false, false),
        (true, false, true) => pick!(F16, false, true),
        (false, true, false) => pick!(Bf16, true, false),
        (false, true, true) => pick!(Bf16, true, true),
        (false, false, false) => pick!(Bf16, false, false),
        (false, false, true) => pick!(Bf16, false, true),
    };
    d.flop = half_flop(is_pair(ty), 1);
    d.binary(Some(run), ty, m)
}

#[inline(always)]
fn through<H: Half>(bits: u16, f: impl Fn(u32) -> u32) -> u16 {
    H::narrow(f32::from_bits(f(H::widen(bits).to_bits())))
}

/// `ex2` and `tanh` of halves: the f32 function, rounded.
pub(super) fn approximate(
    d: &mut Decoder<'_>,
    m: &mut Modifiers<'_>,
    ty: Type,
) -> Result<(), LoadError> {
    use crate::numerics::approximate::{exp2, hyperbolic_tangent};
    let approximate = m.take("approx");
    let ftz = m.take("ftz");
    m.finish()?;
    // bf16's `ex2` is only defined with `.ftz`, f16's only without.
    let bf16 = matches!(ty, Type::Bf16 | Type::Bf16x2);
    let fits = match m.base() {
        "ex2" => ftz == bf16,
        "tanh" => !ftz,
        _ => false,
    };
    if !approximate || !fits {
        return Err(m.unsupported());
    }
    macro_rules! both {
        ($h:ty, $f:expr) => {
            if is_pair(ty) {
                un(|a: u32| pair1(a, |a| through::<$h>(a, $f)))
            } else {
                un(|a: u32| u32::from(through::<$h>(a as u16, $f)))
            }
        };
    }
    let run: LaneFn = match (m.base(), bf16) {
        ("ex2", false) => both!(F16, exp2::<false>),
        ("ex2", true) => both!(Bf16, exp2::<true>),
        ("tanh", false) => both!(F16, hyperbolic_tangent),
        _ => both!(Bf16, hyperbolic_tangent),
    };
    d.flop = Flop {
        pipe: Pipe::Special,
        count: if is_pair(ty) { 2 } else { 1 },
    };
    d.unary(Some(run), ty, m)
}

/// Both halves' comparisons of a packed pair: low first.
fn pair_comparisons(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    name: &str,
    ty: Type,
    sources: (usize, usize),
) -> Result<[Compare; 2], LoadError> {
    let element = if ty == Type::F16x2 {
        Type::F16
    } else {
        Type::Bf16
    };
    let run = super::comparison::comparison(name, element, false).ok_or_else(|| m.unsupported())?;
    let (a, b) = (
        d.source(sources.0, Type::B32)?,
        d.source(sources.1, Type::B32)?,
    );
    let mut halves = [(a, b); 2];
    for (at, half) in halves.iter_mut().enumerate() {
        let pick = |d: &mut Decoder<'_>, from| {
            let to = d.temporary(false);
            let run = if at == 0 {
                un(|a: u32| a & 0xffff)
            } else {
                un(|a: u32| a >> 16)
            };
            d.lane(run, to, &[from]);
            to
        };
        *half = (pick(d, a), pick(d, b));
    }
    Ok(halves.map(|(a, b)| Compare {
        run,
        a,
        b,
        dst: 0,
        dst_not: 0,
        op: Logic::First,
        with: Predicate::default(),
    }))
}

/// `setp` of a pair: one predicate for each half.
pub(super) fn compare_pair(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    name: &str,
    op: Logic,
    ty: Type,
) -> Result<(), LoadError> {
    let Operand::Pair(low, high) = d.operand(0)? else {
        return Err(m.unsupported());
    };
    let with = if op == Logic::First {
        Predicate::default()
    } else {
        d.predicate(3)?
    };
    let comparisons = pair_comparisons(d, m, name, ty, (1, 2))?;
    for (comparison, dst) in comparisons.into_iter().zip([low, high]) {
        let dst = d.predicate_destination(dst)?;
        d.emit(Kind::Compare(Compare {
            dst,
            op,
            with,
            ..comparison
        }));
    }
    Ok(())
}

/// `set` of a pair: all ones or 1.0 in each half.
pub(super) fn set_pair(
    d: &mut Decoder<'_>,
    m: &Modifiers<'_>,
    name: &str,
    op: Logic,
    to: Type,
    ty: Type,
) -> Result<(), LoadError> {
    let one: u64 = match to {
        Type::F16x2 => 0x3c00,
        Type::Bf16x2 => 0x3f80,
        Type::B32 | Type::U32 => 0xffff,
        _ => return Err(m.unsupported()),
    };
    let with = if op == Logic::First {
        Predicate::default()
    } else {
        d.predicate(3)?
    };
    let comparisons = pair_comparisons(d, m, name, ty, (1, 2))?;
    let zero = d.constant(false, 0);
    let mut words = [zero; 2];
    for (at, comparison) in comparisons.into_iter().enumerate() {
        let dst = d.temporary_predicate();
        d.emit(Kind::Compare(Compare {
            dst,
            op,
            with,
            ..comparison
        }));
        let yes = d.constant(false, one << (16 * at));
        words[at] = d.temporary(false);
        let by = Predicate {
            index: dst,
            negated: false,
        };
        d.emit(Kind::Select {
            dst: words[at],
            a: yes,
            b: zero,
            by,
        });
    }
    let join = bin(|low: u32, high: u32| low | high);
    d.destination(0, Type::B32, |d, dst| d.lane(join, dst, &words))
}
