//! What the compiler said of the kernels: for the second plan, and against what a launch asks for.

use std::collections::BTreeMap;

use domain::{Diagnostic, Severity, Stage, TargetLimits, VerdictKind, printable};
use launch_plan::{
    KernelAttributes, KernelFacts, KernelInstance, Launch, Operation, Plan, PlanFailure,
};
use toolchain::Compiled;

use crate::kernel_table::KernelTable;
use crate::ptx_facts::launch_bounds;

/// The numbers of one compile for one device.
pub(crate) struct CompiledFacts<'a> {
    compiled: &'a Compiled,
    limits: &'a TargetLimits,
    table: KernelTable,
    /// By mangled name.
    launch_bounds: BTreeMap<&'a str, u32>,
}

impl<'a> CompiledFacts<'a> {
    pub fn new(compiled: &'a Compiled, limits: &'a TargetLimits) -> Self {
        let names = &compiled.lowered_names;
        Self {
            compiled,
            limits,
            table: KernelTable::of(&compiled.ptx, names, &compiled.kernels, limits),
            launch_bounds: launch_bounds(&compiled.ptx),
        }
    }

    /// A fault where the device would refuse a launch for what the compiler made of its kernel.
    pub fn check(&self, plan: &Plan) -> Result<(), PlanFailure> {
        if plan.live.is_some() {
            // Launches that follow a read-back are guesses; the device looks at the real ones.
            return Ok(());
        }
        for operation in &plan.operations {
            if let Operation::Launch(launch) = operation
                && let Some(attributes) = self.attributes(&launch.kernel)
                && let Some((message, hint)) = self.problem(launch, &attributes)
            {
                return Err(refused(launch, &message, hint));
            }
        }
        Ok(())
    }

    fn problem(
        &self,
        launch: &Launch,
        attributes: &KernelAttributes,
    ) -> Option<(String, &'static str)> {
        let name = &launch.kernel.0;
        let threads = product(launch.block);
        let shared = attributes
            .static_shared_bytes
            .saturating_add(launch.dynamic_shared_bytes);
        let most = self.limits.shared_memory_per_block_optin_bytes;
        if shared > most {
            return Some((
                format!(
                    "`{name}` needs {shared} bytes of shared memory a block; the limit is {most}"
                ),
                "what the kernel declares and what the launch asks for count together",
            ));
        }
        let bound = self.launch_bound(&launch.kernel);
        if let Some(bound) = bound.filter(|&bound| threads > u64::from(bound)) {
            return Some((
                format!(
                    "`{name}` is launched with {threads} threads a block and was compiled for at \
                     most {bound}"
                ),
                "raise its __launch_bounds__ or launch smaller blocks",
            ));
        }
        let block = u32::try_from(threads).unwrap_or(u32::MAX);
        let Some(resident) = self.resident_blocks(attributes.registers, shared, block) else {
            return Some((
                format!(
                    "`{name}` needs {} registers a thread: a block of {threads} threads does not \
                     fit on a multiprocessor, which has {}",
                    attributes.registers, self.limits.registers_per_multiprocessor
                ),
                "launch smaller blocks, or limit the registers with __launch_bounds__",
            ));
        };
        let held = u64::from(resident) * u64::from(self.limits.multiprocessors);
        let blocks = product(launch.grid);
        (launch.cooperative && blocks > held).then(|| {
            (
                format!(
                    "a cooperative launch of {blocks} blocks of `{name}`; the device holds {held} of \
                     them at a time"
                ),
                "take the grid from cudaOccupancyMaxActiveBlocksPerMultiprocessor and the number \
                 of multiprocessors",
            )
        })
    }

    fn launch_bound(&self, kernel: &KernelInstance) -> Option<u32> {
        let lowered = self.compiled.lowered_names.get(&kernel.0)?;
        self.launch_bounds.get(lowered.as_str()).copied()
    }
}

impl KernelFacts for CompiledFacts<'_> {
    fn attributes(&self, kernel: &KernelInstance) -> Option<KernelAttributes> {
        self.table.attributes(kernel)
    }

    fn resident_blocks(&self, registers: u32, shared_bytes: u32, threads: u32) -> Option<u32> {
        self.table.resident_blocks(registers, shared_bytes, threads)
    }
}

fn refused(launch: &Launch, message: &str, hint: &str) -> PlanFailure {
    PlanFailure {
        kind: VerdictKind::LaunchConfig,
        diagnostics: vec![Diagnostic {
            stage: Stage::Plan,
            severity: Severity::Error,
            line: Some(launch.line),
            column: Some(launch.column),
            message: printable(message),
            hint: Some(printable(hint)),
        }],
    }
}

