//! What host code sets and asks for a kernel: attributes, and how many blocks of it fit.

use super::constants::{MAX_DYNAMIC_SHARED, NON_PORTABLE_CLUSTERS};
use super::types::runtime_type;
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

    /// `cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared)`.
    pub(super) fn resident_blocks(
        &mut self,
        target: &Value,
        kernel: &Value,
        threads: &Value,
        shared: &Value,
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, "an occupancy query", at)?;
        let threads = self.count_of(threads, at)?;
        let shared = self.count_of(shared, at)?;
        let blocks = self.blocks_of(kernel, threads, shared, at)?;
        self.store_through(target, Value::int(blocks.into()), at)
    }

    /// `cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, shared = 0, most = 0)`: the search
    /// of `cuda_runtime.h`, from the largest block down.
    pub(super) fn potential_block(
        &mut self,
        grid: &Value,
        block: &Value,
        kernel: &Value,
        rest: &[Value],
        at: At,
    ) -> Fallible<Value> {
        let kernel = kernel_of(kernel, "an occupancy query", at)?;
        let shared = match rest.first() {
            Some(shared) => self.count_of(shared, at)?,
            None => 0,
        };
        let (attributes, _) = self.attributes_of(kernel, at)?;
        let mut most = u64::from(
            attributes
                .max_threads
                .min(self.limits.max_threads_per_block),
        );
        if let Some(given) = rest.get(1) {
            let given = self.count_of(given, at)?;
            if given != 0 {
                most = most.min(given);
            }
        }
        let warp = u64::from(self.limits.warp_size.max(1));
        let full = u64::from(self.limits.max_threads_per_multiprocessor);
        let (mut best_threads, mut best_block, mut best_blocks) = (0, 0, 0);
        let mut aligned = most.next_multiple_of(warp);
        while aligned > 0 && best_threads < full {
            self.spend(1, at)?;
            let threads = aligned.min(most);
            let blocks = self.blocks_of(kernel, threads, shared, at)?;
            let resident = threads * u64::from(blocks);
            if resident > best_threads {
                (best_threads, best_block, best_blocks) = (resident, threads, blocks);
            }
            aligned -= warp;
        }
        let blocks = i128::from(best_blocks) * i128::from(self.limits.multiprocessors);
        self.store_through(grid, Value::int(blocks), at)?;
        self.store_through(block, Value::int(best_block.into()), at)
    }

    /// Blocks of a kernel that one multiprocessor holds; 0 if it cannot hold one.
    fn blocks_of(
        &mut self,
        kernel: &KernelRef,
        threads: u64,
        shared: u64,
        at: At,
    ) -> Fallible<u32> {
        let (attributes, known) = self.attributes_of(kernel, at)?;
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let shared = u64::from(attributes.static_shared_bytes).saturating_add(shared);
        let shared = u32::try_from(shared).unwrap_or(u32::MAX);
        if threads == 0 || threads > attributes.max_threads {
            return Ok(0);
        }
        if known {
            let blocks = self
                .facts
                .resident_blocks(attributes.registers, shared, threads);
            return Ok(blocks.unwrap_or(0));
        }
        let by_threads = self.limits.max_threads_per_multiprocessor / threads;
        Ok(by_threads.clamp(1, self.limits.max_blocks_per_multiprocessor.max(1)))
    }

    /// The compiler's numbers of a kernel, or a guess before there are any. Says which.
    fn attributes_of(&mut self, kernel: &KernelRef, at: At) -> Fallible<(KernelAttributes, bool)> {
        let instance = KernelInstance(self.instance_without_call(kernel, at)?.name);
        let known = self.facts.attributes(&instance);
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

fn kernel_of<'v>(value: &'v Value, what: &str, at: At) -> Fallible<&'v KernelRef> {
    match value {
        Value::Kernel(kernel) => Ok(kernel),
        _ => Err(Fault::unsupported(
            at,
            format!("{what} of something that is no kernel of this file"),
            "name the kernel, with its template arguments if it has any: `kernel<256>`",
        )),
    }
}
