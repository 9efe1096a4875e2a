//! C++ arithmetic on scalars: promotions, the usual conversions, and what is undefined.

use super::value::Value;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{BinaryOp, UnaryOp};
use crate::types::Scalar;

/// `bool`, `char` and `short` become `int`; `half` computes as `float`.
pub(super) fn promoted(scalar: Scalar) -> Scalar {
    if scalar.is_small_float() {
        Scalar::Float
    } else if scalar < Scalar::Int {
        Scalar::Int
    } else {
        scalar
    }
}

/// The type in which `a op b` is computed.
pub(super) fn common(a: Scalar, b: Scalar) -> Scalar {
    let (a, b) = (promoted(a), promoted(b));
    if !a.is_integer() || !b.is_integer() {
        return a.max(b);
    }
    let (low, high) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
    if low.is_signed() == high.is_signed() || !high.is_signed() {
        return high;
    }
    // The unsigned one has the lower rank.
    if high.size_bytes() > low.size_bytes() {
        high
    } else {
        unsigned_of(high)
    }
}

/// Of two types of one rank the unsigned one counts as higher.
fn rank(scalar: Scalar) -> (u8, bool) {
    let rank = match scalar {
        Scalar::Int | Scalar::UInt => 0,
        Scalar::Long | Scalar::ULong => 1,
        _ => 2,
    };
    (rank, !scalar.is_signed())
}

fn unsigned_of(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Int => Scalar::UInt,
        Scalar::Long => Scalar::ULong,
        Scalar::LongLong => Scalar::ULongLong,
        other => other,
    }
}

/// A scalar in another scalar type.
pub(super) fn convert(value: &Value, to: Scalar, at: At) -> Option<Fallible<Value>> {
    Some(match *value {
        Value::Integer(_, value) if to.is_integer() => Ok(Value::Integer(to, to.wrap(value))),
        // Rounded once: through f64 a large one would be rounded twice.
        Value::Integer(_, value) if to == Scalar::Float => {
            Ok(Value::Floating(to, f64::from(value as f32)))
        }
        Value::Integer(_, value) => Ok(Value::floating(to, value as f64)),
        Value::Floating(_, value) if to == Scalar::Bool => Ok(Value::boolean(value != 0.0)),
        Value::Floating(from, value) if to.is_integer() => {
            let (low, high) = to.range();
            let truncated = value.trunc();
            // Bounds in f64 may round up, so the comparison is made on integers.
            let whole = truncated as i128;
            if truncated.is_finite() && (low..=high).contains(&whole) {
                Ok(Value::Integer(to, whole))
            } else {
                let message = format!(
                    "`{value}` of type `{}` does not fit `{}`",
                    from.name(),
                    to.name()
                );
                Err(Fault::host(at, message))
            }
        }
        Value::Floating(_, value) => Ok(Value::floating(to, value)),
        _ => return None,
    })
}

/// `left op right` for two scalars. `None` where one of them is no scalar.
pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value, at: At) -> Option<Fallible<Value>> {
    let (a, b) = (scalar_of(left)?, scalar_of(right)?);
    if matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
        return Some(shift(op, left, right, at));
    }
    let scalar = common(a, b);
    let converted = |value: &Value| convert(value, scalar, at);
    let (left, right) = match (converted(left)?, converted(right)?) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(fault), _) | (_, Err(fault)) => return Some(Err(fault)),
    };
    Some(match (left, right) {
        (Value::Integer(_, a), Value::Integer(_, b)) => integers(op, a, b, scalar, at),
        (Value::Floating(_, a), Value::Floating(_, b)) => floats(op, a, b, scalar, at),
        _ => return None,
    })
}

fn scalar_of(value: &Value) -> Option<Scalar> {
    match value {
        Value::Integer(scalar, _) | Value::Floating(scalar, _) => Some(*scalar),
        _ => None,
    }
}

fn integers(op: BinaryOp, a: i128, b: i128, scalar: Scalar, at: At) -> Fallible<Value> {
    if op.is_comparison() {
        return Ok(Value::boolean(compares(op, a.cmp(&b))));
    }
    if matches!(op, BinaryOp::Divide | BinaryOp::Remainder) && b == 0 {
        return Err(Fault::host(
            at,
            format!("{a} {} 0: division by zero", op.symbol()),
        ));
    }
    // Operands have at most 64 bits, so that 128 hold every signed result; unsigned ones wrap.
    let exact = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide => a / b,
        BinaryOp::Remainder => a % b,
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        _ => a ^ b,
    };
    fitted(exact, scalar, at, || format!("{a} {} {b}", op.symbol()))
}

/// Unsigned results wrap, signed ones must fit.
fn fitted(exact: i128, scalar: Scalar, at: At, what: impl FnOnce() -> String) -> Fallible<Value> {
    let (low, high) = scalar.range();
    if !scalar.is_signed() || (low..=high).contains(&exact) {
        return Ok(Value::Integer(scalar, scalar.wrap(exact)));
    }
    let message = format!(
        "signed overflow: {} does not fit `{}`",
        what(),
        scalar.name()
    );
    Err(Fault::host(at, message).hint("compute in a wider type, as in `(size_t)a * b`"))
}

