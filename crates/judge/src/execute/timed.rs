//! Timed runs: fresh inputs, known caches, one measured span each.
//!
//! Sets of buffers take turns, so that no address comes back within a trial as long as memory suffices for
//! that, and never before it has left the L2 where it does not.

use std::time::{Duration, Instant};

use device::{BufferId, DeviceError, Operation, Slope, Span};
use domain::Direction;
use launch_plan::Plan;
use sandbox::Mailbox;

use super::host::Host;
use super::intact::{Draw, input_modified, modified};
use super::live::{Memory, run_live};
use super::pool::Pool;
use super::run::{RunFailure, deliver};
use super::wire::TimedRun;
use crate::host_code::HostWork;
use crate::inputs::RunKeys;
use crate::loaded::{Loaded, Scratch};
use crate::wire::{ParameterJob, ShapeJob};

/// What scratch holds before a run: nothing of an earlier one.
const SCRATCH_POISON: [u8; 1] = [0xa5];
/// Rotation goes through this many times the L2 before an address comes back.
const POOL_OVER_L2: u64 = 5;
/// As many as a trial has samples: no address comes back within one, however small the sets.
const MAX_SLOTS: u64 = 100;
/// The canary runs until so many of its times in a row agree within [`STEADY`], or [`MAX_WARM_UP`] is over.
const STEADY_RUNS: usize = 20;
const STEADY: f64 = 0.005;
/// Canaries that the timer may miss.
const MOST_MISSED: u32 = 20;
const MAX_WARM_UP: Duration = Duration::from_secs(1);

/// Buffers of one shape, in turn.
pub(super) struct Rotation {
    shape: usize,
    slots: Vec<Slot>,
    next: usize,
    limit: usize,
    /// Sizes of the scratch buffers that an interpreted run needs.
    scratch_sizes: Vec<u64>,
    /// Slot and keys of the last timed run.
    last: Option<(usize, RunKeys)>,
}

/// One set of buffers.
struct Slot {
    buffers: Vec<Option<BufferId>>,
    /// Of a plan.
    scratch: Scratch,
    /// Of a run that is interpreted.
    pool: Pool,
}

impl Rotation {
    /// An empty rotation for a shape.
    pub fn new(
        submission: &Loaded,
        host: &Host,
        index: usize,
        shape: &ShapeJob,
        memory_bytes: u64,
    ) -> Self {
        let scratch_sizes = match shape.work {
            HostWork::Planned(_) => Vec::new(),
            HostWork::Live(_) => host.scratch(&shape.id).to_vec(),
        };
        let bytes = set_bytes(shape, &scratch_sizes).max(1);
        let pool = submission.device.limits().l2_bytes * POOL_OVER_L2;
        // One more than covers the pool, so that an address that comes back has left the L2.
        let wanted = pool.div_ceil(bytes) + 1;
        let room = memory_bytes.saturating_sub(submission.global_bytes());
        let affordable = (room / bytes).max(1);
        let limit = wanted.clamp(2, MAX_SLOTS).min(affordable);
        Self {
            shape: index,
            slots: Vec::new(),
            next: 0,
            limit: usize::try_from(limit).unwrap_or(1),
            scratch_sizes,
            last: None,
        }
    }

    pub fn shape(&self) -> usize {
        self.shape
    }

    /// Gives all buffers back.
    pub fn release(self, submission: &mut Loaded) -> Result<(), DeviceError> {
        for buffer in self.slots.iter().flat_map(Slot::all) {
            submission.device.free(buffer)?;
        }
        Ok(())
    }

    /// One timed run.
    pub fn time(
        &mut self,
        submission: &mut Loaded,
        host: &Host,
        shape: &ShapeJob,
        keys: &RunKeys,
    ) -> Result<TimedRun, RunFailure> {
        let index = self.turn(submission, shape)?;
        let slot = &mut self.slots[index];
        submission.reset()?;
        let fresh = initialise(submission, shape, keys, slot)?;
        submission.device.run(submission.stream, &fresh)?;
        let settled = settle(submission, slot)?;
        submission.device.run(submission.stream, &settled)?;
        let (timed, wall) = match &shape.work {
            HostWork::Planned(plan) => {
                let operations = slot.operations(submission, plan)?;
                let started = Instant::now();
                let timed = submission.device.time(submission.stream, &operations);
                let timed = timed.map(|span| (span, None)).map_err(RunFailure::from);
                (timed, started.elapsed())
            }
            HostWork::Live(work) => {
                slot.pool.rewind();
                let memory = Memory::Pooled(&mut slot.pool);
                let program = host.program()?;
                let started = Instant::now();
                let timed = run_live(submission, program, work, &slot.buffers, memory);
                let timed = timed.map(|(span, counts)| (span, Some(counts)));
                (timed, started.elapsed())
            }
        };
        self.last = Some((index, keys.clone()));
        Ok(match timed {
            Ok((Span { duration: None, .. }, _)) => TimedRun::NotMeasured,
            Ok((
                Span {
                    duration: Some(span),
                    ..
                },
                live,
            )) => TimedRun::Took { span, wall, live },
            Err(RunFailure::Unmeasured(why)) => TimedRun::Missed(why),
            // A compile, and code that earlier samples did not have, have no place among samples.
            Err(RunFailure::Uncompiled(instance)) => {
                return Err(RunFailure::Blamed(instance.first_asked_while_timed()));
            }
            Err(failure) => return Err(failure),
        })
    }

