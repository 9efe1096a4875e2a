//! From plans and code to outcomes, in an `__execute` child.

pub(crate) mod child;
mod plan_run;
mod shape;
pub(crate) mod wire;

use std::time::Duration;

use domain::{Verdict, VerdictKind};
use sandbox::{ChildCommand, ChildFailure, Policy};

use self::wire::{ExecuteJob, ExecuteReply, ShapeDone, ShapeOutcome};
use crate::Environment;
use crate::child::EXECUTE_ROLE;

/// The executor's own allocations beyond the device memory it simulates.
const OVERHEAD_BYTES: u64 = 2 << 30;
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Why the executor stopped before the last shape, when no shape's verdict says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interruption {
    pub verdict: Verdict,
    pub kind: Option<VerdictKind>,
    pub message: String,
}

/// Runs a job. Outcomes arrive in order through `on_shape`, and are kept when the child is killed.
/// Returns how the child's confinement fell short, if it did.
pub(crate) fn execute(
    environment: &Environment,
    job: &ExecuteJob,
    wall: Duration,
    on_shape: &mut dyn FnMut(ShapeOutcome),
) -> Result<Option<String>, Interruption> {
    let request = serde_json::to_vec(job).expect("a job is plain data");
    let command = ChildCommand {
        program: environment.program.clone(),
        role: EXECUTE_ROLE.to_owned(),
        policy: policy(environment, job, wall),
    };
    let answer = command.run(
        &request,
        &mut |message| match serde_json::from_slice::<ShapeDone>(message) {
            Ok(done) => on_shape(done.outcome),
            Err(error) => tracing::error!(%error, "the executor sent nonsense"),
        },
        Some(&environment.cancel),
    );
    match answer {
        Ok(answer) => match serde_json::from_slice::<ExecuteReply>(&answer.response) {
            Ok(reply) => reply
                .finished
                .map_err(our_fault)
                .map(|()| answer.confinement.warning()),
            Err(error) => Err(our_fault(format!(
                "the executor answered nonsense: {error}"
            ))),
        },
        Err(failure) => Err(interruption(&failure, wall)),
    }
}

fn policy(environment: &Environment, job: &ExecuteJob, wall: Duration) -> Policy {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    Policy {
        readable: Vec::new(),
        loadable: Vec::new(),
        // Every host thread may burn the whole wall clock; the wall clock is the real limit.
        cpu_s: (wall.as_secs() + 5) * threads,
        wall,
        memory_bytes: Some(job.memory_limit_bytes * 2 + OVERHEAD_BYTES),
        max_response_bytes: MAX_RESPONSE_BYTES,
        allow_unconfined: environment.allow_unconfined,
    }
}

fn interruption(failure: &ChildFailure, wall: Duration) -> Interruption {
    match failure {
        ChildFailure::WallClock { .. } | ChildFailure::CpuLimit => Interruption {
            verdict: Verdict::TimeLimit,
            kind: Some(VerdictKind::WallClock),
            message: format!(
                "the judging took longer than {} s, the limit",
                wall.as_secs()
            ),
        },
        ChildFailure::Cancelled => Interruption {
            verdict: Verdict::Cancelled,
            kind: None,
            message: "cancelled while running".to_owned(),
        },
        ChildFailure::MemoryLimit => Interruption {
            verdict: Verdict::MemoryLimit,
            kind: None,
            message: "the judging needed more memory than the emulated device has".to_owned(),
        },
        ChildFailure::ResponseTooLarge => Interruption {
            verdict: Verdict::OutputLimit,
            kind: None,
            message: "the kernels printed more than the judge takes".to_owned(),
        },
        other => our_fault(format!("executor: {other}")),
    }
}

fn our_fault(message: String) -> Interruption {
    Interruption {
        verdict: Verdict::JudgeError,
        kind: None,
        message,
    }
}
