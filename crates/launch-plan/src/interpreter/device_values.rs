//! Values of host variables made of a device's bytes, or guessed where there are none yet.

use std::rc::Rc;

use super::memory::MAX_ELEMENTS;
use super::value::Value;
use crate::types::{Scalar, Type};

/// What stands for a value that nobody knows. Guesses are for meeting kernels by, never for running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    Zero,
    One,
    Large,
}

/// Large enough for a loop or a size to be one.
const LARGE: i128 = 1 << 20;

/// Whether every bit pattern of the type is a value: no addresses, no handles.
pub(super) fn holds_numbers_only(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Record(record) => record
            .fields
            .iter()
            .all(|field| holds_numbers_only(&field.ty)),
        Type::Array(element, _) | Type::StdArray(element, _) => holds_numbers_only(element),
        _ => false,
    }
}

/// The value that a guess is in a type.
pub(super) fn guessed(ty: &Type, guess: Guess) -> Option<Value> {
    match ty {
        Type::Scalar(scalar) if scalar.is_integer() => {
            let value = match guess {
                Guess::Zero => 0,
                Guess::One => 1,
                Guess::Large => LARGE.min(scalar.range().1),
            };
            Some(Value::Integer(*scalar, value))
        }
        Type::Scalar(scalar) => {
            let value = match guess {
                Guess::Zero => 0.0,
                Guess::One => 1.0,
                Guess::Large if scalar.is_small_float() => 64.0,
                Guess::Large => LARGE as f64,
            };
            Some(Value::Floating(*scalar, value))
        }
        Type::Record(record) => {
            let fields = record.fields.iter();
            let fields = fields.map(|field| guessed(&field.ty, guess).map(Some));
            Some(Value::Record(
                Rc::clone(record),
                fields.collect::<Option<_>>()?,
            ))
        }
        Type::Array(element, length) | Type::StdArray(element, length)
            if ty.scalars() <= MAX_ELEMENTS =>
        {
            let value = guessed(element, guess)?;
            let length = usize::try_from(*length).ok()?;
            Some(Value::Row(ty.clone(), vec![Some(value); length]))
        }
        _ => None,
    }
}

