//! What the compiler made of a submission's kernels, as its host functions may ask for it while they run.

use std::collections::{BTreeMap, BTreeSet};

use launch_plan::{KernelAttributes, KernelFacts, KernelInstance};
use serde::{Deserialize, Serialize};

use crate::ptx_facts;

/// The compiler's numbers, by instantiation as the plans spell it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KernelTable(BTreeMap<String, KernelAttributes>);

impl KernelTable {
    /// Of compiled code for a device.
    pub fn of(
        ptx: &str,
        lowered_names: &BTreeMap<String, String>,
        usage: &[KernelUsage],
        limits: &TargetLimits,
    ) -> Self {
        let constant_bytes = ptx_facts::constant_bytes(ptx);
        let attributes = |lowered: &String| {
            let usage = usage.iter().find(|usage| usage.lowered_name == *lowered)?;
            Some(KernelAttributes {
                registers: usage.registers,
                static_shared_bytes: usage.static_shared_bytes,
                local_bytes: usage.stack_bytes,
                constant_bytes,
                max_threads: max_threads(usage, ptx_facts::launch_bound(ptx, lowered), limits),
            })
        };
        Self(kernels.iter().filter_map(known).collect())
    }

    /// As a host function asks for it on a device.
    pub fn on<'a>(&'a self, limits: &'a domain::TargetLimits) -> impl KernelFacts + 'a {
        OnDevice {
            kernels: self,
            limits,
        }
    }
}

struct OnDevice<'a> {
    kernels: &'a KernelTable,
    limits: &'a domain::TargetLimits,
}

impl KernelFacts for OnDevice<'_> {
    fn attributes(&self, kernel: &KernelInstance) -> Option<KernelAttributes> {
        self.kernels.0.get(&kernel.0).copied()
    }

    fn resident_blocks(&self, registers: u32, shared_bytes: u32, threads: u32) -> Option<u32> {
        scoring::resident_blocks(self.limits, registers, shared_bytes, threads)
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

    struct One;

    impl KernelFacts for One {
        fn attributes(&self, kernel: &KernelInstance) -> Option<KernelAttributes> {
            (kernel.0 == "k").then_some(KernelAttributes {
                registers: 40,
                static_shared_bytes: 0,
                local_bytes: 0,
                constant_bytes: 0,
                max_threads: 1024,
            })
        }

        fn resident_blocks(&self, _: u32, _: u32, _: u32) -> Option<u32> {
            None
        }
    }

    #[test]
    fn a_table_knows_what_was_compiled_and_asks_the_device_s_limits() {
        let names = ["k", "&symbol"].map(str::to_owned).into();
        let table = KernelTable::of(&One, &names);
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
