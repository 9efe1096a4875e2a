//! `calloc`, `memset`, `memcpy` and their like on host memory.

use super::super::Interpreter;
use super::super::value::{HostRef, Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::types::{Scalar, Type};

impl Interpreter<'_> {
    /// A function on bytes; `None` where `name` is none.
    pub(super) fn memory_function(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("calloc", [count, size]) => self.calloc(count, size, at),
            ("memset", [destination, value, bytes]) => {
                self.memset_host(destination, value, bytes, at)
            }
            ("memcpy" | "memmove", [destination, source, bytes]) => {
                self.memcpy_host(name, destination, source, bytes, at)
            }
            _ => return None,
        })
    }

    fn calloc(&mut self, count: &Value, size: &Value, at: At) -> Fallible<Value> {
        let (count, size) = (self.count_of(count, at)?, self.count_of(size, at)?);
        let place = self.memory.allocate_raw(count.saturating_mul(size), at)?;
        self.memory.zero_raw(&place, at)?;
        Ok(Value::pointer(Type::Void, false, Target::Host(place)))
    }

    fn memset_host(
        &mut self,
        destination: &Value,
        value: &Value,
        bytes: &Value,
        at: At,
    ) -> Fallible<Value> {
        let bytes = self.count_of(bytes, at)?;
        let place = self.host_place("memset", destination, at)?;
        let Value::Integer(_, value) =
            self.convert(value.clone(), &Type::Scalar(Scalar::Int), at)?
        else {
            return Err(Fault::host(at, "memset sets bytes to an integer"));
        };
        let byte = (value & 0xff) as u8;
        let (ty, values) = self.memory.run(&place, at)?;
        let size = ty.size_bytes().unwrap_or(0);
        let filled = if byte == 0 {
            Value::zero_bits(&ty)
        } else {
            repeated(&ty, byte)
        };
        let (Some(filled), false) = (filled, size == 0 || !bytes.is_multiple_of(size.max(1)))
        else {
            return Err(Fault::unsupported(
                at,
                format!("memset of {bytes} bytes of host memory of type `{ty}` to {byte}"),
                "set the elements one by one",
            ));
        };
        let count = bytes / size;
        if count > values.len() as u64 {
            let message = format!(
                "memset of {bytes} bytes of host memory that has {}",
                (values.len() as u64).saturating_mul(size)
            );
            return Err(Fault::host(at, message));
        }
        for slot in values.iter_mut().take(usize::try_from(count).unwrap_or(0)) {
            *slot = Some(filled.clone());
        }
        self.spend_in_bulk(count.saturating_mul(1 + filled.weight()), at)?;
        Ok(destination.clone())
    }

    fn memcpy_host(
        &mut self,
        name: &str,
        destination: &Value,
        source: &Value,
        bytes: &Value,
        at: At,
    ) -> Fallible<Value> {
        let bytes = self.count_of(bytes, at)?;
        self.host_place(name, destination, at)?;
        self.host_place(name, source, at)?;
        self.memcpy(destination, source, bytes, None, at)?;
        Ok(destination.clone())
    }

    /// Where a pointer points that host code may follow.
    fn host_place(&mut self, name: &str, pointer: &Value, at: At) -> Fallible<HostRef> {
        match pointer {
            Value::Pointer(_, Target::Host(place)) => Ok(place.clone()),
            Value::Pointer(_, Target::Device(_) | Target::Symbol(_)) => Err(Fault::unsupported(
                at,
                format!("`{name}` of device memory in host code"),
                "use cudaMemset or cudaMemcpy",
            )),
            other => Err(Fault::host(
                at,
                format!("`{name}` of a value of type `{}`", other.ty()),
            )),
        }
    }
}

/// The scalar all of whose bytes are the same.
fn repeated(ty: &Type, byte: u8) -> Option<Value> {
    let Type::Scalar(scalar) = ty else {
        return None;
    };
    Some(match scalar {
        Scalar::Bool => return None,
        Scalar::Float => Value::Floating(*scalar, f32::from_le_bytes([byte; 4]).into()),
        Scalar::Double => Value::Floating(*scalar, f64::from_le_bytes([byte; 8])),
        scalar if scalar.is_integer() => {
            let bytes = u128::from_le_bytes([byte; 16]);
            let bits = u32::try_from(scalar.size_bytes() * 8).ok()?;
            let value = bytes & ((1 << bits) - 1);
            Value::Integer(*scalar, scalar.wrap(i128::try_from(value).ok()?))
        }
        _ => return None,
    })
}
