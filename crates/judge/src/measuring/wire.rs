//! What a measuring child is asked.

use std::collections::BTreeMap;

use device::OpenRequest;
use scoring::Pipe;
use serde::{Deserialize, Serialize};

use crate::compile::wire::KernelSet;
use crate::wire::Code;

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GaugeRequest {
    /// The GPU and what times there.
    pub open: OpenRequest,
    /// The kernels it needs.
    pub code: BTreeMap<KernelSet, Code>,
    /// What is measured.
    pub task: Task,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// The card as it is now: sensors and timer.
    State,
    /// Bandwidths and the launch floor.
    Memory,
    /// Multiply-adds on the vector units.
    Vector,
    /// Products on the tensor cores, of one type, by the instructions of one set of kernels.
    Tensor(Pipe, KernelSet),
    /// One of the experiments, by its name.
    Experiment(String),
}

impl Task {
    /// The kernels that it launches.
    pub fn sets(&self) -> Vec<KernelSet> {
        let own = match self {
            Self::State => None,
            Self::Memory => Some(KernelSet::Memory),
            Self::Vector => Some(KernelSet::Vector),
            Self::Tensor(_, set) => Some(*set),
            Self::Experiment(_) => Some(KernelSet::Experiments),
        };
        own.into_iter().chain([KernelSet::Judging]).collect()
    }
}