    /// Looks at what the last timed run left: guards, inputs, and the outputs, which go into the
    /// mailbox. Asked for after the run, which therefore cannot know.
    pub fn deliver(
        &mut self,
        submission: &mut Loaded,
        shape: &ShapeJob,
        mailbox: &mut Mailbox,
        draw: &mut Draw,
    ) -> Result<(), RunFailure> {
        let none = || RunFailure::Ours("nothing was timed".to_owned());
        let (index, keys) = self.last.take().ok_or_else(none)?;
        let slot = &self.slots[index];
        let around: Vec<BufferId> = slot.all().collect();
        submission.device.verify_guards_of(&around)?;
        deliver(submission, shape, &slot.buffers, mailbox)?;
        match modified(submission, shape, &keys, &slot.buffers, draw)? {
            Some(name) => Err(RunFailure::Blamed(input_modified(name))),
            None => Ok(()),
        }
    }

    /// The time of one run by the slope over every set of buffers that timed runs have used. `None`
    /// where a run may find something of the last one, which the slope's repeats would, too: that would
    /// be another run than the timed ones, or one without end.
    pub fn slope(
        &self,
        submission: &mut Loaded,
        shape: &ShapeJob,
    ) -> Result<Option<Slope>, RunFailure> {
        let Ok(sets @ 1..) = u32::try_from(self.slots.len()) else {
            return Ok(None);
        };
        // What is interpreted is another list of operations each time.
        let HostWork::Planned(plan) = &shape.work else {
            return Ok(None);
        };
        if submission.global_bytes() > 0 || keeps_state(shape, plan) {
            return Ok(None);
        }
        let mut operations = Vec::new();
        for slot in &self.slots {
            operations.extend(slot.operations(submission, plan)?);
        }
        let slope = match submission.device.slope(submission.stream, &operations, 1) {
            // A second opinion is not worth a judging.
            Err(DeviceError::Unmeasured(_)) => return Ok(None),
            slope => slope?,
        };
        Ok(slope.map(|all| Slope {
            by_events: all.by_events / sets,
            by_timer: all.by_timer.map(|time| time / sets),
        }))
    }

    /// The set of buffers whose turn it is; made, where there is none yet.
    fn turn(&mut self, submission: &mut Loaded, shape: &ShapeJob) -> Result<usize, DeviceError> {
        let index = self.next;
        self.next = (self.next + 1) % self.limit;
        if index == self.slots.len() {
            let mut slot = Slot {
                buffers: Vec::new(),
                scratch: Scratch::new(),
                pool: Pool::default(),
            };
            let made = slot.allocate(submission, shape, &self.scratch_sizes);
            self.slots.push(slot); // what was allocated before a failure is given back with the rest
            made?;
        }
        Ok(index)
    }
}

/// Whether a run changes what it reads: buffers that are read and written, scratch memory.
fn keeps_state(shape: &ShapeJob, plan: &Plan) -> bool {
    let is_inout = |parameter: &ParameterJob| match parameter {
        ParameterJob::Tensor { spec, .. } => spec.direction == Direction::Inout,
        ParameterJob::Scalar => false,
    };
    plan.scratch_bytes() > 0 || shape.parameters.iter().any(is_inout)
}

impl Slot {
    /// Every buffer of the set.
    fn all(&self) -> impl Iterator<Item = BufferId> {
        let parameters = self.buffers.iter().flatten();
        let planned = parameters.chain(self.scratch.values()).copied();
        planned.chain(self.pool.buffers())
    }

    /// The plan on these buffers. Scratch stays, for it is the slot's and serves the next run too; that
    /// the plan gives it back in time was seen in the untimed run.
    fn operations(
        &self,
        submission: &mut Loaded,
        plan: &Plan,
    ) -> Result<Vec<Operation>, DeviceError> {
        let mut operations = submission.operations(plan, &self.buffers, &self.scratch)?;
        operations.retain(|operation| !matches!(operation, Operation::Free(_)));
        Ok(operations)
    }

