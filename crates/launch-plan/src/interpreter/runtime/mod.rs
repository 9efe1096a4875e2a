//! The CUDA runtime API, as far as a plan can follow it.

mod allocation;
mod attributes;
mod constants;
mod driver;
mod graphs;
mod occupancy;
mod pools;
mod queries;
mod refused;
mod rows;
mod signatures;
mod streams;
mod symbols;
mod tensor_maps;
mod types;
mod volumes;

use std::rc::Rc;

pub(super) use self::constants::{
    DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, HOST_TO_HOST, LAUNCH_ACCESS_POLICY,
    LAUNCH_CLUSTER, LAUNCH_COOPERATIVE, runtime_constant,
};
pub(super) use self::graphs::Graphs;
use self::refused::unknown_runtime;
use self::signatures::check_count;
use self::streams::is_ordering;
pub(super) use self::types::runtime_type;
use super::Interpreter;
use super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::Expr;

impl<'p> Interpreter<'p> {
    /// A call by its name; `None` where it is no runtime function.
    pub(in crate::interpreter) fn runtime_call(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Option<Fallible<Value>> {
        let runtime =
            name.starts_with("cuda") && name[4..].starts_with(|c: char| c.is_ascii_uppercase());
        if runtime || matches!(name, "malloc" | "free") || name.starts_with("make_cuda") {
            return Some(self.runtime_function(name, arguments, at));
        }
        let driver =
            name.starts_with("cu") && name[2..].starts_with(|c: char| c.is_ascii_uppercase());
        driver.then(|| self.driver_call(name, arguments, at))
    }

    fn runtime_function(&mut self, name: &str, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        check_count(name, arguments.len(), at)?;
        if let Some(launched) = self.launch_call(name, arguments, at) {
            return launched;
        }
        if let Some(result) = self.symbol_call(name, arguments, at) {
            return result;
        }
        let values = self.evaluated(arguments)?;
        if is_ordering(name) {
            return Ok(Value::SUCCESS);
        }
        let answers = [
            Self::memory_call,
            Self::volume_call,
            Self::pool_call,
            Self::kernel_call,
            Self::occupancy_call,
            Self::query_call,
            Self::stream_call,
            Self::graph_call,
        ];
        for answer in answers {
            if let Some(result) = answer(self, name, &values, at) {
                return result;
            }
        }
        Err(unknown_runtime(name, at))
    }

    pub(super) fn evaluated(&mut self, arguments: &'p [Expr]) -> Fallible<Vec<Value>> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(match self.pointer_by_class(argument)? {
                Some(pointer) => pointer,
                None => self.evaluate(argument)?,
            });
        }
        Ok(values)
    }

    pub(super) fn memory_call(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cudaMalloc", [target, bytes]) | ("cudaMallocAsync", [target, bytes, ..]) => {
                self.malloc(target, bytes, at)
            }
            ("cudaMallocManaged", [target, bytes, ..]) => self.malloc_managed(target, bytes, at),
            ("cudaMallocPitch", [target, pitch, width, height]) => {
                self.malloc_pitch(target, pitch, [width, height], at)
            }
            ("cudaMallocHost" | "cudaHostAlloc", [target, bytes, ..]) => {
                self.malloc_pinned(target, bytes, at)
            }
            ("malloc", [bytes]) => self.malloc_host(bytes, at),
            ("cudaFree" | "cudaFreeAsync", [pointer, ..]) => {
                self.free_device(pointer, at).map(|()| Value::SUCCESS)
            }
            ("cudaFreeHost", [pointer]) => self.free_host(pointer, at).map(|()| Value::SUCCESS),
            ("free", [pointer]) => self.free_host(pointer, at).map(|()| Value::Void),
            ("cudaMemset" | "cudaMemsetAsync", [destination, value, bytes, ..]) => {
                writable(destination, at)
                    .and_then(|()| self.count_of(bytes, at))
                    .and_then(|bytes| self.memset(destination, value, bytes, at))
            }
            (
                "cudaMemset2D" | "cudaMemset2DAsync",
                [destination, pitch, value, width, height, ..],
            ) => self.memset_rows(destination, pitch, value, [width, height], at),
            ("cudaMemcpy" | "cudaMemcpyAsync", [destination, source, bytes, rest @ ..]) => {
                writable(destination, at)
                    .and_then(|()| self.count_of(bytes, at))
                    .and_then(|bytes| self.memcpy(destination, source, bytes, direction(rest), at))
            }
            (
                "cudaMemcpy2D" | "cudaMemcpy2DAsync",
                [to, to_pitch, from, from_pitch, width, height, rest @ ..],
            ) => self.memcpy_rows(
                [to, to_pitch],
                [from, from_pitch],
                [width, height],
                direction(rest),
                at,
            ),
            _ => return None,
        })
    }

    fn kernel_call(&mut self, name: &str, values: &[Value], at: At) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cudaFuncSetAttribute", [kernel, attribute, value]) => {
                self.set_attribute(kernel, attribute, value, at)
            }
            ("cudaFuncGetAttributes", [target, kernel]) => {
                self.function_attributes(target, kernel, at)
            }
            ("cudaGetFuncBySymbol" | "cudaGetKernel", [target, kernel]) => {
                self.store_through(target, kernel.clone(), at)
            }
            _ => return None,
        })
    }

    fn query_call(&mut self, name: &str, values: &[Value], at: At) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            ("cudaGetErrorString" | "cudaGetErrorName", [_]) => {
                Ok(Value::Text(Rc::from("no error")))
            }
            ("cudaGetDevice", [target]) => self.store_through(target, Value::int(0), at),
            ("cudaGetDeviceCount", [target]) => self.store_through(target, Value::int(1), at),
            ("cudaGetDeviceProperties" | "cudaGetDeviceProperties_v2", [target, _]) => {
                self.device_properties(target, at)
            }
            ("cudaDeviceGetAttribute", [target, attribute, _]) => {
                self.device_attribute(target, attribute, at)
            }
            ("cudaMemGetInfo", [free, total]) => self.memory_info(free, total, at),
            ("cudaDeviceGetLimit", [target, limit]) => self.device_limit(target, limit, at),
            ("cudaDriverGetVersion" | "cudaRuntimeGetVersion", [target]) => {
                let version = runtime_constant("CUDART_VERSION").unwrap_or(0);
                self.store_through(target, Value::int(version), at)
            }
            ("cudaPointerGetAttributes", [target, pointer]) => {
                self.pointer_attributes(target, pointer, at)
            }
            (
                "cudaGetDriverEntryPoint" | "cudaGetDriverEntryPointByVersion",
                [function, target, rest @ ..],
            ) => {
                // The last argument, if it points anywhere, takes the result of the search.
                let found = rest
                    .last()
                    .filter(|last| matches!(last, Value::Pointer(_, Target::Host(_))));
                self.entry_point(function, target, at)
                    .and_then(|success| match found {
                        Some(found) => self.store_through(found, Value::int(0), at),
                        None => Ok(success),
                    })
            }
            _ => return None,
        })
    }

    /// `*target = value;`, then success.
    pub(super) fn store_through(
        &mut self,
        target: &Value,
        value: Value,
        at: At,
    ) -> Fallible<Value> {
        let Value::Pointer(_, Target::Host(place)) = target else {
            return Err(
                Fault::host(at, "the result is to be stored where no host variable is")
                    .hint("pass the address of a variable"),
            );
        };
        let ty = self.memory.type_at(place, at)?;
        let value = self.convert(value, &ty, at)?;
        self.memory.store(place, value, at)?;
        Ok(Value::SUCCESS)
    }
}

/// The direction flag of a copy, where one is given.
fn direction(rest: &[Value]) -> Option<i128> {
    match rest.first() {
        Some(Value::Integer(_, direction)) => Some(*direction),
        _ => None,
    }
}

/// A compiler refuses a `const` pointer where memory is written.
fn writable(destination: &Value, at: At) -> Fallible<()> {
    match destination {
        Value::Pointer(pointee, _) if pointee.constant => {
            let message = format!(
                "`{}` is written through: it points to const",
                destination.ty()
            );
            Err(Fault::syntax(at, message)
                .hint("the destination comes first; an output is `float*`, not `const float*`"))
        }
        _ => Ok(()),
    }
}
