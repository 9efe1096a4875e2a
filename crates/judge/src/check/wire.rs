//! What the checker is asked and what it answers.

use device::{Bounds, OpenRequest};
use domain::report::OutputMismatch;
use serde::{Deserialize, Serialize};

use crate::inputs::RunKeys;
use crate::wire::{Code, Program};

/// A request to the checker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum CheckRequest {
    /// Open the device. Comes first.
    Open {
        /// Which device.
        request: Box<OpenRequest>,
        /// The judge's own kernels, where inputs are to be made on the device.
        kernels: Option<Box<Code>>,
    },
    /// See that the device still works.
    Probe,
    /// Load the problem's reference, once.
    Load {
        /// The reference.
        program: Box<Program>,
        /// What it may use.
        bounds: Bounds,
    },
    /// Run the reference on the inputs of these keys and compare with the outputs in the mailbox.
    Compare {
        /// Index of the shape.
        shape: usize,
        /// Keys of its inputs.
        keys: RunKeys,
    },
}

/// What came of a request. `Err`: the judge's own fault.
pub(crate) type CheckReply = Result<Checked, String>;

/// What came of a request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Checked {
    /// Done, nothing to tell.
    Done,
    /// Outputs that differ; none of them is good.
    Compared(Vec<OutputMismatch>),
}
