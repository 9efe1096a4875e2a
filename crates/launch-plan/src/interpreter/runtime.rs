//! The CUDA runtime API, as far as a plan can follow it.

use std::rc::Rc;

use super::Interpreter;
use super::constants::MAX_DYNAMIC_SHARED;
use super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind};

impl<'p> Interpreter<'p> {
    /// A call by its name; `None` where it is no runtime function.
    pub(super) fn runtime_call(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Option<Fallible<Value>> {
        let runtime =
            name.starts_with("cuda") && name[4..].starts_with(|c: char| c.is_ascii_uppercase());
        if runtime || matches!(name, "malloc" | "calloc" | "free") {
            return Some(self.runtime_function(name, arguments, at));
        }
        let driver =
            name.starts_with("cu") && name[2..].starts_with(|c: char| c.is_ascii_uppercase());
        driver.then(|| Err(unknown_runtime(name, at)))
    }

    fn runtime_function(&mut self, name: &str, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        if name.starts_with("cudaMemcpyToSymbol") {
            return self.copy_to_symbol(arguments, at);
        }
        if name.starts_with("cudaMemcpyFromSymbol") {
            return self.copy_from_symbol(arguments, at);
        }
        if is_ordering(name) {
            for argument in arguments {
                self.evaluate(argument)?;
            }
            return Ok(Value::SUCCESS);
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.evaluate(argument)?);
        }
        match (name, values.as_slice()) {
            ("cudaMalloc" | "cudaMallocManaged", [target, bytes, ..])
            | ("cudaMallocAsync", [target, bytes, _]) => self.malloc(target, bytes, at),
            ("cudaFree" | "cudaFreeAsync", [pointer, ..]) => {
                self.free_device(pointer, at)?;
                Ok(Value::SUCCESS)
            }
            ("cudaMemset" | "cudaMemsetAsync", [destination, value, bytes, ..]) => {
                let bytes = self.count_of(bytes, at)?;
                self.memset(destination, value, bytes, at)
            }
            ("cudaMemcpy" | "cudaMemcpyAsync", [destination, source, bytes, rest @ ..]) => {
                let bytes = self.count_of(bytes, at)?;
                let direction = match rest.first() {
                    Some(Value::Integer(_, direction)) => Some(*direction),
                    _ => None,
                };
                self.memcpy(destination, source, bytes, direction, at)
            }
            ("cudaFuncSetAttribute", [kernel, attribute, value]) => {
                self.set_attribute(kernel, attribute, value, at)
            }
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
            (
                "cudaStreamCreate"
                | "cudaStreamCreateWithFlags"
                | "cudaStreamCreateWithPriority"
                | "cudaEventCreate"
                | "cudaEventCreateWithFlags",
                [target, ..],
            ) => self.store_through(target, Value::Handle, at),
            ("malloc", [bytes]) => {
                let bytes = self.count_of(bytes, at)?;
                let place = self.memory.allocate_raw(bytes, at)?;
                Ok(Value::pointer(
                    crate::types::Type::Void,
                    false,
                    Target::Host(place),
                ))
            }
            ("free", [pointer]) => {
                self.free_host(pointer, at)?;
                Ok(Value::Void)
            }
            _ => Err(unknown_runtime(name, at)),
        }
    }

    fn malloc(&mut self, target: &Value, bytes: &Value, at: At) -> Fallible<Value> {
        let bytes = self.count_of(bytes, at)?;
        let address = self.allocate_device(bytes, at)?;
        let pointer = Value::pointer(crate::types::Type::Void, false, address);
        self.store_through(target, pointer, at)
    }

    /// `cudaMemcpyToSymbol(symbol, source, bytes, offset = 0, ...)`.
    fn copy_to_symbol(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let [symbol, source, bytes, rest @ ..] = arguments else {
            return Err(Fault::unsupported(at, "this use of cudaMemcpyToSymbol", ""));
        };
        let Some(symbol) = self.symbol_argument(symbol)? else {
            return Err(Fault::host(
                symbol.at,
                "cudaMemcpyToSymbol needs a __constant__ or __device__ variable of this file",
            ));
        };
        let source = self.evaluate(source)?;
        let bytes_value = self.evaluate(bytes)?;
        let bytes = self.count_of(&bytes_value, bytes.at)?;
        let offset = match rest.first() {
            Some(offset) => {
                let value = self.evaluate(offset)?;
                self.count_of(&value, offset.at)?
            }
            None => 0,
        };
        self.check_symbol(&symbol, bytes, offset, at)?;
        self.memcpy_to_symbol(&symbol, &source, bytes, offset, at)
    }

