//! One untimed run of the submission: fresh buffers, the plan, what can be seen without a reference.

use std::time::Instant;

use device::{BufferId, DeviceError};
use domain::{Direction, Verdict, VerdictKind, told};
use sandbox::Mailbox;

use super::host::Host;
use super::intact::{Draw, input_modified, modified};
use super::live::{Memory, run_live};
use super::wire::Run;
use crate::host_code::HostWork;
use crate::inputs::{self, RunKeys};
use crate::instances::Uncompiled;
use crate::loaded::Loaded;
use crate::wire::{Blame, ParameterJob, ShapeJob, mailbox_slots};

/// A message that quotes device code is not longer than this.
pub(super) const MESSAGE_CHARS: usize = 1000;

/// Why a run has no result.
#[derive(Debug)]
pub(super) enum RunFailure {
    /// The submission's fault.
    Blamed(Blame),
    /// It needs a kernel instance that was not compiled.
    Uncompiled(Uncompiled),
    /// It ran, and the timer missed something.
    Unmeasured(String),
    /// The judge's own.
    Ours(String),
}

/// Runs a shape once and delivers its outputs to the mailbox.
pub(super) fn run(
    submission: &mut Loaded,
    host: &mut Host,
    shape: &ShapeJob,
    keys: &RunKeys,
    mailbox: &mut Mailbox,
    draw: &mut Draw,
) -> Result<Run, RunFailure> {
    let mut buffers = Vec::new();
    let result = run_with(submission, host, shape, keys, &mut buffers, mailbox, draw);
    let mut buffers = buffers.into_iter().flatten();
    let freed = buffers.try_for_each(|buffer| submission.device.free(buffer));
    // A fault takes a GPU's context along, and freeing then fails too: the fault is what counts.
    let run = result?;
    freed?;
    Ok(run)
}

fn run_with(
    submission: &mut Loaded,
    host: &mut Host,
    shape: &ShapeJob,
    keys: &RunKeys,
    buffers: &mut Vec<Option<BufferId>>,
    mailbox: &mut Mailbox,
    draw: &mut Draw,
) -> Result<Run, RunFailure> {
    // Module globals count against the same memory: too many of them leave no room for the buffers.
    submission.reset()?;
    prepare(submission, shape, keys, buffers)?;
    let started = Instant::now();
    let (span, live) = match &shape.work {
        HostWork::Planned(plan) => (submission.run(plan, buffers)?, None),
        HostWork::Live(work) => {
            let mut scratch_sizes = Vec::new();
            let memory = Memory::Fresh(&mut scratch_sizes);
            let (span, counts) = run_live(submission, host.program()?, work, buffers, memory)?;
            host.remember(&shape.id, scratch_sizes);
            (span, Some(counts))
        }
    };
    submission.device.verify_guards()?;
    let execute_s = started.elapsed().as_secs_f64();
    deliver(submission, shape, buffers, mailbox)?;
    if let Some(name) = modified(submission, shape, keys, buffers, draw)? {
        return Err(RunFailure::Blamed(input_modified(name)));
    }
    Ok(Run {
        counters: span.counters,
        modelled: span.modelled,
        leaked: span.leaked,
        printed: span.printed,
        execute_s,
        live,
    })
}

fn prepare(
    submission: &mut Loaded,
    shape: &ShapeJob,
    keys: &RunKeys,
    buffers: &mut Vec<Option<BufferId>>,
) -> Result<(), DeviceError> {
    for (parameter, key) in shape.parameters.iter().zip(keys) {
        let ParameterJob::Tensor { spec, .. } = parameter else {
            buffers.push(None);
            continue;
        };
        let buffer = submission.device.allocate(spec.bytes, &spec.name)?;
        buffers.push(Some(buffer));
        inputs::initialise(submission, spec, *key, buffer)?;
        let read_only = spec.direction == Direction::In;
        submission.device.protect(buffer, read_only)?;
        if spec.direction == Direction::Out {
            submission.device.expect_results(buffer)?;
        }
    }
    Ok(())
}

/// Puts a run's outputs into the mailbox.
pub(super) fn deliver(
    submission: &mut Loaded,
    shape: &ShapeJob,
    buffers: &[Option<BufferId>],
    mailbox: &mut Mailbox,
) -> Result<(), RunFailure> {
    let slots = mailbox_slots(&shape.parameters);
    for (slot, buffer) in slots.into_iter().zip(buffers) {
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

/// Turns a device's error into the submission's verdict, or into the judge's own fault.
impl From<DeviceError> for RunFailure {
    fn from(error: DeviceError) -> Self {
        let message = told(&error.to_string(), MESSAGE_CHARS);
        let (verdict, kind, line) = match error {
            DeviceError::Fault(fault) if fault.kind == VerdictKind::LaunchConfig => {
                (Verdict::PlanError, Some(fault.kind), fault.line)
            }
            DeviceError::Fault(fault) => (Verdict::RuntimeError, Some(fault.kind), fault.line),
            DeviceError::TimeLimit(fault) => (Verdict::TimeLimit, Some(fault.kind), fault.line),
            DeviceError::OutOfMemory { .. } | DeviceError::NoMemoryLeft(_) => {
                (Verdict::MemoryLimit, None, None)
            }
            DeviceError::OutputLimit { .. } => (Verdict::OutputLimit, None, None),
            DeviceError::Unsupported { line, .. } => {
                (Verdict::Unsupported, Some(VerdictKind::Opcode), line)
            }
            DeviceError::Unmeasured(why) => return Self::Unmeasured(why),
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
