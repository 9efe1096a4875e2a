//! What the compiler made of a submission's kernels, as its host functions may ask for it.

use std::collections::BTreeMap;

use domain::TargetLimits;
use launch_plan::{KernelAttributes, KernelFacts, KernelInstance};
use serde::{Deserialize, Serialize};
use toolchain::KernelUsage;

use crate::ptx_facts;

/// The compiler's numbers, by instantiation as the plans spell it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KernelTable {
    kernels: BTreeMap<String, KernelAttributes>,
    limits: TargetLimits,
}

impl KernelTable {
    /// Of compiled code for a device.
    pub fn of(
        ptx: &str,
        lowered_names: &BTreeMap<String, String>,
        usage: &[KernelUsage],
        limits: &TargetLimits,
    ) -> Self {
        let constant_bytes = ptx_facts::constant_bytes(ptx);
        let bounds = ptx_facts::launch_bounds(ptx);
        let by_name = usage.iter().map(|usage| (&usage.lowered_name, usage));
        let by_name: BTreeMap<_, _> = by_name.collect();
        let attributes = |lowered: &String| {
            let usage = by_name.get(lowered)?;
            let bound = bounds.get(lowered.as_str()).copied();
            Some(KernelAttributes {
                registers: usage.registers,
                static_shared_bytes: usage.static_shared_bytes,
                local_bytes: usage.stack_bytes,
                constant_bytes,
                max_threads: max_threads(usage, bound, limits),
            })
        };
        let kernels = lowered_names.iter();
        Self {
            kernels: kernels
                .filter_map(|(name, lowered)| Some((name.clone(), attributes(lowered)?)))
                .collect(),
            limits: limits.clone(),
        }
    }
}

impl KernelFacts for KernelTable {
    fn attributes(&self, kernel: &KernelInstance) -> Option<KernelAttributes> {
        self.kernels.get(&kernel.0).copied()
    }

    fn resident_blocks(&self, registers: u32, shared_bytes: u32, threads: u32) -> Option<u32> {
        scoring::resident_blocks(&self.limits, registers, shared_bytes, threads)
    }
}

/// Threads of the largest block that can be launched: what the source allows, or as many whole warps as the
/// registers suffice for.
fn max_threads(usage: &KernelUsage, bound: Option<u32>, limits: &TargetLimits) -> u32 {
    let most = limits.max_threads_per_block;
    let most = bound.map_or(most, |bound| bound.min(most));
    let fits = |threads: &u32| {
        let shared = usage.static_shared_bytes;
        scoring::resident_blocks(limits, usage.registers, shared, *threads).is_some()
    };
    if fits(&most) {
        return most;
    }
    let warp = limits.warp_size.max(1);
    let sizes = (1..=most / warp).rev().map(|warps| warps * warp);
    sizes.into_iter().find(fits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use domain::DeviceName;

    use super::*;

    fn table(registers: u32) -> KernelTable {
        let usage = KernelUsage {
            lowered_name: "_Z1kv".to_owned(),
            registers,
            static_shared_bytes: 1024,
            ..KernelUsage::default()
        };
        let names = [("k".to_owned(), "_Z1kv".to_owned())].into();
        let limits = &scoring::device(DeviceName::H200).limits;
        KernelTable::of("", &names, &[usage], limits)
    }

    #[test]
    fn registers_bound_the_block() {
        let most = |registers| {
            let kernel = KernelInstance("k".to_owned());
            table(registers).attributes(&kernel).unwrap().max_threads
        };
        assert_eq!(most(32), 1024);
        // 65 536 registers, 128 a thread.
        assert_eq!(most(128), 512);
        assert_eq!(most(255), 256);
    }

    #[test]
    fn only_compiled_kernels_are_known() {
        let other = KernelInstance("other".to_owned());
        assert_eq!(table(32).attributes(&other), None);
        assert_eq!(table(32).resident_blocks(32, 1024, 256), Some(8));
    }
}
