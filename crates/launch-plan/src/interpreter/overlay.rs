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
use crate::types::{Field, Record, Type};

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
                spread(record, fields, index, rest);
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
        spread(record, &mut fields, 0, &[]);
    }
    Value::Record(Rc::clone(record), fields)
}

/// A byte of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Byte {
    /// Between two fields, where a store changes nothing.
    Padding,
    /// Never set, or part of an address.
    Unset,
    Set(u8),
}

/// Gives the other fields the bytes of the part at `path` in the field at `index`, which was just written.
fn spread(record: &Record, fields: &mut [Option<Value>], index: usize, path: &[Part]) {
    let Some(written) = record.fields.get(index) else {
        return;
    };
    let Some((start, size)) = span(&written.ty, path) else {
        return;
    };
    let before = record.fields.iter().zip(fields.iter()).enumerate();
    let before = before.filter(|(other, _)| *other != index);
    let mut bytes = merged(before.map(|(_, pair)| pair), record.size_bytes);
    let new = bytes_of(fields[index].as_ref(), &written.ty);
    for (at, (byte, &new)) in bytes.iter_mut().zip(&new).enumerate() {
        let is_written = (start..start + size).contains(&at) && new != Byte::Padding;
        if is_written || matches!(new, Byte::Set(_)) {
            *byte = new;
        }
    }
    for (other, field) in record.fields.iter().enumerate() {
        if other != index {
            let size = field.ty.size_bytes().unwrap_or(0);
            let size = usize::try_from(size).unwrap_or(0).min(bytes.len());
            fields[other] = value_of_bytes(&field.ty, &bytes[..size]);
        }
    }
}

/// Where the part at a path lies within a value of type `ty`, and its size.
pub(super) fn span(ty: &Type, path: &[Part]) -> Option<(usize, usize)> {
    let mut ty = ty;
    let mut start = 0_u64;
    for &part in path {
        match (part, ty) {
            (Part::Field(field), Type::Record(record)) => {
                let field = record.fields.get(field)?;
                start += field.offset_bytes;
                ty = &field.ty;
            }
            (Part::Element(index), Type::Array(element, _) | Type::StdArray(element, _)) => {
                start += element
                    .size_bytes()?
                    .checked_mul(u64::try_from(index).ok()?)?;
                ty = element;
            }
            _ => return None,
        }
    }
    let size = usize::try_from(ty.size_bytes()?).ok()?;
    Some((usize::try_from(start).ok()?, size))
}

/// The bytes of fields that lie on top of each other and agree where they are set.
fn merged<'v>(
    fields: impl Iterator<Item = (&'v Field, &'v Option<Value>)>,
    size_bytes: u64,
) -> Vec<Byte> {
    let mut bytes = vec![Byte::Padding; usize::try_from(size_bytes).unwrap_or(0)];
    for (field, value) in fields {
        for (slot, byte) in bytes.iter_mut().zip(bytes_of(value.as_ref(), &field.ty)) {
            if !matches!(slot, Byte::Set(_)) && byte != Byte::Padding {
                *slot = byte;
            }
        }
    }
    bytes
}

/// The bytes of a value as far as they are set.
pub(super) fn bytes_of(value: Option<&Value>, ty: &Type) -> Vec<Byte> {
    let size = ty.size_bytes().and_then(|size| usize::try_from(size).ok());
    let size = size.unwrap_or(0);
    match ty {
        Type::Record(record) => {
            let none = vec![None; record.fields.len()];
            let values = match value {
                Some(Value::Record(_, values)) => values,
                _ => &none,
            };
            let fields = record.fields.iter().zip(values);
            if record.overlapping {
                return merged(fields, record.size_bytes);
            }
            let mut bytes = vec![Byte::Padding; size];
            for (field, value) in fields {
                let start = usize::try_from(field.offset_bytes).unwrap_or(usize::MAX);
                let part = bytes_of(value.as_ref(), &field.ty);
                for (slot, byte) in bytes.iter_mut().skip(start).zip(part) {
                    *slot = byte;
                }
            }
            bytes
        }
        Type::Array(element, _) | Type::StdArray(element, _) => match value {
            Some(Value::Row(_, values)) => {
                let parts = values.iter();
                parts
                    .flat_map(|value| bytes_of(value.as_ref(), element))
                    .collect()
            }
            _ => vec![Byte::Unset; size],
        },
        _ => match value.and_then(Value::to_bytes) {
            Some(known) => known.into_iter().map(Byte::Set).collect(),
            None => vec![Byte::Unset; size],
        },
    }
}

/// The value of such bytes; parts of which one is not set have none.
pub(super) fn value_of_bytes(ty: &Type, bytes: &[Byte]) -> Option<Value> {
    match ty {
        Type::Record(record) => {
            let fields = record.fields.iter().map(|field| {
                let start = usize::try_from(field.offset_bytes).ok()?;
                let size = usize::try_from(field.ty.size_bytes()?).ok()?;
                value_of_bytes(&field.ty, bytes.get(start..start.checked_add(size)?)?)
            });
            Some(Value::Record(Rc::clone(record), fields.collect()))
        }
        Type::Array(element, _) | Type::StdArray(element, _) => {
            let size = usize::try_from(element.size_bytes()?).ok()?;
            let parts = bytes.chunks(size.max(1));
            let values = parts.map(|part| value_of_bytes(element, part));
            Some(Value::Row(ty.clone(), values.collect()))
        }
        _ => {
            let known = bytes.iter().map(|byte| match byte {
                Byte::Set(byte) => Some(*byte),
                Byte::Padding | Byte::Unset => None,
            });
            value_of(ty, &known.collect::<Option<Vec<u8>>>()?)
        }
    }
}
