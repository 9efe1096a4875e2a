//! What the compiler made of each kernel, with the occupancy at its largest launch.

use domain::TargetLimits;
use domain::report::KernelResources;
use launch_plan::{Launch, Operation};

use crate::compile::wire::CompiledSource;

/// One row a kernel instantiation that the plan of an open shape launches, or a run of one asked for, in the
/// order of names.
pub(crate) fn kernel_resources(
    compiled: &CompiledSource,
    limits: &TargetLimits,
) -> Vec<KernelResources> {
    let names = compiled.lowered_names.iter();
    names
        .filter_map(|(instance, lowered)| {
            let launch = largest_launch(compiled, instance);
            if launch.is_none() && !compiled.asked.contains(instance) {
                return None;
            }
            let mut usage = compiled.usage.iter();
            let usage = usage.find(|usage| usage.lowered_name == *lowered);
            Some(row(instance, usage, launch, limits))
        })
        .collect()
}

fn row(
    instance: &str,
    usage: Option<&toolchain::KernelUsage>,
    launch: Option<&Launch>,
    limits: &TargetLimits,
) -> KernelResources {
    let dynamic_shared_bytes = launch.map(|launch| launch.dynamic_shared_bytes);
    let threads = launch.and_then(|launch| u32::try_from(threads(launch.block)).ok());
    let block = usage.zip(threads).map(|(usage, threads)| {
        let shared = usage.static_shared_bytes + dynamic_shared_bytes.unwrap_or(0);
        (usage.registers, shared, threads)
    });
    KernelResources {
        name: instance.to_owned(),
        registers: usage.map(|usage| usage.registers),
        spill_bytes: usage.map(|usage| usage.spill_bytes),
        static_smem_bytes: usage.map(|usage| usage.static_shared_bytes),
        dynamic_smem_bytes: dynamic_shared_bytes,
        constant_bytes: usage.map(|usage| usage.constant_bytes),
        local_bytes: usage.map(|usage| usage.stack_bytes),
        barriers: usage.map(|usage| usage.barriers),
        block_threads: threads,
        occupancy: block.and_then(|(registers, shared, threads)| {
            scoring::occupancy(limits, registers, shared, threads)
        }),
        occupancy_limiter: block.and_then(|(registers, shared, threads)| {
            scoring::occupancy_limiter(limits, registers, shared, threads)
        }),
    }
}

fn largest_launch<'a>(compiled: &'a CompiledSource, instance: &str) -> Option<&'a Launch> {
    let operations = compiled.open_plans().flat_map(|plan| &plan.operations);
    let launches = operations.filter_map(|operation| match operation {
        Operation::Launch(launch) if launch.kernel.0 == instance => Some(launch),
        _ => None,
    });
    launches.max_by_key(|launch| (threads(launch.block), launch.dynamic_shared_bytes))
}

fn threads(block: [u32; 3]) -> u64 {
    block.into_iter().map(u64::from).product()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use domain::DeviceName;
    use domain::report::OccupancyLimiter;
    use launch_plan::{KernelInstance, Plan};
    use toolchain::KernelUsage;

    use super::*;

    fn compiled(blocks: &[(u32, u32)]) -> CompiledSource {
        let launch = |&(threads, dynamic_shared_bytes): &(u32, u32)| {
            let launch = serde_json::json!({
                "kernel": KernelInstance("tile<4>".to_owned()), "grid": [7, 1, 1],
                "block": [threads, 1, 1], "dynamic_shared_bytes": dynamic_shared_bytes,
                "arguments": [], "line": 3, "column": 5,
            });
            Operation::Launch(serde_json::from_value(launch).unwrap())
        };
        let plan = Plan {
            operations: blocks.iter().map(launch).collect(),
            ..Plan::default()
        };
        let names = [("tile<4>", "_Z4tileILi4EEvv"), ("&table", "table")];
        let names = names.map(|(name, lowered)| (name.to_owned(), lowered.to_owned()));
        CompiledSource {
            plans: vec![plan],
            held_out: Default::default(),
            unplanned: Default::default(),
            host: None,
            listing: Default::default(),
            told: None,
            ptx: String::new(),
            cubin: Vec::new(),
            lowered_names: names.into_iter().collect(),
            asked: BTreeSet::new(),
            usage: vec![KernelUsage {
                lowered_name: "_Z4tileILi4EEvv".to_owned(),
                registers: 32,
                static_shared_bytes: 4096,
                stack_bytes: 16,
                constant_bytes: 380,
                barriers: 1,
                ..KernelUsage::default()
            }],
            warnings: Vec::new(),
            options: Vec::new(),
            nvrtc_version: String::new(),
        }
    }

    #[test]
    fn a_kernel_that_only_a_run_asked_for_has_a_row_without_a_launch() {
        let limits = &scoring::device(DeviceName::H200).limits;
        let mut compiled = compiled(&[]);
        assert!(kernel_resources(&compiled, limits).is_empty());
        compiled.asked = ["tile<4>".to_owned()].into();
        let [row] = &kernel_resources(&compiled, limits)[..] else {
            panic!("one row");
        };
        assert_eq!(
            (row.registers, row.static_smem_bytes),
            (Some(32), Some(4096))
        );
        assert_eq!((row.block_threads, row.occupancy), (None, None));
    }

    #[test]
    fn a_kernel_is_told_of_at_its_largest_launch() {
        let limits = &scoring::device(DeviceName::H200).limits;
        let rows = kernel_resources(&compiled(&[(64, 0), (256, 0), (256, 102_400)]), limits);
        // The variable has no row.
        let [row] = &rows[..] else {
            panic!("{rows:?}");
        };
        let expected = KernelResources {
            name: "tile<4>".to_owned(),
            registers: Some(32),
            spill_bytes: Some(0),
            static_smem_bytes: Some(4096),
            dynamic_smem_bytes: Some(102_400),
            constant_bytes: Some(380),
            local_bytes: Some(16),
            barriers: Some(1),
            block_threads: Some(256),
            // 104 KiB and the reserved KiB: 2 blocks of 8 warps out of 64.
            occupancy: Some(0.25),
            occupancy_limiter: Some(OccupancyLimiter::SharedMemory),
        };
        assert_eq!(*row, expected);
    }
}
