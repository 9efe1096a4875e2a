//! Unions: what is stored in one field is what the others hold.
//!
//! A union is kept as the values of all its fields, each of the same bytes. Bytes that nobody has set stay
//! unset in every field, and an address has no bytes here: the other fields then have no value.

use std::rc::Rc;

use super::device_values::value_of;
use super::memory::Memory;
use super::value::{HostRef, Part, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::types::{Record, Type};

impl Memory {
    /// Refuses a place within a union, whose other fields a copy would leave as they were.
    pub(super) fn outside_unions(&mut self, reference: &HostRef, at: At) -> Fallible<()> {
        let mut around = reference.clone();
        while around.fields.pop().is_some() {
            if matches!(self.type_at(&around, at)?, Type::Record(record) if record.overlapping) {
                let message = "a copy from or to a part of a union is not in the host subset";
                let hint = "copy the whole union, or a plain variable";
                return Err(Fault::unsupported(at, message, hint));
            }
        }
        Ok(())
    }
}

/// After a store at the end of a path from `slot`: brings the other fields of a union on the path in line.
pub(super) fn settle(slot: &mut Option<Value>, path: &[Part]) {
    let Some((&part, rest)) = path.split_first() else {
        return;
    };
    match (part, slot) {
        (Part::Field(index), Some(Value::Record(record, fields))) => {
            if let Some(field) = fields.get_mut(index) {
                settle(field, rest);
            }
            if record.overlapping {
                spread(record, fields, index);
            }
        }
        (Part::Element(index), Some(Value::Row(_, values))) => {
            if let Some(value) = values.get_mut(index) {
                settle(value, rest);
            }
        }
        _ => {}
    }
}

/// A union whose first field has this value.
pub(super) fn union_of(record: &Rc<Record>, first: Option<Value>) -> Value {
    let mut fields = vec![None; record.fields.len()];
    if let Some(slot) = fields.first_mut() {
        *slot = first;
        spread(record, &mut fields, 0);
    }
    Value::Record(Rc::clone(record), fields)
}

/// Gives the other fields the bytes of the one at `index`, over their own.
fn spread(record: &Record, fields: &mut [Option<Value>], index: usize) {
    let (Some(ty), Some(value)) = (record.fields.get(index), fields.get(index)) else {
        return;
    };
    let written = known_bytes(value.as_ref(), &ty.ty);
    for (other, field) in record.fields.iter().enumerate() {
        if other == index {
            continue;
        }
        let mut bytes = known_bytes(fields[other].as_ref(), &field.ty);
        for (byte, &new) in bytes.iter_mut().zip(&written) {
            *byte = new;
        }
        fields[other] = value_of_known(&field.ty, &bytes);
    }
}

/// The bytes of a value as far as they are set.
fn known_bytes(value: Option<&Value>, ty: &Type) -> Vec<Option<u8>> {
    let size = ty.size_bytes().and_then(|size| usize::try_from(size).ok());
    let mut bytes = vec![None; size.unwrap_or(0)];
    let mut put = |start: usize, part: Vec<Option<u8>>| {
        for (slot, byte) in bytes.iter_mut().skip(start).zip(part) {
            *slot = byte;
        }
    };
    match value {
        Some(Value::Record(record, fields)) => {
            for (field, value) in record.fields.iter().zip(fields) {
                let start = usize::try_from(field.offset_bytes).unwrap_or(usize::MAX);
                put(start, known_bytes(value.as_ref(), &field.ty));
            }
        }
        Some(Value::Row(Type::Array(element, _) | Type::StdArray(element, _), values)) => {
            let parts = values
                .iter()
                .flat_map(|value| known_bytes(value.as_ref(), element));
            put(0, parts.collect());
        }
        Some(value) => {
            let known = value.to_bytes().unwrap_or_default();
            put(0, known.into_iter().map(Some).collect());
        }
        None => {}
    }
    bytes
}

/// The value of such bytes; parts of which one is not set have none.
fn value_of_known(ty: &Type, bytes: &[Option<u8>]) -> Option<Value> {
    match ty {
        Type::Record(record) => {
            let fields = record.fields.iter().map(|field| {
                let start = usize::try_from(field.offset_bytes).ok()?;
                let size = usize::try_from(field.ty.size_bytes()?).ok()?;
                value_of_known(&field.ty, bytes.get(start..start.checked_add(size)?)?)
            });
            Some(Value::Record(Rc::clone(record), fields.collect()))
        }
        Type::Array(element, _) | Type::StdArray(element, _) => {
            let size = usize::try_from(element.size_bytes()?).ok()?;
            let parts = bytes.chunks(size.max(1));
            let values = parts.map(|part| value_of_known(element, part));
            Some(Value::Row(ty.clone(), values.collect()))
        }
        _ => {
            let bytes: Option<Vec<u8>> = bytes.iter().copied().collect();
            value_of(ty, &bytes?)
        }
    }
}
