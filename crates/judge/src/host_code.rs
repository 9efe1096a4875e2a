//! A submission's host functions on their way from the compile child to the executor.

use domain::TargetLimits;
use launch_plan::{Argument, Plan};
use serde::{Deserialize, Serialize};

use crate::kernel_table::KernelTable;

/// Encoded host functions. The supervisor hands them on and never looks inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct HostCode(#[serde(with = "hex::serde")] pub Vec<u8>);

/// What the host function does for one shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum HostWork {
    /// Always the same.
    Planned(Plan),
    /// What kernels compute decides: it is interpreted while the device runs.
    Live(Box<LiveWork>),
}

/// A call of the host function that is interpreted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LiveWork {
    /// Of the entry function.
    pub arguments: Vec<Argument>,
    /// What the host function is told of the device.
    pub limits: TargetLimits,
    /// And of the compiled kernels.
    pub kernels: KernelTable,
    /// Scratch memory that it may hold at a time.
    pub scratch_bytes: u64,
    /// What it may come to, by guesses.
    pub rehearsal: Plan,
}

impl HostWork {
    /// The plan, or what a run may come to.
    pub fn plan(&self) -> &Plan {
        match self {
            Self::Planned(plan) => plan,
            Self::Live(work) => &work.rehearsal,
        }
    }
}
