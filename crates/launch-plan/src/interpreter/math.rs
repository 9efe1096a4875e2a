//! `<cmath>` and `<algorithm>` for scalars.

use super::arithmetic::{common, convert};
use super::value::Value;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::types::Scalar;

/// A library function on values; `None` where `name` is none of them.
pub(super) fn call(name: &str, arguments: &[Value], at: At) -> Option<Fallible<Value>> {
    match (name, arguments) {
        ("min" | "max", [_, ..]) => Some(extreme(name == "max", arguments, at)),
        ("abs" | "labs" | "llabs", [Value::Integer(..)]) => Some(magnitude(&arguments[0], at)),
        ("__builtin_expect", [value, _]) => Some(Ok(value.clone())),
        ("move" | "forward", [value]) => Some(Ok(value.clone())),
        _ => bits(name, arguments)
            .map(Ok)
            .or_else(|| narrowing(name, arguments, at))
            .or_else(|| floating(name, arguments, at)),
    }
}

/// `std::min` and `std::max`, also of a list.
fn extreme(largest: bool, arguments: &[Value], at: At) -> Fallible<Value> {
    let mut scalar: Option<Scalar> = None;
    for argument in arguments {
        let (Value::Integer(next, _) | Value::Floating(next, _)) = argument else {
            let message = format!("min or max of a value of type `{}`", argument.ty());
            return Err(Fault::unsupported(at, message, "compare numbers"));
        };
        scalar = Some(match scalar {
            // Equal types stay as they are: min(char, char) is a char.
            Some(so_far) if so_far == *next => so_far,
            Some(so_far) => common(so_far, *next),
            None => *next,
        });
    }
    let scalar = scalar.unwrap_or(Scalar::Int);
    let mut best: Option<Value> = None;
    for argument in arguments {
        let next = convert(argument, scalar, at).unwrap_or_else(|| {
            Err(Fault::unsupported(
                at,
                "min or max of no number",
                "compare numbers",
            ))
        })?;
        let better = match (&best, &next) {
            (Some(Value::Integer(_, best)), Value::Integer(_, next)) => {
                if largest {
                    next > best
                } else {
                    next < best
                }
            }
            (Some(Value::Floating(_, best)), Value::Floating(_, next)) => {
                if largest {
                    next > best
                } else {
                    next < best
                }
            }
            _ => true,
        };
        if better {
            best = Some(next);
        }
    }
    Ok(best.unwrap_or(Value::Void))
}

fn magnitude(value: &Value, at: At) -> Fallible<Value> {
    let Value::Integer(scalar, value) = *value else {
        return Ok(Value::Void);
    };
    let scalar = super::arithmetic::promoted(scalar);
    let result = value.abs();
    if result > scalar.range().1 {
        return Err(Fault::host(
            at,
            format!("abs({value}) does not fit `{}`", scalar.name()),
        ));
    }
    Ok(Value::Integer(scalar, result))
}

fn bits(name: &str, arguments: &[Value]) -> Option<Value> {
    let [Value::Integer(_, value)] = arguments else {
        return None;
    };
    let value = *value as u64;
    let count = match name {
        "__builtin_popcount" => (value as u32).count_ones(),
        "__builtin_popcountll" | "__builtin_popcountl" => value.count_ones(),
        "__builtin_clz" if value as u32 != 0 => (value as u32).leading_zeros(),
        "__builtin_clzll" | "__builtin_clzl" if value != 0 => value.leading_zeros(),
        "__builtin_ctz" if value as u32 != 0 => (value as u32).trailing_zeros(),
        "__builtin_ctzll" | "__builtin_ctzl" if value != 0 => value.trailing_zeros(),
        _ => return None,
    };
    Some(Value::int(count.into()))
}

