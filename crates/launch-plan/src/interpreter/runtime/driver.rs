//! The driver's API: tensor maps, launches, and the plain calls that have a twin in the runtime.

use std::rc::Rc;

use super::refused::unknown_runtime;
use super::streams::is_ordering;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{DriverFunction, Value};
use crate::source::text::At;
use crate::syntax::ast::Expr;

impl<'p> Interpreter<'p> {
    pub(super) fn driver_call(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Fallible<Value> {
        let values = self.evaluated(arguments)?;
        let plain = name
            .strip_suffix("_v2")
            .or_else(|| name.strip_suffix("_ptsz"));
        let plain = plain.unwrap_or(name);
        if let Some(launched) = self.driver_launch(plain, &values, at) {
            return launched;
        }
        // `cuStreamWaitEvent` orders as `cudaStreamWaitEvent` does.
        if is_ordering(&plain.replacen("cu", "cuda", 1)) || is_ordering_of_driver(plain) {
            return Ok(Value::SUCCESS);
        }
        let answers = [Self::driver_query, Self::driver_memory];
        for answer in answers {
            if let Some(result) = answer(self, plain, &values, at) {
                return result;
            }
        }
        Err(unknown_runtime(name, at))
    }

    fn driver_query(&mut self, name: &str, values: &[Value], at: At) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cuTensorMapEncodeTiled", values) => {
                self.driver_function(DriverFunction::EncodeTiled, values, at)
            }
            ("cuGetProcAddress", [function, target, ..]) => self.entry_point(function, target, at),
            ("cuGetErrorString" | "cuGetErrorName", [_, target]) => {
                self.store_through(target, Value::Text(Rc::from("no error")), at)
            }
            ("cuDeviceGet", [target, _]) => self.store_through(target, Value::int(0), at),
            ("cuDeviceGetCount", [target]) => self.store_through(target, Value::int(1), at),
            ("cuDeviceGetAttribute", [target, attribute, _]) => {
                self.device_attribute(target, attribute, at)
            }
            (
                "cuCtxGetCurrent"
                | "cuCtxCreate"
                | "cuDevicePrimaryCtxRetain"
                | "cuStreamCreate"
                | "cuStreamCreateWithPriority"
                | "cuEventCreate",
                [target, ..],
            ) => self.store_through(target, Value::Handle, at),
            ("cuFuncSetAttribute", [kernel, attribute, value]) => {
                self.set_attribute(kernel, attribute, value, at)
            }
            (
                "cuOccupancyMaxActiveBlocksPerMultiprocessor"
                | "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                [target, kernel, threads, shared, ..],
            ) => self.resident_blocks(target, kernel, threads, shared, at),
            _ => return None,
        })
    }

    fn driver_memory(&mut self, name: &str, values: &[Value], at: At) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cuMemAlloc" | "cuMemAllocAsync" | "cuMemAllocManaged", [target, bytes, ..]) => {
                self.malloc(target, bytes, at)
            }
            ("cuMemFree" | "cuMemFreeAsync", [pointer, ..]) => {
                self.free_device(pointer, at).map(|()| Value::SUCCESS)
            }
            ("cuMemsetD8" | "cuMemsetD8Async", [destination, value, count, ..]) => {
                self.memset_units(destination, value, 1, count, at)
            }
            ("cuMemsetD16" | "cuMemsetD16Async", [destination, value, count, ..]) => {
                self.memset_units(destination, value, 2, count, at)
            }
            ("cuMemsetD32" | "cuMemsetD32Async", [destination, value, count, ..]) => {
                self.memset_units(destination, value, 4, count, at)
            }
            (
                "cuMemcpy" | "cuMemcpyAsync" | "cuMemcpyDtoD" | "cuMemcpyDtoDAsync"
                | "cuMemcpyHtoD" | "cuMemcpyHtoDAsync" | "cuMemcpyDtoH" | "cuMemcpyDtoHAsync",
                [destination, source, bytes, ..],
            ) => self
                .count_of(bytes, at)
                .and_then(|bytes| self.memcpy(destination, source, bytes, None, at)),
            _ => return None,
        })
    }

    /// Sets units of so many bytes; all bytes of one must be the same.
    fn memset_units(
        &mut self,
        destination: &Value,
        value: &Value,
        unit: u64,
        count: &Value,
        at: At,
    ) -> Fallible<Value> {
        let bits = self.count_of(value, at)?;
        let count = self.count_of(count, at)?;
        let byte = bits & 0xff;
        let is_uniform = (0..unit).all(|index| bits >> (8 * index) & 0xff == byte);
        if !is_uniform {
            return Err(Fault::unsupported(
                at,
                format!("memory is set to units of {unit} bytes that are not all the same byte"),
                "set it in a kernel",
            ));
        }
        let bytes = count.saturating_mul(unit);
        self.memset(destination, &Value::int(byte.into()), bytes, at)
    }
}

/// Calls of the driver that have no twin by name in the runtime and change no plan.
fn is_ordering_of_driver(name: &str) -> bool {
    matches!(
        name,
        "cuInit"
            | "cuCtxSynchronize"
            | "cuCtxSetCurrent"
            | "cuCtxPushCurrent"
            | "cuCtxPopCurrent"
            | "cuCtxDestroy"
            | "cuCtxSetLimit"
            | "cuCtxSetCacheConfig"
            | "cuDevicePrimaryCtxRelease"
            | "cuFuncLoad"
    )
}
