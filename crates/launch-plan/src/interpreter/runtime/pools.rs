//! Memory pools and other devices: there is one device, and its scratch memory is the plan's.

use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::Value;
use crate::source::text::At;
use crate::types::Scalar;

impl Interpreter<'_> {
    pub(super) fn pool_call(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cudaMallocFromPoolAsync", [target, bytes, ..]) => self.malloc(target, bytes, at),
            (
                "cudaMemPoolCreate" | "cudaDeviceGetDefaultMemPool" | "cudaDeviceGetMemPool",
                [target, _],
            ) => self.store_through(target, Value::Handle, at),
            ("cudaMemPoolGetAttribute", [_, attribute, target]) => {
                self.pool_attribute(attribute, target, at)
            }
            ("cudaDeviceCanAccessPeer", [target, _, _]) => {
                self.store_through(target, Value::int(0), at)
            }
            (
                "cudaMemcpyPeer" | "cudaMemcpyPeerAsync",
                [destination, to, source, from, bytes, ..],
            ) => self
                .only_device(to, at)
                .and_then(|()| self.only_device(from, at))
                .and_then(|()| self.count_of(bytes, at))
                .and_then(|bytes| self.memcpy(destination, source, bytes, None, at)),
            _ => return None,
        })
    }

    /// A fault for any device but the one there is.
    fn only_device(&mut self, device: &Value, at: At) -> Fallible<()> {
        match device {
            Value::Integer(_, 0) => Ok(()),
            _ => Err(Fault::host(at, "a device is named that does not exist")
                .hint("there is one device, number 0")),
        }
    }

    /// What is used and held now; nothing of a pool is kept beyond that.
    fn pool_attribute(&mut self, attribute: &Value, target: &Value, at: At) -> Fallible<Value> {
        let value = match attribute {
            // cudaMemPoolReuse...: every reuse is allowed.
            Value::Integer(_, 1..=3) => 1,
            // cudaMemPoolAttrReserved... and ...Used...
            Value::Integer(_, 5..=8) => self.scratch.live_bytes().into(),
            _ => 0,
        };
        self.store_through(target, Value::Integer(Scalar::ULong, value), at)
    }
}
