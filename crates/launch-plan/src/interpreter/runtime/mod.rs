//! The CUDA runtime API, as far as a plan can follow it.

mod allocation;
mod attributes;
mod queries;
mod streams;
mod symbols;

pub(super) use self::queries::device_properties_record;

use std::rc::Rc;

use self::streams::is_ordering;
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
