//! What host code sets and asks for a kernel.

use super::constants::{MAX_DYNAMIC_SHARED, NON_PORTABLE_CLUSTERS};
use super::types::runtime_type;
use crate::device_side::Refused;
use crate::facts::KernelAttributes;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{KernelRef, Value};
use crate::plan::KernelInstance;
use crate::source::text::At;
use crate::types::{Scalar, Type};

/// Registers that a kernel is taken to need before it is compiled.
const GUESSED_REGISTERS: u32 = 32;

impl Interpreter<'_> {
    /// `cudaFuncSetAttribute(kernel, attribute, value)`.
    pub(super) fn set_attribute(
        &mut self,
        kernel: &Value,
        attribute: &Value,
        value: &Value,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, "cudaFuncSetAttribute", at)?;
        if *attribute == Value::int(NON_PORTABLE_CLUSTERS) {
            let allowed = self.truth(value, at)?;
            let instance = self.instance_without_call(kernel, at)?;
            if allowed {
                self.large_clusters.insert(instance.identity);
            } else {
                self.large_clusters.remove(&instance.identity);
            }
            return Ok(Value::SUCCESS);
        }
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
        let instance = self.instance_without_call(kernel, at)?;
        self.dynamic_shared_limits.insert(instance.identity, bytes);
        Ok(Value::SUCCESS)
    }

    /// `cudaFuncGetAttributes(&attributes, kernel)`.
    pub(super) fn function_attributes(
        &mut self,
        target: &Value,
        kernel: &Value,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, "cudaFuncGetAttributes", at)?;
        let (attributes, _) = self.attributes_of(kernel, at)?;
        let instance = self.instance_without_call(kernel, at)?;
        let plain = u64::from(self.limits.shared_memory_per_block_bytes)
            .saturating_sub(attributes.static_shared_bytes.into());
        let dynamic = self.dynamic_shared_limits.get(&instance.identity);
        let dynamic = dynamic.copied().unwrap_or(plain);
        let version = i128::from(self.limits.compute_major * 10 + self.limits.compute_minor);
        let size = |bytes: u32| Some(Value::Integer(Scalar::ULong, bytes.into()));
        let int = |value: i128| Some(Value::int(value));
        let fields = vec![
            size(attributes.static_shared_bytes),
            size(attributes.constant_bytes),
            size(attributes.local_bytes),
            int(attributes.max_threads.into()),
            int(attributes.registers.into()),
            int(version),
            int(version),
            int(0),
            int(dynamic.into()),
            int(-1),
        ];
        let Some(Type::Record(record)) = runtime_type("cudaFuncAttributes") else {
            return Err(Fault::unsupported(
                at,
                "cudaFuncGetAttributes in this place",
                "write the numbers that you need as constants",
            ));
        };
        self.store_through(target, Value::Record(record, fields), at)
    }

    /// The compiler's numbers of a kernel, or a guess before there are any. Says which.
    pub(super) fn attributes_of(
        &mut self,
        kernel: &KernelRef,
        at: At,
    ) -> Fallible<(KernelAttributes, bool)> {
        let instance = KernelInstance(self.instance_without_call(kernel, at)?.name);
        let known = self.facts.attributes(&instance);
        if known.is_none() {
            let told = self.side.lacks(&instance, self.line(at));
            told.map_err(|Refused| self.refused(at))?;
        }
        self.plan.asked.insert(instance);
        let guess = KernelAttributes {
            registers: GUESSED_REGISTERS,
            static_shared_bytes: 0,
            local_bytes: 0,
            constant_bytes: 0,
            max_threads: self.limits.max_threads_per_block,
        };
        Ok((known.unwrap_or(guess), known.is_some()))
    }
}

pub(super) fn kernel_of<'v>(value: &'v Value, what: &str, at: At) -> Fallible<&'v KernelRef> {
    match value {
        Value::Kernel(kernel) => Ok(kernel),
        _ => Err(Fault::unsupported(
            at,
            format!("{what} of something that is no kernel of this file"),
            "name the kernel, with its template arguments if it has any: `kernel<256>`",
        )),
    }
}
