//! `setp`, `set` and `testp`.

use super::{Decoder, Modifiers, half};
use crate::LoadError;
use crate::lanes::{CompareFn, compare as lanes_compare};
use crate::numerics::single;
use crate::program::{Compare, Kind, Logic, Predicate};
use crate::syntax::{Operand, Type};

/// `testp`: the class of a float, as a predicate.
pub(super) fn classify(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let ty = m.last_type()?;
    let class = m.next();
    m.finish()?;
    macro_rules! classes {
        ($t:ty, $from:path) => {
            match class {
                Some("finite") => lanes_compare(|a: $t, _: $t| $from(a).is_finite()),
                Some("infinite") => lanes_compare(|a: $t, _: $t| $from(a).is_infinite()),
                Some("number") => lanes_compare(|a: $t, _: $t| !$from(a).is_nan()),
                Some("notanumber") => lanes_compare(|a: $t, _: $t| $from(a).is_nan()),
                // A zero passes for a normal number on the hardware.
                Some("normal") => lanes_compare(|a: $t, _: $t| {
                    let value = $from(a);
                    value.is_finite() && !value.is_subnormal()
                }),
                Some("subnormal") => lanes_compare(|a: $t, _: $t| $from(a).is_subnormal()),
                _ => return Err(m.unsupported()),
            }
        };
    }
    let run = match ty {
        Type::F32 => classes!(u32, f32::from_bits),
        Type::F64 => classes!(u64, f64::from_bits),
        _ => return Err(m.unsupported()),
    };
    let a = d.source(1, ty)?;
    let dst = d.predicate_destination(d.operand(0)?)?;
    d.emit(Kind::Compare(Compare {
        run,
        a,
        b: a,
        dst,
        dst_not: 0,
        op: Logic::First,
        with: Predicate::default(),
    }));
    Ok(())
}

/// The comparison of a type by its name, or nothing if there is none.
#[allow(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::nonminimal_bool,
    clippy::eq_op,
    reason = "each form says what it gives when an operand is NaN"
)]
pub(super) fn comparison(name: &str, ty: Type, ftz: bool) -> Option<CompareFn> {
    macro_rules! ordered {
        ($t:ty, |$x:ident| $value:expr) => {{
            macro_rules! by {
                ($a:ident, $b:ident, $test:expr) => {
                    lanes_compare(|$a: $t, $b: $t| {
                        let $a = {
                            let $x = $a;
                            $value
                        };
                        let $b = {
                            let $x = $b;
                            $value
                        };
                        $test
                    })
                };
            }
            match name {
                "eq" => by!(a, b, a == b),
                "ne" => by!(a, b, a < b || a > b),
                "lt" | "lo" => by!(a, b, a < b),
                "le" | "ls" => by!(a, b, a <= b),
                "gt" | "hi" => by!(a, b, a > b),
                "ge" | "hs" => by!(a, b, a >= b),
                "equ" => by!(a, b, !(a < b || a > b)),
                "neu" => by!(a, b, !(a == b)),
                "ltu" => by!(a, b, !(a >= b)),
                "leu" => by!(a, b, !(a > b)),
                "gtu" => by!(a, b, !(a <= b)),
                "geu" => by!(a, b, !(a < b)),
                "num" => by!(a, b, a == a && b == b),
                "nan" => by!(a, b, a != a || b != b),
                _ => return None,
            }
        }};
    }
    let unordered = matches!(
        name,
        "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" | "num" | "nan"
    );
    let by_sign = matches!(name, "lo" | "ls" | "hi" | "hs");
    let is_float = half::is_half(ty) || matches!(ty, Type::F32 | Type::F64);
    if unordered && !is_float || by_sign && is_float || ftz && ty != Type::F32 {
        return None;
    }
    Some(match ty {
        Type::B16 | Type::U16 | Type::B32 | Type::U32 => ordered!(u32, |x| x),
        Type::S16 => ordered!(u32, |x| x as i16),
        Type::S32 => ordered!(u32, |x| x as i32),
        Type::B64 | Type::U64 => ordered!(u64, |x| x),
        Type::S64 => ordered!(u64, |x| x as i64),
        Type::F32 if ftz => ordered!(u32, |x| f32::from_bits(single::flush(x))),
        Type::F32 => ordered!(u32, |x| f32::from_bits(x)),
        Type::F64 => ordered!(u64, |x| f64::from_bits(x)),
        Type::F16 => ordered!(u32, |x| half::value16(x)),
        Type::Bf16 => ordered!(u32, |x| half::value_bf16(x)),
        _ => return None,
    })
}

/// The boolean that joins a comparison's result with a predicate.
fn boolean(m: &mut Modifiers<'_>) -> Logic {
    m.take_one(&[("and", Logic::And), ("or", Logic::Or), ("xor", Logic::Xor)])
        .unwrap_or(Logic::First)
}

pub(super) fn compare(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let name = m.next().unwrap_or_default();
    let op = boolean(m);
    let ftz = m.take("ftz");
    let ty = m.last_type()?;
    m.finish()?;
    if matches!(ty, Type::F16x2 | Type::Bf16x2) {
        return half::compare_pair(d, m, name, op, ty);
    }
    let run = comparison(name, ty, ftz).ok_or_else(|| m.unsupported())?;
    let (a, b) = (d.source(1, ty)?, d.source(2, ty)?);
    let with = if op == Logic::First {
        Predicate::default()
    } else {
        d.predicate(3)?
    };
    let (dst, dst_not) = match d.operand(0)? {
        Operand::Pair(first, second) => {
            let first = d.predicate_destination(first)?;
            let second = match second.as_ref() {
                Operand::Sink => 0,
                operand => d.predicate_destination(operand)?,
            };
            (first, second)
        }
        operand => (d.predicate_destination(operand)?, 0),
    };
    d.emit(Kind::Compare(Compare {
        run,
        a,
        b,
        dst,
        dst_not,
        op,
        with,
    }));
    Ok(())
}

/// `set`: a comparison whose result is all ones, or 1.0, in a register.
pub(super) fn set(d: &mut Decoder<'_>, m: &mut Modifiers<'_>) -> Result<(), LoadError> {
    let name = m.next().unwrap_or_default();
    let op = boolean(m);
    let ftz = m.take("ftz");
    let ty = m.last_type()?;
    let to = m.last_type()?;
    m.finish()?;
    if matches!(ty, Type::F16x2 | Type::Bf16x2) {
        return half::set_pair(d, m, name, op, to, ty);
    }
    let run = comparison(name, ty, ftz).ok_or_else(|| m.unsupported())?;
    let one = match to {
        Type::U32 | Type::S32 | Type::B32 => 0xffff_ffff,
        Type::F32 => 0x3f80_0000,
        Type::F16 => 0x3c00,
        Type::Bf16 => 0x3f80,
        Type::U16 | Type::S16 | Type::B16 => 0xffff,
        _ => return Err(m.unsupported()),
    };
    let (a, b) = (d.source(1, ty)?, d.source(2, ty)?);
    let with = if op == Logic::First {
        Predicate::default()
    } else {
        d.predicate(3)?
    };
    let dst = d.temporary_predicate();
    d.emit(Kind::Compare(Compare {
        run,
        a,
        b,
        dst,
        dst_not: 0,
        op,
        with,
    }));
    let (yes, no) = (d.constant(false, one), d.constant(false, 0));
    let by = Predicate {
        index: dst,
        negated: false,
    };
    d.destination(0, to, |d, dst| {
        d.emit(Kind::Select {
            dst,
            a: yes,
            b: no,
            by,
        });
    })
}
