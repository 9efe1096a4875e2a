//! The supervisor's side of a judging on a device: an executor with the submission, a checker with the
//! reference, and the memory through which outputs go from one to the other.
//!
//! Both children are started before there is anything to run, so that they are confined and have their
//! devices open by the time the source is compiled.

use std::time::{Duration, Instant};

use device::{OpenRequest, Target};
use domain::report::OutputMismatch;
use domain::{MachineState, TimerRef, Verdict, VerdictKind};
use sandbox::{ChildCommand, ChildFailure, Mailbox, Policy, Session};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Environment;
use crate::check::wire::{CheckReply, CheckRequest, Checked};
use crate::child::{CHECK_ROLE, EXECUTE_ROLE};
use crate::execute::wire::{ExecuteReply, ExecuteRequest, Executed, Run};
use crate::inputs::RunKeys;
use crate::wire::{Blame, Code, Program};

/// A child's own allocations beyond the device memory it simulates.
const OVERHEAD_BYTES: u64 = 2 << 30;
const MAX_RESPONSE_BYTES: u64 = 64 << 20;
/// Wall clock of one request to the checker. Only the problem's own code runs there.
const CHECK_WALL: Duration = Duration::from_secs(120);

/// Why a judging stopped when no shape's verdict says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interruption {
    pub verdict: Verdict,
    pub kind: Option<VerdictKind>,
    pub message: String,
}

impl Interruption {
    /// The judge's own fault.
    pub fn ours(message: String) -> Self {
        Self {
            verdict: Verdict::JudgeError,
            kind: None,
            message,
        }
    }
}

/// The time of one run among many, by two timers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slopes {
    /// By CUDA events.
    pub by_events_s: f64,
    /// By what measures spans, where that is another timer.
    pub by_timer_s: Option<f64>,
}

/// Executor and checker of one judging.
pub(crate) struct Bench<'a> {
    environment: &'a Environment,
    executor: Session,
    checker: Session,
    /// Wall clock of the executor over all requests, and what is left of it.
    wall: Duration,
    left: Duration,
}

impl<'a> Bench<'a> {
    /// Starts both children. `wall` is the executor's over the whole judging.
    pub fn start(
        environment: &'a Environment,
        open: &OpenRequest,
        mailbox_bytes: u64,
        wall: Duration,
    ) -> Result<Self, Interruption> {
        let mailbox = Mailbox::create(mailbox_bytes)
            .map_err(|e| Interruption::ours(format!("no shared memory for outputs: {e}")))?;
        let start = |role: &str| {
            let command = ChildCommand {
                program: environment.program.clone(),
                role: role.to_owned(),
                policy: policy(environment, open, mailbox_bytes, wall),
            };
            command
                .start(Some(&mailbox))
                .map_err(|e| Interruption::ours(format!("{role}: {e}")))
        };
        Ok(Self {
            executor: start(EXECUTE_ROLE)?,
            checker: start(CHECK_ROLE)?,
            environment,
            wall,
            left: wall,
        })
    }

    /// Opens the device in both children. Returns how their confinement fell short, if it did.
    pub fn open(&mut self, request: &OpenRequest) -> Result<Option<String>, Interruption> {
        match self.execute(&ExecuteRequest::Open(request.clone()))? {
            Executed::Done => {}
            other => return Err(unexpected(&other)),
        }
        self.check(&CheckRequest::Open(request.clone()))?;
        let confinements = [self.executor.confinement(), self.checker.confinement()];
        Ok(confinements.into_iter().flatten().find_map(|c| c.warning()))
    }

    /// Loads both programs. `Some`: the submission's cannot be loaded, by its own fault.
    pub fn load(
        &mut self,
        submission: Program,
        reference: Program,
        kernels: Option<Code>,
    ) -> Result<Option<Blame>, Interruption> {
        self.check(&CheckRequest::Load {
            program: Box::new(reference),
            kernels: kernels.clone(),
        })?;
        let program = Box::new(submission);
        match self.execute(&ExecuteRequest::Load { program, kernels })? {
            Executed::Failed(blame) => Ok(Some(blame)),
            _ => Ok(None),
        }
    }

