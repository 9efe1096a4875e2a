//! One untimed run of the submission: fresh buffers, the plan, what can be seen without a reference.

use std::time::Instant;

use device::{BufferId, DeviceError};
use domain::{Direction, Verdict, VerdictKind};
use problems::TensorSpec;
use sandbox::Mailbox;

use super::wire::Run;
use crate::inputs::{RunKeys, initial_contents};
use crate::loaded::Loaded;
use crate::wire::{Blame, ParameterJob, ShapeJob, mailbox_slots};

/// Why a run has no result.
pub(super) enum RunFailure {
    /// The submission's fault.
    Blamed(Blame),
    /// The judge's own.
    Ours(String),
}

/// Runs a shape once and delivers its outputs to the mailbox.
pub(super) fn run(
    submission: &mut Loaded,
    shape: &ShapeJob,
    keys: &RunKeys,
    mailbox: &mut Mailbox,
) -> Result<Run, RunFailure> {
    let inputs = initial_contents(shape, keys);
    let mut buffers = Vec::new();
    let result = run_with(submission, shape, &inputs, &mut buffers, mailbox);
    for buffer in buffers.into_iter().flatten() {
        submission.device.free(buffer)?;
    }
    result
}

fn run_with(
    submission: &mut Loaded,
    shape: &ShapeJob,
    inputs: &[Option<Vec<u8>>],
    buffers: &mut Vec<Option<BufferId>>,
    mailbox: &mut Mailbox,
) -> Result<Run, RunFailure> {
    // Module globals count against the same memory: too many of them leave no room for the buffers.
    prepare(submission, shape, inputs, buffers)?;
    let started = Instant::now();
    let span = submission.run(&shape.plan, buffers)?;
    submission.device.verify_guards()?;
    let execute_s = started.elapsed().as_secs_f64();
    check_inputs(submission, shape, inputs, buffers)?;
    deliver(submission, shape, buffers, mailbox)?;
    Ok(Run {
        counters: span.counters,
        printed: span.printed,
        execute_s,
    })
}

fn prepare(
    submission: &mut Loaded,
    shape: &ShapeJob,
    inputs: &[Option<Vec<u8>>],
    buffers: &mut Vec<Option<BufferId>>,
) -> Result<(), DeviceError> {
    submission.reset()?;
    let device = submission.device.as_mut();
    for (parameter, contents) in shape.parameters.iter().zip(inputs) {
        let (ParameterJob::Tensor { spec, .. }, Some(contents)) = (parameter, contents) else {
            buffers.push(None);
            continue;
        };
        let buffer = device.allocate(contents.len() as u64, &spec.name)?;
        buffers.push(Some(buffer));
        device.write(buffer, contents)?;
        device.protect(buffer, spec.direction == Direction::In)?;
    }
    Ok(())
}

fn check_inputs(
    submission: &mut Loaded,
    shape: &ShapeJob,
    inputs: &[Option<Vec<u8>>],
    buffers: &[Option<BufferId>],
) -> Result<(), RunFailure> {
    for ((parameter, contents), buffer) in shape.parameters.iter().zip(inputs).zip(buffers) {
        let (ParameterJob::Tensor { spec, .. }, Some(buffer)) = (parameter, buffer) else {
            continue;
        };
        if spec.direction == Direction::In && Some(submission.device.read(*buffer)?) != *contents {
            return Err(RunFailure::Blamed(input_modified(spec)));
        }
    }
    Ok(())
}

fn deliver(
    submission: &mut Loaded,
    shape: &ShapeJob,
    buffers: &[Option<BufferId>],
    mailbox: &mut Mailbox,
) -> Result<(), RunFailure> {
    for (slot, buffer) in mailbox_slots(&shape.parameters).into_iter().zip(buffers) {
        let (Some(slot), Some(buffer)) = (slot, buffer) else {
            continue;
        };
        let device = submission.device.as_mut();
        let delivered = mailbox.fill(slot.start, slot.len(), |data| {
            device.read_into(*buffer, data)
        });
        delivered.ok_or_else(|| RunFailure::Ours("the mailbox is too small".to_owned()))??;
    }
    Ok(())
}

fn input_modified(spec: &TensorSpec) -> Blame {
    Blame {
        verdict: Verdict::RuntimeError,
        kind: Some(VerdictKind::InputModified),
        message: format!("the input `{}` was modified", spec.name),
        line: None,
    }
}

/// Turns a device's error into the submission's verdict, or into the judge's own fault.
impl From<DeviceError> for RunFailure {
    fn from(error: DeviceError) -> Self {
        let message = error.to_string();
        let (verdict, kind, line) = match error {
            DeviceError::Fault(fault) if fault.kind == VerdictKind::LaunchConfig => {
                (Verdict::PlanError, Some(fault.kind), fault.line)
            }
            DeviceError::Fault(fault) => (Verdict::RuntimeError, Some(fault.kind), fault.line),
            DeviceError::TimeLimit(fault) => (Verdict::TimeLimit, Some(fault.kind), fault.line),
            DeviceError::OutOfMemory { .. } => (Verdict::MemoryLimit, None, None),
            DeviceError::OutputLimit { .. } => (Verdict::OutputLimit, None, None),
            DeviceError::Unsupported { line, .. } => {
                (Verdict::Unsupported, Some(VerdictKind::Opcode), line)
            }
            DeviceError::Cancelled => (Verdict::Cancelled, None, None),
            DeviceError::Internal(message) => return Self::Ours(message),
        };
        Self::Blamed(Blame {
            verdict,
            kind,
            message,
            line,
        })
    }
}