fn product(extents: [u32; 3]) -> u64 {
    extents
        .into_iter()
        .map(u64::from)
        .fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use domain::DeviceName;
    use launch_plan::LaunchArgument;
    use toolchain::KernelUsage;

    use super::*;
    use crate::ptx_facts::SAMPLE as PTX;

    fn compiled(registers: u32) -> Compiled {
        let names = [("k", "_Z1kPf"), ("small", "_Z5smallPf")];
        Compiled {
            ptx: PTX.to_owned(),
            cubin: None,
            lowered_names: names.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            diagnostics: Vec::new(),
            kernels: names
                .map(|(_, lowered)| KernelUsage {
                    lowered_name: lowered.to_owned(),
                    registers,
                    static_shared_bytes: 1024,
                    ..KernelUsage::default()
                })
                .to_vec(),
            options: Vec::new(),
            nvrtc_version: String::new(),
        }
    }

    fn launch(kernel: &str, grid: u32, block: u32, shared: u32, cooperative: bool) -> Plan {
        Plan {
            operations: vec![Operation::Launch(Launch {
                kernel: KernelInstance(kernel.to_owned()),
                grid: [grid, 1, 1],
                block: [block, 1, 1],
                cluster: None,
                cooperative,
                dynamic_shared_bytes: shared,
                arguments: vec![LaunchArgument::Value(vec![0; 8])],
                line: 12,
                column: 5,
            })],
            ..Plan::default()
        }
    }

    fn verdict(registers: u32, plan: &Plan) -> Option<String> {
        let limits = &scoring::device(DeviceName::H200).limits;
        let compiled = compiled(registers);
        let failure = CompiledFacts::new(&compiled, limits).check(plan).err()?;
        assert_eq!(failure.kind, VerdictKind::LaunchConfig);
        assert_eq!(failure.diagnostics[0].line, Some(12));
        Some(failure.diagnostics[0].message.clone())
    }

    #[test]
    fn registers_limit_the_block() {
        assert_eq!(verdict(64, &launch("k", 1, 1024, 0, false)), None);
        assert_eq!(verdict(255, &launch("k", 1, 256, 0, false)), None);
        assert_eq!(
            verdict(255, &launch("k", 1, 1024, 0, false)).as_deref(),
            Some(
                "`k` needs 255 registers a thread: a block of 1024 threads does not fit on a \
                 multiprocessor, which has 65536"
            )
        );
    }

    #[test]
    fn launch_bounds_limit_the_block() {
        assert_eq!(verdict(16, &launch("small", 1, 128, 0, false)), None);
        assert_eq!(
            verdict(16, &launch("small", 1, 160, 0, false)).as_deref(),
            Some("`small` is launched with 160 threads a block and was compiled for at most 128")
        );
    }

    #[test]
    fn blocks_of_a_cooperative_launch_are_resident_at_once() {
        // 8 blocks of 256 threads on each of 132 multiprocessors.
        assert_eq!(verdict(32, &launch("k", 1056, 256, 0, true)), None);
        assert_eq!(verdict(32, &launch("k", 1057, 256, 0, false)), None);
        assert_eq!(
            verdict(32, &launch("k", 1057, 256, 0, true)).as_deref(),
            Some(
                "a cooperative launch of 1057 blocks of `k`; the device holds 1056 of them at a time"
            )
        );
        // 100 KiB, the kernel's own and the reserved: 2 blocks.
        assert!(verdict(32, &launch("k", 265, 256, 100 << 10, true)).is_some());
        assert_eq!(verdict(32, &launch("k", 264, 256, 100 << 10, true)), None);
    }

    #[test]
    fn declared_and_dynamic_shared_memory_count_together() {
        assert_eq!(verdict(32, &launch("k", 1, 32, 231_424, false)), None);
        assert_eq!(
            verdict(32, &launch("k", 1, 32, 231_425, false)).as_deref(),
            Some("`k` needs 232449 bytes of shared memory a block; the limit is 232448")
        );
    }

    #[test]
    fn attributes_come_from_the_assembler_and_the_ptx() {
        let limits = &scoring::device(DeviceName::H200).limits;
        let compiled = compiled(100);
        let facts = CompiledFacts::new(&compiled, limits);
        let of = |name: &str| facts.attributes(&KernelInstance(name.to_owned()));
        let k = of("k").unwrap();
        // 100 registers: 3328 a warp, 4 warps a scheduler, 16 in all.
        assert_eq!((k.registers, k.max_threads), (100, 512));
        assert_eq!((k.static_shared_bytes, k.constant_bytes), (1024, 68));
        assert_eq!(of("small").unwrap().max_threads, 128);
        assert_eq!(of("missing"), None);
    }
}