    /// Runs the submission once; its outputs then lie in the mailbox.
    pub fn run(
        &mut self,
        shape: usize,
        keys: &RunKeys,
    ) -> Result<Result<Run, Blame>, Interruption> {
        let keys = keys.clone();
        match self.execute(&ExecuteRequest::Run { shape, keys })? {
            Executed::Ran(run) => Ok(Ok(run)),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
    }

    /// Keeps the device busy until its clock is steady; times of the canary, s.
    pub fn warm_up(&mut self) -> Result<Vec<f64>, Interruption> {
        match self.execute(&ExecuteRequest::WarmUp)? {
            Executed::Warm(times) => Ok(times.iter().map(Duration::as_secs_f64).collect()),
            other => Err(unexpected(&other)),
        }
    }

    /// One timed run; seconds, on a device that measures.
    pub fn time(
        &mut self,
        shape: usize,
        keys: &RunKeys,
    ) -> Result<Result<Option<f64>, Blame>, Interruption> {
        let keys = keys.clone();
        match self.execute(&ExecuteRequest::Time { shape, keys })? {
            Executed::Timed(time) => Ok(Ok(time.map(|t| t.as_secs_f64()))),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
    }

    /// Checks what the last timed run left; its outputs then lie in the mailbox.
    pub fn deliver(&mut self) -> Result<Result<(), Blame>, Interruption> {
        match self.execute(&ExecuteRequest::Deliver)? {
            Executed::Done => Ok(Ok(())),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
    }

    /// The time of one run among many by events and by the timer, s.
    pub fn slope(&mut self, shape: usize) -> Result<Result<Option<Slopes>, Blame>, Interruption> {
        match self.execute(&ExecuteRequest::Slope { shape })? {
            Executed::Slope(slope) => Ok(Ok(slope.map(|(by_events, by_timer)| Slopes {
                by_events_s: by_events.as_secs_f64(),
                by_timer_s: by_timer.map(|time| time.as_secs_f64()),
            }))),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
    }

    /// What the device's sensors say, and what measures.
    pub fn state(&mut self) -> Result<(Option<MachineState>, Option<TimerRef>), Interruption> {
        match self.execute(&ExecuteRequest::State)? {
            Executed::State { state, timer } => Ok((state, timer)),
            other => Err(unexpected(&other)),
        }
    }

    /// Compares the outputs in the mailbox with what the reference makes of the same inputs.
    pub fn compare(
        &mut self,
        shape: usize,
        keys: &RunKeys,
    ) -> Result<Vec<OutputMismatch>, Interruption> {
        let keys = keys.clone();
        match self.check(&CheckRequest::Compare { shape, keys })? {
            Checked::Compared(mismatches) => Ok(mismatches),
            Checked::Done => Err(Interruption::ours("the checker did nothing".to_owned())),
        }
    }

    fn execute(&mut self, request: &ExecuteRequest) -> Result<Executed, Interruption> {
        let started = Instant::now();
        let reply: Result<ExecuteReply, _> =
            ask(&mut self.executor, request, self.left, self.environment);
        self.left = self.left.saturating_sub(started.elapsed());
        reply
            .map_err(|failure| blame_executor(&failure, self.wall))?
            .map_err(|message| Interruption::ours(format!("executor: {message}")))
    }

    fn check(&mut self, request: &CheckRequest) -> Result<Checked, Interruption> {
        let reply: Result<CheckReply, _> =
            ask(&mut self.checker, request, CHECK_WALL, self.environment);
        reply
            .map_err(|failure| match failure {
                ChildFailure::Cancelled => cancelled(),
                other => Interruption::ours(format!("checker: {other}")),
            })?
            .map_err(|message| Interruption::ours(format!("checker: {message}")))
    }
}

fn ask<Reply: DeserializeOwned>(
    session: &mut Session,
    request: &impl Serialize,
    wall: Duration,
    environment: &Environment,
) -> Result<Reply, ChildFailure> {
    let request = serde_json::to_vec(request).expect("a request is plain data");
    let answer = session.ask(&request, wall, Some(&environment.cancel), &mut |_| {})?;
    serde_json::from_slice(&answer).map_err(|e| ChildFailure::Protocol(e.to_string()))
}

fn policy(
    environment: &Environment,
    open: &OpenRequest,
    mailbox_bytes: u64,
    wall: Duration,
) -> Policy {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let access = device::access(&open.target);
    let simulated = open.memory_limit_bytes * 2 + mailbox_bytes + OVERHEAD_BYTES;
    Policy {
        readable: access.readable,
        loadable: access.loadable,
        writable: access.writable,
        local_listener: access.local_listener,
        // Every host thread may burn the whole wall clock; the wall clock is the real limit.
        cpu_s: (wall + CHECK_WALL).as_secs() * threads,
        wall,
        // A GPU's driver reserves far more addresses than it uses memory.
        memory_bytes: (open.target == Target::Emulated).then_some(simulated),
        max_response_bytes: MAX_RESPONSE_BYTES,
        allow_unconfined: environment.allow_unconfined,
    }
}

fn blame_executor(failure: &ChildFailure, wall: Duration) -> Interruption {
    match failure {
        ChildFailure::WallClock { .. } | ChildFailure::CpuLimit => Interruption {
            verdict: Verdict::TimeLimit,
            kind: Some(VerdictKind::WallClock),
            message: format!("running took longer than {} s, the limit", wall.as_secs()),
        },
        ChildFailure::Cancelled => cancelled(),
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
        other => Interruption::ours(format!("executor: {other}")),
    }
}

fn unexpected(answer: &Executed) -> Interruption {
    Interruption::ours(format!("the executor answered out of turn: {answer:?}"))
}

fn cancelled() -> Interruption {
    Interruption {
        verdict: Verdict::Cancelled,
        kind: None,
        message: "cancelled while running".to_owned(),
    }
}