/// The value whose little-endian bytes these are; as many as the type has.
pub(super) fn value_of(ty: &Type, bytes: &[u8]) -> Option<Value> {
    match ty {
        Type::Scalar(scalar) => scalar_of(*scalar, bytes),
        Type::Record(record) => {
            let field = |field: &crate::types::Field| {
                let start = usize::try_from(field.offset_bytes).ok()?;
                let size = usize::try_from(field.ty.size_bytes()?).ok()?;
                let part = bytes.get(start..start.checked_add(size)?)?;
                value_of(&field.ty, part).map(Some)
            };
            let fields = record.fields.iter().map(field).collect::<Option<_>>()?;
            Some(Value::Record(Rc::clone(record), fields))
        }
        Type::Array(element, _) | Type::StdArray(element, _) => {
            let size = usize::try_from(element.size_bytes()?).ok()?;
            let parts = bytes.chunks(size.max(1));
            let values = parts.map(|part| value_of(element, part).map(Some));
            Some(Value::Row(ty.clone(), values.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// A value whose first bytes are written over. `None` where it has no value before.
pub(super) fn partly_overwritten(ty: &Type, old: Option<&Value>, first: &[u8]) -> Option<Value> {
    let mut bytes = old?.to_bytes()?;
    bytes.get_mut(..first.len())?.copy_from_slice(first);
    value_of(ty, &bytes)
}

fn scalar_of(scalar: Scalar, bytes: &[u8]) -> Option<Value> {
    if bytes.len() as u64 != scalar.size_bytes() {
        return None;
    }
    if scalar.is_integer() {
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        // `bool`: any byte but 0 is true.
        return Some(Value::Integer(
            scalar,
            scalar.wrap(i128::from_le_bytes(wide)),
        ));
    }
    let value = match (scalar, bytes) {
        (Scalar::Double, _) => f64::from_le_bytes(bytes.try_into().ok()?),
        (Scalar::Float, _) => f32::from_le_bytes(bytes.try_into().ok()?).into(),
        (Scalar::Half, _) => half::f16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        (Scalar::Bf16, _) => half::bf16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        // The upper half of an f16.
        (Scalar::E5m2, &[byte]) => half::f16::from_le_bytes([0, byte]).to_f64(),
        (Scalar::E4m3, &[byte]) => e4m3(byte),
        _ => return None,
    };
    Some(Value::Floating(scalar, value))
}

/// Sign, four bits of exponent with a bias of 7, three of mantissa; no infinities, one NaN.
fn e4m3(byte: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(byte >> 3 & 15), f64::from(byte & 7));
    let magnitude = match (exponent, byte & 7) {
        (15, 7) => f64::NAN,
        (0, _) => mantissa / 8.0 * 2_f64.powi(-6),
        _ => (1.0 + mantissa / 8.0) * 2_f64.powi(exponent - 7),
    };
    if byte & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Record;

    fn scalar(scalar: Scalar, bytes: &[u8]) -> Value {
        value_of(&Type::Scalar(scalar), bytes).unwrap()
    }

    #[test]
    fn bytes_become_values_of_the_variable_s_type() {
        assert_eq!(
            scalar(Scalar::Int, &[0xfe, 0xff, 0xff, 0xff]),
            Value::int(-2)
        );
        assert_eq!(scalar(Scalar::Bool, &[0x80]), Value::boolean(true));
        assert_eq!(
            scalar(Scalar::ULong, &[0xff; 8]),
            Value::Integer(Scalar::ULong, (1 << 64) - 1)
        );
        let float = |scalar_type, bytes: &[u8]| match scalar(scalar_type, bytes) {
            Value::Floating(_, value) => value,
            other => panic!("{other:?}"),
        };
        assert!(float(Scalar::Float, &f32::NAN.to_le_bytes()).is_nan());
        assert_eq!(float(Scalar::Half, &[0x00, 0x3c]), 1.0);
        assert_eq!(float(Scalar::E5m2, &[0x3c]), 1.0);
        // Of OCP's table: the largest, the least, one, and the NaN.
        assert_eq!(float(Scalar::E4m3, &[0x7e]), 448.0);
        assert_eq!(float(Scalar::E4m3, &[0x81]), -(2_f64.powi(-9)));
        assert_eq!(float(Scalar::E4m3, &[0x38]), 1.0);
        assert!(float(Scalar::E4m3, &[0xff]).is_nan());
        assert_eq!(value_of(&Type::INT, &[0; 3]), None);
    }

    #[test]
    fn structs_are_read_field_by_field_and_addresses_not_at_all() {
        let members = vec![
            ("a".to_owned(), Type::Scalar(Scalar::Char)),
            ("b".to_owned(), Type::INT),
        ];
        let record = Rc::new(Record::new("S", members).unwrap());
        let ty = Type::Record(Rc::clone(&record));
        let value = value_of(&ty, &[7, 9, 9, 9, 1, 0, 0, 0]).unwrap();
        let fields = vec![
            Some(Value::Integer(Scalar::Char, 7)),
            Some(Value::Integer(Scalar::Int, 1)),
        ];
        assert_eq!(value, Value::Record(record, fields));
        let pointer = Type::pointer_to(Type::INT, false);
        assert!(!holds_numbers_only(&pointer));
        let holder = Record::new("P", vec![("p".to_owned(), pointer)]).unwrap();
        assert!(!holds_numbers_only(&Type::Record(Rc::new(holder))));
    }

    #[test]
    fn a_copy_that_ends_within_a_value_changes_its_first_bytes() {
        let old = Value::int(0x0403_0201);
        let new = partly_overwritten(&Type::INT, Some(&old), &[9]);
        assert_eq!(new, Some(Value::int(0x0403_0209)));
        assert_eq!(partly_overwritten(&Type::INT, None, &[9]), None);
    }
}
