//! `std::numeric_limits`.

use super::super::Interpreter;
use super::super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::Name;
use crate::types::{Scalar, Type};

impl<'p> Interpreter<'p> {
    /// `std::numeric_limits<T>::max()` and the constants beside it; `None` for any other name.
    pub(in super::super) fn numeric_limit(
        &mut self,
        name: &'p Name,
        at: At,
    ) -> Fallible<Option<Value>> {
        let (Some(owner), Some((_, member))) = (&name.owner, name.split()) else {
            return Ok(None);
        };
        if owner.plain() != "numeric_limits" {
            return Ok(None);
        }
        let arguments = owner.arguments.as_deref().unwrap_or_default();
        let values = self.template_values(arguments)?;
        let limit = match values.as_slice() {
            [TemplateValue::Type(Type::Scalar(scalar))] => limit(*scalar, member),
            _ => None,
        };
        match limit {
            Some(value) => Ok(Some(value)),
            None => Err(Fault::unsupported(
                at,
                format!("`{}` is not in the host subset", name.path),
                "write the number, or a constant such as FLT_MAX",
            )),
        }
    }
}

fn limit(scalar: Scalar, member: &str) -> Option<Value> {
    if scalar.is_integer() {
        let (low, high) = scalar.range();
        return Some(match member {
            "max" => Value::Integer(scalar, high),
            "min" | "lowest" => Value::Integer(scalar, low),
            "epsilon" | "infinity" | "quiet_NaN" => Value::Integer(scalar, 0),
            "digits" => {
                let sign = u64::from(scalar.is_signed());
                let bits = if scalar == Scalar::Bool {
                    1
                } else {
                    scalar.size_bytes() * 8 - sign
                };
                Value::int(bits.into())
            }
            "is_signed" => Value::boolean(scalar.is_signed()),
            "is_integer" => Value::boolean(true),
            _ => return None,
        });
    }
    let (max, min, epsilon, digits) = match scalar {
        Scalar::Float => (
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
            f64::from(f32::EPSILON),
            f32::MANTISSA_DIGITS,
        ),
        Scalar::Double => (
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::EPSILON,
            f64::MANTISSA_DIGITS,
        ),
        _ => return None,
    };
    let floating = |value| Some(Value::Floating(scalar, value));
    match member {
        "max" => floating(max),
        "lowest" => floating(-max),
        "min" => floating(min),
        "epsilon" => floating(epsilon),
        "infinity" => floating(f64::INFINITY),
        "quiet_NaN" => floating(f64::NAN),
        "digits" => Some(Value::int(digits.into())),
        "is_signed" => Some(Value::boolean(true)),
        "is_integer" => Some(Value::boolean(false)),
        _ => None,
    }
}
