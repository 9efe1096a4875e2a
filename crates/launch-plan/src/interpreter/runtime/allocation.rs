//! Memory that the runtime gives out, on the device and on the host.

use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{Target, Value};
use crate::source::text::At;
use crate::types::Type;

/// What rows of `cudaMallocPitch` start at multiples of.
pub(super) const PITCH_BYTES: u64 = 512;

impl Interpreter<'_> {
    /// `cudaMalloc(&pointer, bytes)`.
    pub(super) fn malloc(&mut self, target: &Value, bytes: &Value, at: At) -> Fallible<Value> {
        let bytes = self.count_of(bytes, at)?;
        let address = self.allocate_device(bytes, at)?;
        self.store_address(target, address, at)
    }

    /// `cudaMallocManaged(&pointer, bytes)`: device memory, of which messages say that it is managed.
    pub(super) fn malloc_managed(
        &mut self,
        target: &Value,
        bytes: &Value,
        at: At,
    ) -> Fallible<Value> {
        let bytes = self.count_of(bytes, at)?;
        let address = self.allocate_device(bytes, at)?;
        if let Target::Device(place) = &address {
            self.scratch.set_managed(*place);
        }
        self.store_address(target, address, at)
    }

    /// `cudaMallocPitch(&pointer, &pitch, width, height)`.
    pub(super) fn malloc_pitch(
        &mut self,
        target: &Value,
        pitch: &Value,
        [width, height]: [&Value; 2],
        at: At,
    ) -> Fallible<Value> {
        let width = self.count_of(width, at)?;
        let height = self.count_of(height, at)?;
        let bytes = width
            .checked_next_multiple_of(PITCH_BYTES)
            .and_then(|row| Some((row, row.checked_mul(height)?)));
        let Some((row, bytes)) = bytes else {
            let message = format!("{height} rows of {width} bytes are allocated");
            return Err(Fault::launch(at, message).hint("is a byte count negative?"));
        };
        self.store_through(pitch, Value::int(row.into()), at)?;
        let address = self.allocate_device(bytes, at)?;
        self.store_address(target, address, at)
    }

    /// `malloc(bytes)`.
    pub(super) fn malloc_host(&mut self, bytes: &Value, at: At) -> Fallible<Value> {
        let bytes = self.count_of(bytes, at)?;
        let place = self.memory.allocate_raw(bytes, at)?;
        Ok(Value::pointer(Type::Void, false, Target::Host(place)))
    }

    /// `cudaMallocHost(&pointer, bytes)` and `cudaHostAlloc`: host memory.
    pub(super) fn malloc_pinned(
        &mut self,
        target: &Value,
        bytes: &Value,
        at: At,
    ) -> Fallible<Value> {
        let pointer = self.malloc_host(bytes, at)?;
        self.store_through(target, pointer, at)
    }

    fn store_address(&mut self, target: &Value, address: Target, at: At) -> Fallible<Value> {
        let pointer = Value::pointer(Type::Void, false, address);
        self.store_through(target, pointer, at)
    }
}
