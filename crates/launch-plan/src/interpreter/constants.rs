//! Names that headers define.

use super::runtime::runtime_constant;
use super::value::{DriverFunction, Value};
use crate::types::Scalar;

/// A function that frees memory, as a value.
pub(super) fn freeing(name: &str) -> Option<Value> {
    const NAMES: [&str; 4] = ["cudaFree", "cudaFreeAsync", "cudaFreeHost", "free"];
    let name = NAMES.into_iter().find(|known| *known == name)?;
    Some(Value::Driver(DriverFunction::Free(name)))
}

/// The value of a constant from a standard or CUDA header.
pub(super) fn builtin(name: &str) -> Option<Value> {
    integer(name).or_else(|| floating(name))
}

fn integer(name: &str) -> Option<Value> {
    let (scalar, value): (Scalar, i128) = match name {
        "INT_MAX" => (Scalar::Int, i32::MAX.into()),
        "INT_MIN" => (Scalar::Int, i32::MIN.into()),
        "UINT_MAX" => (Scalar::UInt, u32::MAX.into()),
        "SHRT_MAX" => (Scalar::Int, i16::MAX.into()),
        "LONG_MAX" => (Scalar::Long, i64::MAX.into()),
        "LONG_MIN" => (Scalar::Long, i64::MIN.into()),
        "LLONG_MAX" | "INT64_MAX" => (Scalar::LongLong, i64::MAX.into()),
        "LLONG_MIN" | "INT64_MIN" => (Scalar::LongLong, i64::MIN.into()),
        "ULONG_MAX" | "SIZE_MAX" => (Scalar::ULong, u64::MAX.into()),
        "ULLONG_MAX" | "UINT64_MAX" => (Scalar::ULongLong, u64::MAX.into()),
        "INT32_MAX" => (Scalar::Int, i32::MAX.into()),
        "UINT32_MAX" => (Scalar::UInt, u32::MAX.into()),
        "CHAR_BIT" => (Scalar::Int, 8),
        "EXIT_SUCCESS" => (Scalar::Int, 0),
        "EXIT_FAILURE" => (Scalar::Int, 1),
        _ => (Scalar::Int, runtime_constant(name)?),
    };
    Some(Value::Integer(scalar, value))
}

fn floating(name: &str) -> Option<Value> {
    let (scalar, value) = match name {
        "FLT_MAX" => (Scalar::Float, f64::from(f32::MAX)),
        "FLT_MIN" => (Scalar::Float, f64::from(f32::MIN_POSITIVE)),
        "FLT_EPSILON" => (Scalar::Float, f64::from(f32::EPSILON)),
        "DBL_MAX" => (Scalar::Double, f64::MAX),
        "DBL_MIN" => (Scalar::Double, f64::MIN_POSITIVE),
        "DBL_EPSILON" => (Scalar::Double, f64::EPSILON),
        "INFINITY" | "HUGE_VALF" | "CUDART_INF_F" => (Scalar::Float, f64::INFINITY),
        "HUGE_VAL" | "CUDART_INF" => (Scalar::Double, f64::INFINITY),
        "NAN" => (Scalar::Float, f64::NAN),
        "M_PI" => (Scalar::Double, std::f64::consts::PI),
        "M_PI_2" => (Scalar::Double, std::f64::consts::FRAC_PI_2),
        "M_E" => (Scalar::Double, std::f64::consts::E),
        "M_SQRT2" => (Scalar::Double, std::f64::consts::SQRT_2),
        "M_SQRT1_2" => (Scalar::Double, std::f64::consts::FRAC_1_SQRT_2),
        "M_LN2" => (Scalar::Double, std::f64::consts::LN_2),
        "M_LOG2E" => (Scalar::Double, std::f64::consts::LOG2_E),
        _ => return None,
    };
    Some(Value::Floating(scalar, value))
}