    /// `cudaMemcpyFromSymbol(destination, symbol, bytes, offset = 0, ...)`.
    fn copy_from_symbol(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let [destination, symbol, bytes, rest @ ..] = arguments else {
            return Err(Fault::unsupported(
                at,
                "this use of cudaMemcpyFromSymbol",
                "write cudaMemcpyFromSymbol(&variable, symbol, sizeof(variable))",
            ));
        };
        let Some(symbol) = self.symbol_argument(symbol)? else {
            return Err(Fault::host(
                symbol.at,
                "cudaMemcpyFromSymbol needs a __constant__ or __device__ variable of this file",
            ));
        };
        let destination = self.evaluate(destination)?;
        let bytes_value = self.evaluate(bytes)?;
        let bytes = self.count_of(&bytes_value, bytes.at)?;
        let offset = match rest.first() {
            Some(offset) => {
                let value = self.evaluate(offset)?;
                self.count_of(&value, offset.at)?
            }
            None => 0,
        };
        self.check_symbol(&symbol, bytes, offset, at)?;
        self.memcpy_from_symbol(&destination, &symbol, bytes, offset, at)
    }

    /// A fault where a copy runs past a device variable of known size.
    fn check_symbol(&mut self, symbol: &str, bytes: u64, offset: u64, at: At) -> Fallible<()> {
        let Some((_, variable)) = self.tables.global(symbol) else {
            return Ok(());
        };
        let size = self.resolve(&variable.ty)?.size_bytes();
        match size {
            Some(size) if offset.saturating_add(bytes) > size => {
                let message = format!(
                    "cudaMemcpyToSymbol of {bytes} bytes from offset {offset} runs past \
                     `{symbol}`, which has {size} bytes"
                );
                Err(Fault::host(at, message))
            }
            _ => Ok(()),
        }
    }

    /// The path of a device variable given as `symbol` or `&symbol`.
    fn symbol_argument(&mut self, expr: &'p Expr) -> Fallible<Option<Rc<str>>> {
        let inner = match &expr.kind {
            ExprKind::AddressOf(inner) | ExprKind::Cast(_, inner) => inner,
            _ => expr,
        };
        let ExprKind::Name(name) = &inner.kind else {
            return Ok(None);
        };
        Ok(match self.symbol_named(&name.path)? {
            Some(Value::Pointer(_, Target::Symbol(symbol))) => Some(symbol),
            _ => None,
        })
    }

    fn set_attribute(
        &mut self,
        kernel: &Value,
        attribute: &Value,
        value: &Value,
        at: At,
    ) -> Fallible<Value> {
        let Value::Kernel(kernel) = kernel else {
            return Err(Fault::unsupported(
                at,
                "cudaFuncSetAttribute of something that is no kernel of this file",
                "",
            ));
        };
        if *attribute != Value::int(MAX_DYNAMIC_SHARED) {
            return Ok(Value::SUCCESS);
        }
        let bytes = self.count_of(value, at)?;
        let most = u64::from(self.limits.shared_memory_per_block_optin_bytes);
        if bytes > most {
            let message = format!(
                "{bytes} bytes of dynamic shared memory are asked for; the limit is {most}"
            );
            return Err(Fault::launch(at, message));
        }
        let instance = self.instance_without_call(&kernel.clone(), at)?;
        self.dynamic_shared_limits.insert(instance.identity, bytes);
        Ok(Value::SUCCESS)
    }
}

/// Calls that only order, tell of errors or give hints: one stream keeps the order anyway.
fn is_ordering(name: &str) -> bool {
    matches!(
        name,
        "cudaDeviceSynchronize"
            | "cudaThreadSynchronize"
            | "cudaStreamSynchronize"
            | "cudaGetLastError"
            | "cudaPeekAtLastError"
            | "cudaSetDevice"
            | "cudaStreamDestroy"
            | "cudaStreamWaitEvent"
            | "cudaStreamQuery"
            | "cudaEventRecord"
            | "cudaEventSynchronize"
            | "cudaEventDestroy"
            | "cudaEventQuery"
            | "cudaFuncSetCacheConfig"
            | "cudaDeviceSetCacheConfig"
            | "cudaFuncSetSharedMemConfig"
            | "cudaMemPrefetchAsync"
    )
}

fn unknown_runtime(name: &str, at: At) -> Box<Fault> {
    if name.starts_with("cuda") && name.contains("Elapsed") {
        return Fault::unsupported(
            at,
            format!("`{name}` measures time on the host, which a plan cannot"),
            "remove it; the judge measures",
        );
    }
    Fault::unsupported(
        at,
        format!("the call `{name}` is not in the host subset"),
        "launches, cudaMalloc, cudaFree, cudaMemset, cudaMemcpy and synchronisation are",
    )
}
