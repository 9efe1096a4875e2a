//! What the executor is asked and what it answers.

use device::OpenRequest;
use domain::report::Counters;
use serde::{Deserialize, Serialize};

use crate::inputs::RunKeys;
use crate::wire::{Blame, Program};

/// A request to the executor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ExecuteRequest {
    /// Open the device. Comes first.
    Open(OpenRequest),
    /// Load the submission. Comes second.
    Load(Box<Program>),
    /// One run from fresh inputs, outputs into the mailbox.
    Run {
        /// Index of the shape.
        shape: usize,
        /// Keys of its inputs.
        keys: RunKeys,
    },
}

/// What came of a request. `Err`: the judge's own fault.
pub(crate) type ExecuteReply = Result<Executed, String>;

/// What came of a request that the judge is not to blame for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Executed {
    /// Done, nothing to tell.
    Done,
    /// It ran; the outputs lie in the mailbox.
    Ran(Run),
    /// The submission failed.
    Failed(Blame),
}

/// One untimed run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// What the device counted.
    pub counters: Option<Counters>,
    /// What kernels printed.
    pub printed: String,
    /// Seconds in the submission's kernels.
    pub execute_s: f64,
}
