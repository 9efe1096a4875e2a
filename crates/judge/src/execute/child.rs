//! Inside the `__execute` child: owns a device with the submission on it.

use device::{Bounds, OpenRequest, Target};
use sandbox::Mailbox;

use super::host::Host;
use super::intact::{self, Draw};
use super::printed::Printed;
use super::run::{RunFailure, run};
use super::timed::{Rotation, warm_up};
use super::wire::{ExecuteReply, ExecuteRequest, Executed, Run, TimedRun};
use crate::inputs::RunKeys;
use crate::loaded::Loaded;
use crate::stage::Stage;
use crate::wire::{Code, Program, ShapeJob};

/// The executor between requests.
pub(crate) struct Executor {
    stage: Stage<Work>,
    printed: Printed,
    draw: Draw,
    // After the device that it is pinned for.
    mailbox: Mailbox,
}

/// A submission on its device.
struct Work {
    submission: Loaded,
    host: Host,
    shapes: Vec<ShapeJob>,
    memory_bytes: u64,
    rotation: Option<Rotation>,
}

impl Executor {
    pub fn new(mailbox: Mailbox) -> Self {
        Self {
            mailbox,
            stage: Stage::Closed,
            printed: Printed::by_device(),
            draw: intact::system(),
        }
    }

    pub fn answer(&mut self, request: ExecuteRequest) -> ExecuteReply {
        match self.perform(request) {
            Ok(executed) => Ok(executed),
            Err(RunFailure::Blamed(blame)) => Ok(Executed::Failed(blame)),
            Err(RunFailure::Uncompiled(instance)) => Ok(Executed::Uncompiled(instance)),
            Err(RunFailure::Unmeasured(message) | RunFailure::Ours(message)) => Err(message),
        }
    }

    fn perform(&mut self, request: ExecuteRequest) -> Result<Executed, RunFailure> {
        match request {
            ExecuteRequest::Open { request, kernels } => self.open(&request, kernels.as_deref()),
            ExecuteRequest::Probe => {
                self.stage.probe().map_err(|e| ours(&e.to_string()))?;
                Ok(Executed::Done)
            }
            ExecuteRequest::Load { program, bounds } => self.load(*program, &bounds),
            ExecuteRequest::Run { shape, keys } => {
                let ran = self.run(shape, &keys);
                let (mut ran, printed) = self.printed.judge(ran)?;
                if let Some(printed) = printed {
                    ran.printed = printed;
                }
                Ok(Executed::Ran(ran))
            }
            ExecuteRequest::WarmUp { least } => {
                let work = self.stage.work()?;
                warm_up(&mut work.submission, least).map(Executed::Warm)
            }
            ExecuteRequest::Time { shape, keys } => {
                let timed = self.time(shape, &keys);
                // Nobody reads what it printed.
                let (timed, _) = self.printed.judge(timed)?;
                Ok(Executed::Timed(timed))
            }
            ExecuteRequest::Finish => {
                let work = self.stage.work()?;
                work.end_rotation()?;
                work.submission.device.verify_guards_of(&[])?;
                Ok(Executed::Done)
            }
            ExecuteRequest::Deliver => self.deliver(),
            ExecuteRequest::Slope { shape } => {
                let slope = self.slope(shape);
                // Of many runs at once, to which the limit of one does not apply.
                self.printed.forget();
                slope
            }
            ExecuteRequest::State => {
                let device = &mut self.stage.work()?.submission.device;
                Ok(Executed::State {
                    state: device.state()?,
                    timer: device.timer(),
                })
            }
        }
    }

    fn open(
        &mut self,
        request: &OpenRequest,
        kernels: Option<&Code>,
    ) -> Result<Executed, RunFailure> {
        if request.target != Target::Emulated {
            let caught = Printed::caught();
            self.printed = caught.map_err(|e| ours(&format!("what kernels print: {e}")))?;
        }
        // No submission is on the device yet.
        let opened = self.stage.open(request, kernels, &self.mailbox);
        opened.map_err(|e| ours(&e.to_string()))?;
        Ok(Executed::Done)
    }

    fn load(&mut self, program: Program, bounds: &Bounds) -> Result<Executed, RunFailure> {
        let bounded = self.stage.bound(bounds);
        bounded.map_err(|e| ours(&e.to_string()))?;
        let Program { code, host, shapes } = program;
        let host = Host::of(host)?;
        self.stage.load(code, |submission| Work {
            submission,
            host,
            shapes,
            memory_bytes: bounds.memory_bytes,
            rotation: None,
        })?;
        Ok(Executed::Done)
    }

    fn run(&mut self, shape: usize, keys: &RunKeys) -> Result<Run, RunFailure> {
        let work = self.stage.work()?;
        work.end_rotation()?;
        let shape = work.shapes.get(shape).ok_or_else(no_shape)?;
        let (mailbox, draw) = (&mut self.mailbox, &mut self.draw);
        let (submission, host) = (&mut work.submission, &mut work.host);
        run(submission, host, shape, keys, mailbox, draw)
    }

    fn time(&mut self, index: usize, keys: &RunKeys) -> Result<TimedRun, RunFailure> {
        let work = self.stage.work()?;
        if work.rotation.as_ref().is_some_and(|r| r.shape() != index) {
            work.end_rotation()?;
        }
        let shape = work.shapes.get(index).ok_or_else(no_shape)?;
        let memory_bytes = work.memory_bytes;
        let (submission, host) = (&mut work.submission, &work.host);
        let rotation = work
            .rotation
            .get_or_insert_with(|| Rotation::new(submission, host, index, shape, memory_bytes));
        rotation.time(submission, host, shape, keys)
    }

    fn deliver(&mut self) -> Result<Executed, RunFailure> {
        let work = self.stage.work()?;
        let rotation = work.rotation.as_mut();
        let rotation = rotation.ok_or_else(|| ours("nothing was timed"))?;
        let shape = work.shapes.get(rotation.shape()).ok_or_else(no_shape)?;
        let (mailbox, draw) = (&mut self.mailbox, &mut self.draw);
        rotation.deliver(&mut work.submission, shape, mailbox, draw)?;
        Ok(Executed::Done)
    }

    fn slope(&mut self, shape: usize) -> Result<Executed, RunFailure> {
        let work = self.stage.work()?;
        let rotation = work.rotation.as_ref().filter(|r| r.shape() == shape);
        let rotation = rotation.ok_or_else(|| ours("this shape was not timed last"))?;
        let shape = work.shapes.get(shape).ok_or_else(no_shape)?;
        let slope = rotation.slope(&mut work.submission, shape);
        slope.map(Executed::Slope)
    }
}

impl Work {
    fn end_rotation(&mut self) -> Result<(), RunFailure> {
        match self.rotation.take() {
            Some(rotation) => Ok(rotation.release(&mut self.submission)?),
            None => Ok(()),
        }
    }
}

fn no_shape() -> RunFailure {
    ours("no such shape")
}

fn ours(message: &str) -> RunFailure {
    RunFailure::Ours(message.to_owned())
}

#[cfg(test)]
mod tests;