/// Functions on `float` and `double`. Integers count as `double`, as in C++.
fn floating(name: &str, arguments: &[Value], at: At) -> Option<Fallible<Value>> {
    if let Some(converted) = half_conversion(name, arguments) {
        return Some(Ok(converted));
    }
    // `sqrtf` is `sqrt` in float; `ceilf`, `powf` and so on likewise.
    let stem = name.strip_suffix('f').filter(|stem| is_function(stem));
    let single = stem.is_some();
    let stem = stem.unwrap_or(name);
    if !is_function(stem) {
        return None;
    }
    let all_float = arguments
        .iter()
        .all(|argument| matches!(argument, Value::Floating(Scalar::Float, _)));
    let scalar = if single || (all_float && !arguments.is_empty()) {
        Scalar::Float
    } else {
        Scalar::Double
    };
    let mut numbers = Vec::new();
    for argument in arguments {
        match convert(argument, scalar, at)? {
            Ok(Value::Floating(_, value)) => numbers.push(value),
            Ok(_) => return None,
            Err(fault) => return Some(Err(fault)),
        }
    }
    let result = evaluate(stem, &numbers)?;
    if matches!(stem, "lround" | "llround" | "lrint" | "llrint") {
        let result = Value::Floating(Scalar::Double, result);
        return convert(&result, Scalar::Long, at);
    }
    if matches!(stem, "isnan" | "isinf" | "isfinite") {
        return Some(Ok(Value::boolean(result != 0.0)));
    }
    Some(Ok(Value::floating(scalar, result)))
}

/// The C library's arithmetic on `double` that gives a `float`. Rounds by way of `double`, which is another
/// `float` where that lies halfway between two.
fn narrowing(name: &str, arguments: &[Value], at: At) -> Option<Fallible<Value>> {
    let stem = match name {
        "fadd" | "fsub" | "fmul" | "fdiv" | "fsqrt" | "ffma" => &name[1..],
        _ => return None,
    };
    let mut numbers = Vec::new();
    for argument in arguments {
        match convert(argument, Scalar::Double, at)? {
            Ok(Value::Floating(_, value)) => numbers.push(value),
            Ok(_) => return None,
            Err(fault) => return Some(Err(fault)),
        }
    }
    let result = match (stem, numbers.as_slice()) {
        ("add", [x, y]) => x + y,
        ("sub", [x, y]) => x - y,
        ("mul", [x, y]) => x * y,
        ("div", [x, y]) => x / y,
        _ => evaluate(stem, &numbers)?,
    };
    Some(Ok(Value::floating(Scalar::Float, result)))
}

fn half_conversion(name: &str, arguments: &[Value]) -> Option<Value> {
    let [Value::Floating(_, value)] = arguments else {
        return None;
    };
    let scalar = match name {
        "__float2half" | "__float2half_rn" | "__double2half" => Scalar::Half,
        "__float2bfloat16" | "__float2bfloat16_rn" | "__double2bfloat16" => Scalar::Bf16,
        "__half2float" | "__bfloat162float" => Scalar::Float,
        _ => return None,
    };
    Some(Value::floating(scalar, *value))
}

/// Whether the device's own library has functions of a name as well, which a kernel then overloads.
pub(super) fn is_library_function(name: &str) -> bool {
    let stem = name.strip_suffix('f').unwrap_or(name);
    is_function(name)
        || is_function(stem)
        || matches!(name, "min" | "max" | "abs" | "labs" | "llabs")
}

fn is_function(name: &str) -> bool {
    const UNARY: [&str; 32] = [
        "ceil",
        "floor",
        "round",
        "trunc",
        "rint",
        "nearbyint",
        "sqrt",
        "cbrt",
        "rsqrt",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "fabs",
        "abs",
        "lround",
        "llround",
        "lrint",
        "isnan",
        "isinf",
    ];
    UNARY.contains(&name)
        || matches!(
            name,
            "isfinite"
                | "pow"
                | "fmod"
                | "fmin"
                | "fmax"
                | "atan2"
                | "hypot"
                | "ldexp"
                | "fma"
                | "llrint"
                | "fdim"
                | "copysign"
        )
}

