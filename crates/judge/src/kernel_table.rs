//! What the compiler made of a submission's kernels, as its host functions may ask for it while they run.

use std::collections::{BTreeMap, BTreeSet};

use launch_plan::{KernelAttributes, KernelFacts, KernelInstance};
use serde::{Deserialize, Serialize};

/// The compiler's numbers, by instantiation as the plans spell it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KernelTable(BTreeMap<String, KernelAttributes>);

impl KernelTable {
    /// What is known of these kernels.
    pub fn of(facts: &dyn KernelFacts, kernels: &BTreeSet<String>) -> Self {
        let known = |kernel: &String| {
            let attributes = facts.attributes(&KernelInstance(kernel.clone()))?;
            Some((kernel.clone(), attributes))
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
        let facts = table.on(limits);
        let of = |name: &str| facts.attributes(&KernelInstance(name.to_owned()));
        assert_eq!(of("k").map(|k| k.registers), Some(40));
        assert_eq!(of("&symbol"), None);
        assert_eq!(facts.resident_blocks(32, 1024, 256), Some(8));
    }
}
