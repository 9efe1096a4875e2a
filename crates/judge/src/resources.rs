//! What the compiler made of each kernel, with the occupancy at its largest launch.

use std::collections::BTreeSet;

use domain::TargetLimits;
use domain::report::KernelResources;
use launch_plan::{KernelInstance, Launch, Operation, Plan};

use crate::compile::wire::CompiledSource;

/// One row a kernel instantiation that the plan of an open shape launches, in the order of names.
pub(crate) fn kernel_resources(
    compiled: &CompiledSource,
    limits: &TargetLimits,
) -> Vec<KernelResources> {
    let launched: BTreeSet<KernelInstance> = compiled
        .open_plans()
        .flat_map(Plan::instantiations)
        .collect();
    compiled
        .lowered_names
        .iter()
        .filter(|(instance, _)| launched.contains(&KernelInstance((*instance).clone())))
        .map(|(instance, lowered)| {
            let usage = compiled
                .usage
                .iter()
                .find(|usage| usage.lowered_name == *lowered);
            let launch = largest_launch(compiled, instance);
            let occupancy = match (usage, launch) {
                (Some(usage), Some(launch)) => occupancy(usage, launch, limits),
                _ => None,
            };
            KernelResources {
                name: instance.clone(),
                registers: usage.map(|usage| usage.registers),
                spill_bytes: usage.map(|usage| usage.spill_bytes),
                static_smem_bytes: usage.map(|usage| usage.static_shared_bytes),
                occupancy,
            }
        })
        .collect()
}

fn largest_launch<'a>(compiled: &'a CompiledSource, instance: &str) -> Option<&'a Launch> {
    let operations = compiled.open_plans().flat_map(|plan| &plan.operations);
    let launches = operations.filter_map(|operation| match operation {
        Operation::Launch(launch) if launch.kernel.0 == instance => Some(launch),
        _ => None,
    });
    launches.max_by_key(|launch| threads(launch.block))
}

fn occupancy(
    usage: &toolchain::KernelUsage,
    launch: &Launch,
    limits: &TargetLimits,
) -> Option<f64> {
    let shared = usage.static_shared_bytes + launch.dynamic_shared_bytes;
    let threads = u32::try_from(threads(launch.block)).ok()?;
    scoring::occupancy(limits, usage.registers, shared, threads)
}

fn threads(block: [u32; 3]) -> u64 {
    block.into_iter().map(u64::from).product()
}
