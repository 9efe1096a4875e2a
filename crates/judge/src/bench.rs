//! The supervisor's side of a judging on a device: an executor with the submission, a checker with the
//! reference, and the memory through which outputs go from one to the other.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use device::{Bounds, Slope};
use domain::report::OutputMismatch;
use domain::{MachineState, TimerRef, Verdict, VerdictKind};
use sandbox::{ChildFailure, Session};

use crate::check::wire::{CheckReply, CheckRequest, Checked};
use crate::execute::wire::{ExecuteReply, ExecuteRequest, Executed, Run, TimedRun};
use crate::inputs::RunKeys;
use crate::lane::Occupied;
use crate::outcome::Interruption;
use crate::pair::{OWN_WALL, Pair, ask, ours, unexpected};
use crate::timing::Runner;
use crate::wire::{Blame, Program};

/// Wall clock of one comparison. Only the problem's own code runs there.
const CHECK_WALL: Duration = Duration::from_secs(120);

/// Executor and checker of one judging.
pub(crate) struct Bench<'a> {
    pair: Box<Pair>,
    card: Option<Occupied>,
    cancel: &'a AtomicBool,
    /// Wall clock of all that runs the submission, and what is left of it.
    wall: Duration,
    left: Duration,
}

impl<'a> Bench<'a> {
    /// Puts open children to work. `wall` is for all that runs the submission.
    pub fn new(
        pair: Box<Pair>,
        card: Option<Occupied>,
        wall: Duration,
        cancel: &'a AtomicBool,
    ) -> Self {
        Self {
            pair,
            card,
            cancel,
            wall,
            left: wall,
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
        match self.submission(&ExecuteRequest::Load { program, bounds })? {
            Executed::Done => Ok(None),
            Executed::Failed(blame) => Ok(Some(blame)),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs the submission once; its outputs then lie in the mailbox.
    pub fn run(
        &mut self,
        shape: usize,
        keys: &RunKeys,
    ) -> Result<Result<Run, Blame>, Interruption> {
        let keys = keys.clone();
        match self.submission(&ExecuteRequest::Run { shape, keys })? {
            Executed::Ran(run) => Ok(Ok(run)),
            Executed::Failed(blame) => Ok(Err(blame)),
            other => Err(unexpected(&other)),
        }
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
        let reply = ask(&mut self.pair.executor, request, self.left, self.cancel);
        self.left = self.left.saturating_sub(started.elapsed());
        let reply: ExecuteReply = reply.map_err(|failure| blame_submission(&failure, self.wall))?;
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

fn blame_submission(failure: &ChildFailure, wall: Duration) -> Interruption {
    match failure {
        ChildFailure::WallClock { .. } | ChildFailure::CpuLimit => Interruption {
            verdict: Verdict::TimeLimit,
            kind: Some(VerdictKind::WallClock),
            message: format!("running took longer than {} s, the limit", wall.as_secs()),
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
