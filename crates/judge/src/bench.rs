//! The supervisor's side of a judging on a device: an executor with the submission, a checker with the
//! reference, and the memory through which outputs go from one to the other.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use device::{Bounds, Slope};
use domain::report::OutputMismatch;
use domain::{MachineState, TimerRef, Verdict, VerdictKind};
use sandbox::{ChildFailure, Mailbox, Session};

use crate::check::wire::{CheckReply, CheckRequest, Checked};
use crate::execute::wire::{ExecuteReply, ExecuteRequest, Executed, Run, TimedRun};
use crate::inputs::RunKeys;
use crate::instances::Uncompiled;
use crate::lane::Occupied;
use crate::outcome::Interruption;
use crate::pair::{OWN_WALL, Pair, ask, ours, unexpected};
use crate::timing::Runner;
use crate::wire::{Blame, Program};

/// Wall clock of one comparison. Only the problem's own code runs there.
const CHECK_WALL: Duration = Duration::from_secs(120);

/// What a run may take on a GPU beyond its own limit: buffers of many sets, a graph of many nodes. The
/// executor looks at the limit itself, but not while it waits within a driver's call, such as a launch that
/// has to wait for an endless kernel.
const RUN_GRACE: Duration = Duration::from_secs(20);

/// What came of an untimed run.
pub(crate) enum Ran {
    Well(Box<Run>),
    Failed(Blame),
    /// It needs a kernel instance that was not compiled.
    Uncompiled(Uncompiled),
}

/// Executor and checker of one judging.
pub(crate) struct Bench<'a> {
    pair: Box<Pair>,
    card: Option<Occupied>,
    cancel: &'a AtomicBool,
    /// Wall clock of all that runs the submission, and what is left of it.
    wall: Duration,
    left: Duration,
    /// Wall clock of one run, where the device is the submission's alone.
    run_limit: Option<Duration>,
}

impl<'a> Bench<'a> {
    /// Puts open children to work. `wall` is for all that runs the submission.
    pub fn new(
        pair: Box<Pair>,
        card: Option<Occupied>,
        (wall, spent): (Duration, Duration),
        cancel: &'a AtomicBool,
    ) -> Self {
        Self {
            pair,
            card,
            cancel,
            wall,
            left: wall.saturating_sub(spent),
            run_limit: None,
        }
    }

    /// Lets both children go; a card is free again once they are gone.
    pub fn end(self) {
        if let Some(card) = self.card {
            card.leave(self.pair);
        }
    }

    /// How the children's confinement falls short, if it does.
    pub fn warning(&self) -> Option<String> {
        let both = [&self.pair.executor, &self.pair.checker];
        let known = both.into_iter().filter_map(Session::confinement);
        known.into_iter().find_map(|c| c.warning())
    }

