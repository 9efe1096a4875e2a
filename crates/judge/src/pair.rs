//! Executor and checker: two confined children that share a mailbox.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use device::{OpenRequest, Target};
use sandbox::{ChildCommand, ChildFailure, Mailbox, Policy, Session};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::wire::{CheckReply, CheckRequest, Checked};
use crate::child::{CHECK_ROLE, EXECUTE_ROLE};
use crate::execute::wire::{ExecuteReply, ExecuteRequest, Executed};
use crate::outcome::Interruption;
use crate::policy::driving;
use crate::wire::Code;

/// A child's own allocations beyond the device memory it simulates.
const OVERHEAD_BYTES: u64 = 2 << 30;
/// What an emulated device remembers of accesses, at most.
const SHADOW_BYTES: u64 = 1 << 30;
const MAX_RESPONSE_BYTES: u64 = 64 << 20;
/// Wall clock of a request that runs the judge's own code only: drivers take a second or two to wake up.
pub(crate) const OWN_WALL: Duration = Duration::from_secs(60);

/// How a pair is started.
pub(crate) struct Start<'a> {
    /// The binary that is re-executed.
    pub program: &'a Path,
    /// The device of both.
    pub target: &'a Target,
    /// Room for the outputs of the largest shape.
    pub mailbox_bytes: u64,
    /// Device memory that each simulates, where it does.
    pub simulated_bytes: u64,
    /// Processor time over all threads of each.
    pub cpu: Duration,
    /// Go on where the host cannot confine them.
    pub allow_unconfined: bool,
}

/// Both children. They die with the thread that started them.
pub(crate) struct Pair {
    pub executor: Session,
    pub checker: Session,
    /// Outputs of the last run that went well.
    pub outputs: Mailbox,
    mailbox_bytes: u64,
}

impl Pair {
    /// Starts both. They confine themselves while the caller goes on.
    pub fn start(how: &Start<'_>) -> Result<Self, Interruption> {
        let no_memory = |e| Interruption::ours(format!("no shared memory for outputs: {e}"));
        let mailbox = Mailbox::create(how.mailbox_bytes).map_err(no_memory)?;
        let for_reading = mailbox.for_reading().map_err(no_memory)?;
        let start = |role: &str, mailbox: &Mailbox| {
            let command = ChildCommand {
                program: PathBuf::from(how.program),
                role: role.to_owned(),
                policy: policy(how),
            };
            command
                .start(Some(mailbox))
                .map_err(|e| Interruption::ours(format!("{role}: {e}")))
        };
        Ok(Self {
            executor: start(EXECUTE_ROLE, &mailbox)?,
            checker: start(CHECK_ROLE, &for_reading)?,
            outputs: for_reading,
            mailbox_bytes: how.mailbox_bytes,
        })
    }

    /// Opens the device in both at once: a driver takes a second to wake up.
    pub fn open(
        &mut self,
        request: &OpenRequest,
        kernels: Option<&Code>,
        cancel: &AtomicBool,
    ) -> Result<(), Interruption> {
        let Self {
            executor, checker, ..
        } = self;
        let request = Box::new(request.clone());
        let kernels = kernels.cloned().map(Box::new);
        let to_checker = CheckRequest::Open {
            request: request.clone(),
            kernels: kernels.clone(),
        };
        let to_executor = ExecuteRequest::Open { request, kernels };
        std::thread::scope(|scope| {
            let checker = scope.spawn(|| open_checker(checker, &to_checker, cancel));
            let executor = open_executor(executor, &to_executor, cancel);
            let checker = checker.join();
            let panicked = |_| Interruption::ours("the checker's opening panicked".into());
            executor.and(checker.map_err(panicked)?)
        })
    }

    /// Whether both still work, having waited for a judging for a while.
    pub fn is_well(&mut self, cancel: &AtomicBool) -> bool {
        let probe = &ExecuteRequest::Probe;
        let executor = ask::<ExecuteReply>(&mut self.executor, probe, OWN_WALL, cancel);
        let probe = &CheckRequest::Probe;
        let checker = ask::<CheckReply>(&mut self.checker, probe, OWN_WALL, cancel);
        matches!(
            (executor, checker),
            (Ok(Ok(Executed::Done)), Ok(Ok(Checked::Done)))
        )
    }

    /// Whether outputs of so many bytes fit.
    pub fn holds(&self, bytes: u64) -> bool {
        bytes <= self.mailbox_bytes
    }

    /// Kills both and says whether they are gone: a child in a driver's call dies when the call returns.
    pub fn end(self, patience: Duration) -> bool {
        let started = Instant::now();
        let executor = self.executor.end(patience);
        let left = patience.saturating_sub(started.elapsed());
        self.checker.end(left) && executor
    }
}

fn open_executor(
    executor: &mut Session,
    open: &ExecuteRequest,
    cancel: &AtomicBool,
) -> Result<(), Interruption> {
    match ask::<ExecuteReply>(executor, open, OWN_WALL, cancel) {
        Ok(Ok(Executed::Done)) => Ok(()),
        Ok(Ok(other)) => Err(unexpected(&other)),
        Ok(Err(message)) => Err(Interruption::ours(format!("executor: {message}"))),
        Err(failure) => Err(ours("executor", &failure)),
    }
}

fn open_checker(
    checker: &mut Session,
    open: &CheckRequest,
    cancel: &AtomicBool,
) -> Result<(), Interruption> {
    match ask::<CheckReply>(checker, open, OWN_WALL, cancel) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(message)) => Err(Interruption::ours(format!("checker: {message}"))),
        Err(failure) => Err(ours("checker", &failure)),
    }
}

/// One request and its reply. The child is gone after a failure.
pub(crate) fn ask<Reply: DeserializeOwned>(
    session: &mut Session,
    request: &impl Serialize,
    wall: Duration,
    cancel: &AtomicBool,
) -> Result<Reply, ChildFailure> {
    let request = serde_json::to_vec(request).expect("a request is plain data");
    let answer = session.ask(&request, wall, Some(cancel), &mut |_| {})?;
    serde_json::from_slice(&answer).map_err(|e| ChildFailure::Protocol(e.to_string()))
}

/// A failure that no submission is to blame for. What the child printed may be a kernel's.
pub(crate) fn ours(who: &str, failure: &ChildFailure) -> Interruption {
    match failure {
        ChildFailure::Cancelled => Interruption::cancelled(),
        other => Interruption::ours(format!("{who}: {}", other.in_own_words())),
    }
}

pub(crate) fn unexpected(answer: &Executed) -> Interruption {
    Interruption::ours(format!("the executor answered out of turn: {answer:?}"))
}

/// Host memory of an emulated device with so much of its own: itself twice, three bits for each of its
/// bytes, and what its checks keep of who accessed what, at most.
pub(crate) fn simulated_bytes(memory_bytes: u64) -> u64 {
    memory_bytes
        .saturating_mul(2)
        .saturating_add(memory_bytes / 2)
        .saturating_add(SHADOW_BYTES)
}

fn policy(how: &Start<'_>) -> Policy {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let simulated = how.simulated_bytes.saturating_add(how.mailbox_bytes);
    let simulated = simulated.saturating_add(OVERHEAD_BYTES);
    Policy {
        // Every host thread may burn the whole wall clock; the wall clock is the real limit.
        cpu_s: how.cpu.as_secs() * threads,
        // A GPU's driver reserves far more addresses than it uses memory.
        memory_bytes: (*how.target == Target::Emulated).then_some(simulated),
        ..driving(
            how.target,
            how.cpu,
            MAX_RESPONSE_BYTES,
            how.allow_unconfined,
        )
    }
}
