//! What goes into an executor child and what comes out.

use std::collections::BTreeMap;

use domain::report::{Counters, OutputMismatch};
use domain::{TargetLimits, Verdict, VerdictKind};
use launch_plan::Plan;
use problems::TensorSpec;
use serde::{Deserialize, Serialize};

/// Compiled code and where its kernels are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Code {
    /// PTX text.
    pub ptx: String,
    /// Mangled kernel name by instantiation as the plans spell it.
    pub lowered_names: BTreeMap<String, String>,
}

/// One judging's work on a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExecuteJob {
    /// The submission.
    pub submission: Code,
    /// The problem's reference.
    pub reference: Code,
    /// What to run, in order.
    pub shapes: Vec<ShapeJob>,
    /// The device executed on, or stood in for.
    pub limits: TargetLimits,
    /// Seed that every input is derived from.
    pub master_seed: [u8; 32],
    /// Device memory admitted.
    pub memory_limit_bytes: u64,
    /// Warp instructions admitted for one shape.
    pub instruction_fuel: u64,
}

/// One shape's work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShapeJob {
    /// Stable name within the judging.
    pub id: String,
    /// Every parameter of the entry point, in order.
    pub parameters: Vec<ParameterJob>,
    /// What the submission does.
    pub plan: Plan,
    /// What the reference does.
    pub reference_plan: Plan,
}

/// One parameter of the submission's entry point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ParameterJob {
    /// A buffer.
    Tensor {
        /// Element type, extents, direction, generator.
        spec: TensorSpec,
        /// What a floating output's scale is multiplied by to give its tolerance; 0 elsewhere.
        slack: f64,
    },
    /// A value, already inside the plans.
    Scalar,
}

/// One shape's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ShapeOutcome {
    /// This shape's verdict.
    pub verdict: Verdict,
    /// What exactly.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: Option<String>,
    /// Line in the submitted source that the message is about.
    pub line: Option<u32>,
    /// Outputs that differ.
    pub mismatches: Vec<OutputMismatch>,
    /// What the device counted.
    pub counters: Option<Counters>,
    /// What kernels printed.
    pub printed: String,
    /// Seconds in the submission's kernels.
    pub execute_s: f64,
    /// Seconds in generating, the reference and the comparison.
    pub check_s: f64,
}

/// Sent after each shape, so that nothing is lost when a later one is killed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShapeDone {
    /// Shapes finished.
    pub done: u32,
    /// What came of it.
    pub outcome: ShapeOutcome,
}

/// The child's last word: all shapes were sent, up to one that ended the judging.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExecuteReply {
    /// `Err`: the judge's own fault, e.g. a reference that does not run.
    pub finished: Result<(), String>,
}