    /// Loads both programs. `Some`: the submission's cannot be loaded, by its own fault.
    pub fn load(
        &mut self,
        submission: (Program, Bounds),
        reference: (Program, Bounds),
    ) -> Result<Option<Blame>, Interruption> {
        let (program, bounds) = reference;
        let program = Box::new(program);
        self.check(&CheckRequest::Load { program, bounds })?;
        let (program, bounds) = submission;
        let program = Box::new(program);
        self.run_limit = self.card.is_some().then_some(bounds.run_limit);
        match self.submission(&ExecuteRequest::Load { program, bounds })? {
            Executed::Done => Ok(None),
            Executed::Failed(blame) => Ok(Some(blame)),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs the submission once; its outputs then lie in the mailbox, if it went well.
    pub fn run(&mut self, shape: usize, keys: &RunKeys) -> Result<Ran, Interruption> {
        let keys = keys.clone();
        match self.submission(&ExecuteRequest::Run { shape, keys })? {
            Executed::Ran(run) => Ok(Ran::Well(Box::new(run))),
            Executed::Failed(blame) => Ok(Ran::Failed(blame)),
            Executed::Uncompiled(instance) => Ok(Ran::Uncompiled(instance)),
            other => Err(unexpected(&other)),
        }
    }

    /// Where the outputs of the last run lie, if it went well.
    pub fn outputs(&self) -> &Mailbox {
        &self.pair.outputs
    }

    fn done(&mut self, request: &ExecuteRequest) -> Result<Result<(), Blame>, Interruption> {
        match self.own(request)? {
            Executed::Done => Ok(Ok(())),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
    }

    /// Something that runs the submission, within what is left of its time.
    fn submission(&mut self, request: &ExecuteRequest) -> Result<Executed, Interruption> {
        let started = Instant::now();
        let of_a_run = self.run_limit.map(|limit| (limit, limit + RUN_GRACE));
        let (limit, wall) = match of_a_run {
            Some((limit, wall)) if wall < self.left => (limit, wall),
            _ => (self.wall, self.left),
        };
        let reply = ask(&mut self.pair.executor, request, wall, self.cancel);
        self.left = self.left.saturating_sub(started.elapsed());
        let reply: ExecuteReply = reply.map_err(|failure| blame_submission(&failure, limit))?;
        reply.map_err(|message| Interruption::ours(format!("executor: {message}")))
    }

    /// Something that runs the judge's code only.
    fn own(&mut self, request: &ExecuteRequest) -> Result<Executed, Interruption> {
        let reply = ask(&mut self.pair.executor, request, OWN_WALL, self.cancel);
        let reply: ExecuteReply = reply.map_err(|failure| ours("executor", &failure))?;
        reply.map_err(|message| Interruption::ours(format!("executor: {message}")))
    }

    fn check(&mut self, request: &CheckRequest) -> Result<Checked, Interruption> {
        let reply = ask(&mut self.pair.checker, request, CHECK_WALL, self.cancel);
        let reply: CheckReply = reply.map_err(|failure| ours("checker", &failure))?;
        reply.map_err(|message| Interruption::ours(format!("checker: {message}")))
    }
}

impl Runner for Bench<'_> {
    fn state(&mut self) -> Result<(Option<MachineState>, Option<TimerRef>), Interruption> {
        match self.own(&ExecuteRequest::State)? {
            Executed::State { state, timer } => Ok((state, timer)),
            other => Err(unexpected(&other)),
        }
    }

    fn warm_up(&mut self, least: Duration) -> Result<Vec<f64>, Interruption> {
        match self.own(&ExecuteRequest::WarmUp { least })? {
            Executed::Warm(times) => Ok(times.iter().map(Duration::as_secs_f64).collect()),
            other => Err(unexpected(&other)),
        }
    }

    fn time(
        &mut self,
        shape: usize,
        keys: &RunKeys,
    ) -> Result<Result<TimedRun, Blame>, Interruption> {
        let keys = keys.clone();
        match self.submission(&ExecuteRequest::Time { shape, keys })? {
            Executed::Timed(run) => Ok(Ok(run)),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
    }

    fn deliver(&mut self) -> Result<Result<(), Blame>, Interruption> {
        self.done(&ExecuteRequest::Deliver)
    }

    fn compare(
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

    fn slope(&mut self, shape: usize) -> Result<Result<Option<Slope>, Blame>, Interruption> {
        match self.submission(&ExecuteRequest::Slope { shape })? {
            Executed::Slope(slope) => Ok(Ok(slope)),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
    }

    fn finish(&mut self) -> Result<Result<(), Blame>, Interruption> {
        self.done(&ExecuteRequest::Finish)
    }

    fn renew_wall(&mut self) {
        self.left = self.wall;
    }
}

fn blame_submission(failure: &ChildFailure, limit: Duration) -> Interruption {
    match failure {
        ChildFailure::WallClock { .. } | ChildFailure::CpuLimit => Interruption {
            verdict: Verdict::TimeLimit,
            kind: Some(VerdictKind::WallClock),
            message: format!(
                "running took longer than {} s, the limit",
                limit.as_secs_f64()
            ),
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
        other => ours("executor", other),
    }
}