fn floats(op: BinaryOp, a: f64, b: f64, scalar: Scalar, at: At) -> Fallible<Value> {
    if op.is_comparison() {
        let holds = match a.partial_cmp(&b) {
            Some(ordering) => compares(op, ordering),
            None => op == BinaryOp::NotEqual,
        };
        return Ok(Value::boolean(holds));
    }
    // f64 holds products and sums of two f32 closely enough that rounding twice equals rounding
    // once for + - * /.
    let exact = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => {
            let message = format!(
                "`{}` on `{}`, which only integers have",
                op.symbol(),
                scalar.name()
            );
            return Err(Fault::host(at, message));
        }
    };
    Ok(Value::floating(scalar, exact))
}

pub(super) fn compares(op: BinaryOp, ordering: std::cmp::Ordering) -> bool {
    match op {
        BinaryOp::Equal => ordering.is_eq(),
        BinaryOp::NotEqual => ordering.is_ne(),
        BinaryOp::Less => ordering.is_lt(),
        BinaryOp::LessEqual => ordering.is_le(),
        BinaryOp::Greater => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

fn shift(op: BinaryOp, left: &Value, right: &Value, at: At) -> Fallible<Value> {
    let (&Value::Integer(from, value), &Value::Integer(_, count)) = (left, right) else {
        let message = format!("`{}` on a floating value", op.symbol());
        return Err(Fault::host(at, message));
    };
    let scalar = promoted(from);
    let bits = i128::from(scalar.size_bytes() * 8);
    if !(0..bits).contains(&count) {
        let message = format!("`{}` by {count} on a type of {bits} bits", op.symbol());
        return Err(Fault::host(at, message));
    }
    if op == BinaryOp::ShiftRight {
        return Ok(Value::Integer(scalar, value >> count));
    }
    // 64 bits shifted by at most 63 fit 128.
    fitted(value << count, scalar, at, || format!("{value} << {count}"))
}

/// `op value` for a scalar.
pub(super) fn unary(op: UnaryOp, value: &Value, at: At) -> Option<Fallible<Value>> {
    let scalar = promoted(scalar_of(value)?);
    let value = match convert(value, scalar, at)? {
        Ok(value) => value,
        Err(fault) => return Some(Err(fault)),
    };
    Some(match (op, value) {
        (UnaryOp::Plus, value) => Ok(value),
        (UnaryOp::Minus, Value::Integer(_, value)) => {
            fitted(-value, scalar, at, || format!("-({value})"))
        }
        (UnaryOp::Minus, Value::Floating(_, value)) => Ok(Value::floating(scalar, -value)),
        (UnaryOp::Complement, Value::Integer(_, value)) => {
            Ok(Value::Integer(scalar, scalar.wrap(!value)))
        }
        _ => Err(Fault::host(at, "`~` on a floating value")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::needless_pass_by_value)] // reads better in tests
    fn apply(op: BinaryOp, left: Value, right: Value) -> Result<Value, String> {
        binary(op, &left, &right, 0)
            .expect("scalars")
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn usual_arithmetic_conversions() {
        use Scalar::*;
        assert_eq!(common(Short, Bool), Int);
        assert_eq!(common(Int, UInt), UInt);
        assert_eq!(common(UInt, Long), Long);
        assert_eq!(common(ULong, LongLong), ULongLong);
        assert_eq!(common(Int, Float), Float);
        assert_eq!(common(Float, Double), Double);
        assert_eq!(common(ULong, Float), Float);
        assert_eq!(common(Half, Int), Float);
    }

    #[test]
    fn signed_overflow_is_told_and_unsigned_wraps() {
        let int = Value::int;
        assert_eq!(
            apply(BinaryOp::Multiply, int(65_536), int(65_536)),
            Err("signed overflow: 65536 * 65536 does not fit `int`".into())
        );
        let unsigned = Value::Integer(Scalar::UInt, 0);
        assert_eq!(
            apply(BinaryOp::Subtract, unsigned, int(1)),
            Ok(Value::Integer(Scalar::UInt, u32::MAX.into()))
        );
        let size = Value::Integer(Scalar::ULong, u64::MAX.into());
        assert_eq!(
            apply(BinaryOp::Multiply, size.clone(), size),
            Ok(Value::Integer(Scalar::ULong, 1))
        );
        assert!(apply(BinaryOp::Divide, int(1), int(0)).is_err());
        assert!(apply(BinaryOp::Divide, int(i32::MIN.into()), int(-1)).is_err());
        assert!(apply(BinaryOp::ShiftLeft, int(1), int(32)).is_err());
        assert_eq!(apply(BinaryOp::ShiftRight, int(-8), int(1)), Ok(int(-4)));
    }

    #[test]
    fn floats_round_to_their_type_and_truncate_to_integers() {
        let n = Value::int(16_777_217);
        let one = Value::floating(Scalar::Float, 1.0);
        assert_eq!(
            apply(BinaryOp::Multiply, n, one),
            Ok(Value::Floating(Scalar::Float, 16_777_216.0))
        );
        let to_int = |value| convert(&Value::floating(Scalar::Float, value), Scalar::Int, 0);
        assert_eq!(to_int(-2.9).unwrap().unwrap(), Value::int(-2));
        assert!(to_int(3e9).unwrap().is_err());
        assert!(to_int(f64::NAN).unwrap().is_err());
        assert!(to_int(2_147_483_648.0).unwrap().is_err());
    }
}