    fn allocate(
        &mut self,
        submission: &mut Loaded,
        shape: &ShapeJob,
        scratch_sizes: &[u64],
    ) -> Result<(), DeviceError> {
        for parameter in &shape.parameters {
            self.buffers.push(match parameter {
                ParameterJob::Tensor { spec, .. } => {
                    Some(submission.device.allocate(spec.bytes, &spec.name)?)
                }
                ParameterJob::Scalar => None,
            });
        }
        match &shape.work {
            HostWork::Planned(plan) => submission.allocate(plan, &mut self.scratch),
            HostWork::Live(_) => self.pool.fill(submission.device.as_mut(), scratch_sizes),
        }
    }
}

/// Runs the canary for `least` and until its times agree.
pub(super) fn warm_up(
    submission: &mut Loaded,
    least: Duration,
) -> Result<Vec<Duration>, RunFailure> {
    let kernels = submission.own_kernels()?;
    let mut times = Vec::new();
    let mut missed = 0;
    let started = Instant::now();
    while started.elapsed() < MAX_WARM_UP {
        let canary = [kernels.canary()];
        let time = match submission.device.time(submission.stream, &canary) {
            Ok(Span {
                duration: Some(time),
                ..
            }) => time,
            Ok(_) => break, // nothing to measure, nothing to wait for
            Err(DeviceError::Unmeasured(_)) if missed < MOST_MISSED => {
                missed += 1;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        times.push(time);
        if started.elapsed() >= least && is_steady(&times) {
            break;
        }
    }
    Ok(times)
}

fn is_steady(times: &[Duration]) -> bool {
    let Some(last) = times.len().checked_sub(STEADY_RUNS).map(|at| &times[at..]) else {
        return false;
    };
    let seconds = || last.iter().map(Duration::as_secs_f64);
    let least = seconds().fold(f64::INFINITY, f64::min);
    let most = seconds().fold(0.0, f64::max);
    most <= least * (1.0 + STEADY)
}

fn set_bytes(shape: &ShapeJob, scratch_sizes: &[u64]) -> u64 {
    let tensors = shape.parameters.iter().map(|parameter| match parameter {
        ParameterJob::Tensor { spec, .. } => spec.bytes,
        ParameterJob::Scalar => 0,
    });
    let scratch = match &shape.work {
        HostWork::Planned(plan) => plan.scratch_bytes(),
        HostWork::Live(_) => scratch_sizes.iter().sum(),
    };
    tensors.sum::<u64>() + scratch
}

/// Inputs generated, outputs and scratch poisoned.
fn initialise(
    submission: &Loaded,
    shape: &ShapeJob,
    keys: &RunKeys,
    slot: &Slot,
) -> Result<Vec<Operation>, DeviceError> {
    let kernels = submission.own_kernels()?;
    let mut operations = Vec::new();
    for ((parameter, key), buffer) in shape.parameters.iter().zip(keys).zip(&slot.buffers) {
        if let (ParameterJob::Tensor { spec, .. }, Some(buffer)) = (parameter, buffer) {
            operations.push(kernels.initialise(*buffer, spec, *key));
        }
    }
    for buffer in slot.scratch.values().copied().chain(slot.pool.buffers()) {
        let bytes = submission.device.size_bytes(buffer)?;
        operations.push(kernels.poison(buffer, bytes, &SCRATCH_POISON));
    }
    Ok(operations)
}

/// Shared memory overwritten, no line of the submission's preferred, the L2 full of what nobody needs.
fn settle(submission: &Loaded, slot: &Slot) -> Result<Vec<Operation>, DeviceError> {
    let kernels = submission.own_kernels()?;
    let mut operations = vec![kernels.scrub()];
    for buffer in slot.all() {
        let bytes = submission.device.size_bytes(buffer)?;
        if bytes > 0 {
            operations.push(kernels.demote(buffer, bytes));
        }
    }
    operations.push(kernels.flush());
    Ok(operations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_steady_after_twenty_times_within_half_a_percent() {
        let time = |micros: f64| Duration::from_secs_f64(micros * 1e-6);
        let mut times: Vec<Duration> = vec![time(200.0); 5];
        times.extend([time(100.0); 19]);
        assert!(!is_steady(&times), "one of the last twenty is slow");
        times.push(time(100.4));
        assert!(is_steady(&times));
        times.push(time(100.6));
        assert!(!is_steady(&times));
    }
}
