//! Host memory as bytes, for `memcpy` between variables of different types and parts of unions.

use super::super::device_values::holds_numbers_only;
use super::super::overlay::{Byte, bytes_of, span, value_of_bytes};
use super::super::value::{HostRef, Value};
use super::Memory;
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::types::Type;

impl Memory {
    /// The outermost union that a place lies within, and where in it.
    pub(in crate::interpreter) fn union_around(
        &mut self,
        reference: &HostRef,
        at: At,
    ) -> Fallible<Option<(HostRef, usize)>> {
        for length in 0..reference.fields.len() {
            let mut around = reference.clone();
            around.fields.truncate(length);
            let ty = self.type_at(&around, at)?;
            if matches!(&ty, Type::Record(record) if record.overlapping) {
                let place = span(&ty, &reference.fields[length..]);
                return Ok(place.map(|(start, _)| (around, start)));
            }
        }
        Ok(None)
    }

    /// The bytes from a place on.
    pub(in crate::interpreter) fn bytes_from(
        &mut self,
        reference: &HostRef,
        wanted: usize,
        at: At,
    ) -> Fallible<Vec<Byte>> {
        if let Some((around, start)) = self.union_around(reference, at)? {
            let ty = numbers(self.type_at(&around, at)?, at)?;
            let value = self.load(&around, at)?;
            let bytes = bytes_of(value.as_ref(), &ty);
            let part = bytes.get(start..start.saturating_add(wanted));
            return part
                .map(<[Byte]>::to_vec)
                .ok_or_else(|| too_long(wanted, at));
        }
        let (ty, values) = self.run(reference, at)?;
        let ty = numbers(ty, at)?;
        let mut bytes = Vec::new();
        for value in values.iter().take(wanted.div_ceil(size_of(&ty))) {
            bytes.extend(bytes_of(value.as_ref(), &ty));
        }
        if bytes.len() < wanted {
            return Err(too_long(wanted, at));
        }
        bytes.truncate(wanted);
        Ok(bytes)
    }

    /// Writes bytes from a place on.
    pub(in crate::interpreter) fn overwrite(
        &mut self,
        reference: &HostRef,
        data: &[Byte],
        at: At,
    ) -> Fallible<()> {
        if let Some((around, start)) = self.union_around(reference, at)? {
            let ty = numbers(self.type_at(&around, at)?, at)?;
            let mut value = self.load(&around, at)?;
            if !put(&mut value, &ty, start, data) {
                return Err(too_long(data.len(), at));
            }
            return match value {
                Some(value) => self.store(&around, value, at),
                None => Ok(()),
            };
        }
        let (ty, values) = self.run(reference, at)?;
        let ty = numbers(ty, at)?;
        let size = size_of(&ty);
        if data.len() > values.len().saturating_mul(size) {
            return Err(too_long(data.len(), at));
        }
        for (slot, part) in values.iter_mut().zip(data.chunks(size)) {
            put(slot, &ty, 0, part);
        }
        Ok(())
    }
}

/// Writes bytes over those of a value from `start` on; says whether they have room.
fn put(value: &mut Option<Value>, ty: &Type, start: usize, data: &[Byte]) -> bool {
    let mut bytes = bytes_of(value.as_ref(), ty);
    let Some(part) = bytes.get_mut(start..start.saturating_add(data.len())) else {
        return false;
    };
    part.copy_from_slice(data);
    *value = value_of_bytes(ty, &bytes);
    true
}

fn size_of(ty: &Type) -> usize {
    let size = ty.size_bytes().and_then(|size| usize::try_from(size).ok());
    size.unwrap_or(1).max(1)
}

/// Addresses have no bytes here.
fn numbers(ty: Type, at: At) -> Fallible<Type> {
    if holds_numbers_only(&ty) {
        return Ok(ty);
    }
    Err(Fault::unsupported(
        at,
        "this copy between host variables is not in the host subset",
        "assign them one by one",
    ))
}

fn too_long(bytes: usize, at: At) -> Box<Fault> {
    let message = format!("{bytes} bytes are copied from or to host memory that has fewer");
    Fault::host(at, message)
}