fn evaluate(name: &str, numbers: &[f64]) -> Option<f64> {
    Some(match (name, numbers) {
        ("ceil", [x]) => x.ceil(),
        ("floor", [x]) => x.floor(),
        ("round" | "lround" | "llround", [x]) => x.round(),
        ("trunc", [x]) => x.trunc(),
        ("rint" | "nearbyint" | "lrint" | "llrint", [x]) => x.round_ties_even(),
        ("sqrt", [x]) => x.sqrt(),
        ("cbrt", [x]) => x.cbrt(),
        ("rsqrt", [x]) => 1.0 / x.sqrt(),
        ("exp", [x]) => x.exp(),
        ("exp2", [x]) => x.exp2(),
        ("expm1", [x]) => x.exp_m1(),
        ("log", [x]) => x.ln(),
        ("log2", [x]) => x.log2(),
        ("log10", [x]) => x.log10(),
        ("log1p", [x]) => x.ln_1p(),
        ("sin", [x]) => x.sin(),
        ("cos", [x]) => x.cos(),
        ("tan", [x]) => x.tan(),
        ("asin", [x]) => x.asin(),
        ("acos", [x]) => x.acos(),
        ("atan", [x]) => x.atan(),
        ("sinh", [x]) => x.sinh(),
        ("cosh", [x]) => x.cosh(),
        ("tanh", [x]) => x.tanh(),
        ("fabs" | "abs", [x]) => x.abs(),
        ("isnan", [x]) => f64::from(u8::from(x.is_nan())),
        ("isinf", [x]) => f64::from(u8::from(x.is_infinite())),
        ("isfinite", [x]) => f64::from(u8::from(x.is_finite())),
        ("pow", [x, y]) => x.powf(*y),
        ("fmod", [x, y]) => x % y,
        ("fmin", [x, y]) => x.min(*y),
        ("fmax", [x, y]) => x.max(*y),
        ("fdim", [x, y]) => (x - y).max(0.0),
        ("copysign", [x, y]) => x.copysign(*y),
        ("atan2", [x, y]) => x.atan2(*y),
        ("hypot", [x, y]) => x.hypot(*y),
        ("ldexp", [x, y]) => x * y.exp2(),
        ("fma", [x, y, z]) => x.mul_add(*y, *z),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, arguments: &[Value]) -> Value {
        call(name, arguments, 0).expect("known").expect("defined")
    }

    #[test]
    fn overloads_follow_the_argument() {
        let float = |value| Value::floating(Scalar::Float, value);
        assert_eq!(result("ceil", &[float(1.2)]), float(2.0));
        assert_eq!(
            result("ceil", &[Value::int(3)]),
            Value::Floating(Scalar::Double, 3.0)
        );
        assert_eq!(result("sqrtf", &[Value::int(16)]), float(4.0));
        assert_eq!(result("log2", &[float(8.0)]), float(3.0));
        assert_eq!(
            result("pow", &[Value::int(2), Value::int(10)]),
            Value::Floating(Scalar::Double, 1024.0)
        );
    }

    #[test]
    fn narrowing_functions_give_a_float() {
        let float = |value| Value::floating(Scalar::Float, value);
        assert_eq!(result("fsqrt", &[Value::int(64)]), float(8.0));
        // 1/3 to the nearest float.
        let third = result("fdiv", &[Value::int(1), Value::int(3)]);
        assert_eq!(
            third,
            Value::Floating(Scalar::Float, 11_184_811.0 / 33_554_432.0)
        );
        assert_eq!(result("fsub", &[float(1.0), Value::int(3)]), float(-2.0));
        let fused = [Value::int(2), Value::int(3), Value::int(4)];
        assert_eq!(result("ffma", &fused), float(10.0));
        assert_eq!(call("fsqrt", &[], 0), None);
    }

    #[test]
    fn extremes_take_the_common_type() {
        let size = |value| Value::Integer(Scalar::ULong, value);
        assert_eq!(result("min", &[Value::int(7), size(3)]), size(3));
        assert_eq!(
            result("max", &[Value::int(-1), Value::int(2)]),
            Value::int(2)
        );
        assert_eq!(result("__builtin_clz", &[Value::int(1)]), Value::int(31));
        assert!(call("launch", &[Value::int(1)], 0).is_none());
    }
}
