//! Words that both the executor and the checker are spoken to in.

use std::collections::BTreeMap;
use std::ops::Range;

use domain::{Direction, Verdict, VerdictKind};
use problems::TensorSpec;
use serde::{Deserialize, Serialize};

use crate::host_code::{HostCode, HostWork};

/// Where outputs begin in the mailbox: whole cache lines.
const SLOT_ALIGNMENT: usize = 256;

/// Compiled code and where its kernels are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Code {
    /// PTX text.
    pub ptx: String,
    /// Machine code.
    #[serde(with = "hex::serde")]
    pub cubin: Vec<u8>,
    /// Mangled kernel name by instantiation as the plans spell it.
    pub lowered_names: BTreeMap<String, String>,
}

/// A program and everything it is to be run on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Program {
    /// The code.
    pub code: Code,
    /// Its host functions, where a shape's are interpreted.
    pub host: Option<HostCode>,
    /// What to run, in order.
    pub shapes: Vec<ShapeJob>,
}

/// One shape's work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShapeJob {
    /// Stable name within the judging.
    pub id: String,
    /// Every parameter of the submission's entry point, in order.
    pub parameters: Vec<ParameterJob>,
    /// What the program does.
    pub work: HostWork,
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

/// Where each output lies in the mailbox, by parameter.
pub(crate) fn mailbox_slots(parameters: &[ParameterJob]) -> Vec<Option<Range<usize>>> {
    let mut end = 0;
    let slot = |parameter: &ParameterJob| match parameter {
        ParameterJob::Tensor { spec, .. } if spec.direction != Direction::In => {
            let bytes = usize::try_from(spec.bytes).unwrap_or(usize::MAX);
            let start = usize::next_multiple_of(end, SLOT_ALIGNMENT);
            end = start.saturating_add(bytes);
            Some(start..end)
        }
        _ => None,
    };
    parameters.iter().map(slot).collect()
}

/// Size of the mailbox that a shape with these parameters needs.
pub(crate) fn mailbox_bytes(parameters: &[ParameterJob]) -> u64 {
    let slots = mailbox_slots(parameters);
    slots.iter().flatten().map(|s| s.end).max().unwrap_or(0) as u64
}

/// How a run ended that did not go well, by the submission's fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Blame {
    /// The verdict.
    pub verdict: Verdict,
    /// What exactly.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: String,
    /// Line in the submitted source that the message is about.
    pub line: Option<u32>,
}
