//! `cudaMalloc3D`, `cudaMemset3D` and `cudaMemcpy3D`: slices of rows.

use super::allocation::PITCH_BYTES;
use super::types::runtime_type;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{Target, Value};
use crate::source::text::At;
use crate::types::{Scalar, Type};

/// A `cudaPitchedPtr` at a position.
struct Slices {
    first: Value,
    pitch: u64,
    /// From one slice to the next.
    slice_bytes: u64,
}

impl Interpreter<'_> {
    pub(super) fn volume_call(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("make_cudaExtent", [_, _, _]) => self.made("cudaExtent", values, at),
            ("make_cudaPos", [_, _, _]) => self.made("cudaPos", values, at),
            ("make_cudaPitchedPtr", [_, _, _, _]) => self.made("cudaPitchedPtr", values, at),
            ("cudaMalloc3D", [target, extent]) => self.malloc_volume(target, extent, at),
            ("cudaMemset3D" | "cudaMemset3DAsync", [pointer, value, extent, ..]) => {
                self.memset_volume(pointer, value, extent, at)
            }
            ("cudaMemcpy3D" | "cudaMemcpy3DAsync", [parameters, ..]) => {
                self.memcpy_volume(parameters, at)
            }
            _ => return None,
        })
    }

    fn made(&mut self, name: &str, values: &[Value], at: At) -> Fallible<Value> {
        let Some(Type::Record(record)) = runtime_type(name) else {
            return Err(incomplete(name, at));
        };
        let mut fields = Vec::new();
        for (field, value) in record.fields.iter().zip(values) {
            fields.push(Some(self.convert(value.clone(), &field.ty, at)?));
        }
        Ok(Value::Record(record, fields))
    }

    fn malloc_volume(&mut self, target: &Value, extent: &Value, at: At) -> Fallible<Value> {
        let [width, height, depth] = self.extent_of(extent, at)?;
        let bytes = width
            .checked_next_multiple_of(PITCH_BYTES)
            .and_then(|row| Some((row, row.checked_mul(height)?.checked_mul(depth)?)));
        let Some((row, bytes)) = bytes else {
            let message = format!("{depth} slices of {height} rows of {width} bytes");
            return Err(Fault::launch(at, message).hint("is a byte count negative?"));
        };
        let address = self.allocate_device(bytes, at)?;
        let size = |bytes: u64| Value::Integer(Scalar::ULong, bytes.into());
        let pointer = Value::pointer(Type::Void, false, address);
        let fields = [pointer, size(row), size(width), size(height)];
        let made = self.made("cudaPitchedPtr", &fields, at)?;
        self.store_through(target, made, at)
    }

    fn memset_volume(
        &mut self,
        pointer: &Value,
        value: &Value,
        extent: &Value,
        at: At,
    ) -> Fallible<Value> {
        let slices = self.slices(pointer, None, at)?;
        let [width, height, depth] = self.extent_of(extent, at)?;
        let size = |bytes: u64| Value::Integer(Scalar::ULong, bytes.into());
        for slice in 0..depth {
            let first = self.further(&slices.first, slices.slice_bytes, slice, at)?;
            self.memset_rows(
                &first,
                &size(slices.pitch),
                value,
                [&size(width), &size(height)],
                at,
            )?;
        }
        Ok(Value::SUCCESS)
    }

    fn memcpy_volume(&mut self, parameters: &Value, at: At) -> Fallible<Value> {
        let what = match parameters {
            Value::Pointer(_, Target::Host(place)) => self.memory.load(&place.clone(), at)?,
            _ => None,
        };
        let Some(what @ Value::Record(..)) = what else {
            return Err(incomplete("cudaMemcpy3DParms", at));
        };
        for array in ["srcArray", "dstArray"] {
            if matches!(what.field(array), Some(Value::Pointer(_, target)) if !target.is_null()) {
                return Err(super::refused::textures("cudaMemcpy3D of an array", at));
            }
        }
        let part = |name: &str| what.field(name).cloned();
        let missing = || incomplete("cudaMemcpy3DParms", at);
        let source = part("srcPtr").ok_or_else(missing)?;
        let source = self.slices(&source, part("srcPos").as_ref(), at)?;
        let destination = part("dstPtr").ok_or_else(missing)?;
        let destination = self.slices(&destination, part("dstPos").as_ref(), at)?;
        let extent = part("extent").ok_or_else(missing)?;
        let [width, height, depth] = self.extent_of(&extent, at)?;
        let direction = match part("kind") {
            Some(Value::Integer(_, direction)) => Some(direction),
            _ => None,
        };
        let size = |bytes: u64| Value::Integer(Scalar::ULong, bytes.into());
        for slice in 0..depth {
            let to = self.further(&destination.first, destination.slice_bytes, slice, at)?;
            let from = self.further(&source.first, source.slice_bytes, slice, at)?;
            self.memcpy_rows(
                [&to, &size(destination.pitch)],
                [&from, &size(source.pitch)],
                [&size(width), &size(height)],
                direction,
                at,
            )?;
        }
        Ok(Value::SUCCESS)
    }

    /// Width in bytes, height, depth.
    fn extent_of(&mut self, extent: &Value, at: At) -> Fallible<[u64; 3]> {
        self.three(extent, ["width", "height", "depth"], "cudaExtent", at)
    }

    fn three(&mut self, value: &Value, names: [&str; 3], what: &str, at: At) -> Fallible<[u64; 3]> {
        let mut found = [0; 3];
        for (found, name) in found.iter_mut().zip(names) {
            let value = value.field(name).cloned();
            *found = self.count_of(&value.ok_or_else(|| incomplete(what, at))?, at)?;
        }
        Ok(found)
    }

    fn slices(&mut self, pitched: &Value, position: Option<&Value>, at: At) -> Fallible<Slices> {
        let missing = || incomplete("cudaPitchedPtr", at);
        let pointer = pitched.field("ptr").cloned().ok_or_else(missing)?;
        let pitch = pitched.field("pitch").cloned().ok_or_else(missing)?;
        let pitch = self.count_of(&pitch, at)?;
        let rows = pitched.field("ysize").cloned().ok_or_else(missing)?;
        let rows = self.count_of(&rows, at)?;
        let slice_bytes = pitch.checked_mul(rows).ok_or_else(missing)?;
        let [x, y, z] = match position {
            Some(position) => self.three(position, ["x", "y", "z"], "cudaPos", at)?,
            None => [0; 3],
        };
        let mut first = pointer;
        for (unit, count) in [(1, x), (pitch, y), (slice_bytes, z)] {
            if count > 0 {
                first = self.further(&first, unit, count, at)?;
            }
        }
        Ok(Slices {
            first,
            pitch,
            slice_bytes,
        })
    }
}

fn incomplete(what: &str, at: At) -> Box<Fault> {
    Fault::host(at, format!("a `{what}` with fields that have no value"))
        .hint("initialise all of it: `= {}`, then set what the call needs")
}
