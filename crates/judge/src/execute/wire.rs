//! What the executor is asked and what it answers.

use std::time::Duration;

use device::{Bounds, Leaked, OpenRequest, Slope};
use domain::report::{Counters, Modelled};
use domain::{MachineState, TimerRef};
use serde::{Deserialize, Serialize};

use crate::inputs::RunKeys;
use crate::instances::Uncompiled;
use crate::wire::{Blame, Code, Program};

/// A request to the executor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ExecuteRequest {
    /// Open the device. Comes first.
    Open {
        /// Which device.
        request: Box<OpenRequest>,
        /// The judge's own kernels, where runs are to be timed.
        kernels: Option<Box<Code>>,
    },
    /// See that the device still works.
    Probe,
    /// Load the submission, once.
    Load {
        /// The submission.
        program: Box<Program>,
        /// What it may use.
        bounds: Bounds,
    },
    /// One run from fresh inputs, outputs into the mailbox.
    Run {
        /// Index of the shape.
        shape: usize,
        /// Keys of its inputs.
        keys: RunKeys,
    },
    /// Keep the device busy until its clock is steady.
    WarmUp {
        /// And for so long.
        least: Duration,
    },
    /// One timed run from fresh inputs, at addresses that are fresh within a trial as far as the sets of
    /// buffers reach.
    Time {
        /// Index of the shape.
        shape: usize,
        /// Keys of its inputs.
        keys: RunKeys,
    },
    /// Check what the last timed run left, and put its outputs into the mailbox.
    Deliver,
    /// Give the timed runs' buffers back, and check what lies around them.
    Finish,
    /// The time of one run by the slope of two graphs, over the buffers of the last timed runs.
    Slope {
        /// Index of the shape.
        shape: usize,
    },
    /// Read the device's sensors.
    State,
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
    /// It ran.
    Timed(TimedRun),
    /// The time of one run; nothing where it has no slope.
    Slope(Option<Slope>),
    /// The clock is steady, or will not become so: times of the canary, in order.
    Warm(Vec<Duration>),
    /// What the sensors say.
    State {
        /// Nothing, on a device without sensors.
        state: Option<MachineState>,
        /// What measures.
        timer: Option<TimerRef>,
    },
    /// The submission failed.
    Failed(Blame),
    /// An untimed run came to a kernel instance that was not compiled; the device is as before it.
    Uncompiled(Uncompiled),
}

/// One timed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TimedRun {
    /// It took so long.
    Took {
        /// On the device's clock.
        span: Duration,
        /// On this host's clock, from before the work was put on the device to after it was waited for.
        wall: Duration,
        /// What it did, where it was interpreted.
        live: Option<LiveCounts>,
    },
    /// The timer missed something, and the run is to be done again.
    Missed(String),
    /// The device does not measure.
    NotMeasured,
}

/// One untimed run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// What the device counted.
    pub counters: Option<Counters>,
    /// What a model makes of that.
    pub modelled: Option<Modelled>,
    /// What kernels did not give back of the device's heap.
    pub leaked: Leaked,
    /// What kernels printed.
    pub printed: String,
    /// Seconds in the submission's kernels.
    pub execute_s: f64,
    /// What it did, where it was interpreted.
    pub live: Option<LiveCounts>,
}

/// What an interpreted run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveCounts {
    /// Copies to the host, each of which waits for the device.
    pub read_backs: u32,
    /// Kernels.
    pub launches: u32,
    /// Those, and memsets and copies of every kind.
    pub operations: u32,
}
