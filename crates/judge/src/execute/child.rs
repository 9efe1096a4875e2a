//! Inside the `__execute` child: owns a device with the submission on it.

use device::Device;
use sandbox::Mailbox;

use super::run::{RunFailure, run};
use super::timed::{Rotation, warm_up};
use super::wire::{ExecuteReply, ExecuteRequest, Executed};
use crate::inputs::RunKeys;
use crate::kernels::Kernels;
use crate::loaded::Loaded;
use crate::wire::{Code, Program, ShapeJob};

/// The executor between requests.
pub(crate) struct Executor {
    mailbox: Mailbox,
    memory_bytes: u64,
    device: Option<Box<dyn Device>>,
    work: Option<Work>,
}

/// A submission on its device.
struct Work {
    submission: Loaded,
    kernels: Option<Kernels>,
    shapes: Vec<ShapeJob>,
    rotation: Option<Rotation>,
}

impl Executor {
    pub fn new(mailbox: Mailbox) -> Self {
        Self {
            mailbox,
            memory_bytes: 0,
            device: None,
            work: None,
        }
    }

    pub fn answer(&mut self, request: ExecuteRequest) -> ExecuteReply {
        match self.perform(request) {
            Ok(executed) => Ok(executed),
            Err(RunFailure::Blamed(blame)) => Ok(Executed::Failed(blame)),
            Err(RunFailure::Ours(message)) => Err(message),
        }
    }

    fn perform(&mut self, request: ExecuteRequest) -> Result<Executed, RunFailure> {
        match request {
            ExecuteRequest::Open(request) => {
                self.memory_bytes = request.memory_limit_bytes;
                self.device = Some(device::open(&request)?);
                Ok(Executed::Done)
            }
            ExecuteRequest::Load { program, kernels } => self.load(*program, kernels.as_ref()),
            ExecuteRequest::Run { shape, keys } => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                work.end_rotation()?;
                let shape = work.shapes.get(shape).ok_or_else(no_shape)?;
                let kernels = work.kernels.as_ref();
                let mailbox = &mut self.mailbox;
                run(&mut work.submission, kernels, shape, &keys, mailbox).map(Executed::Ran)
            }
            ExecuteRequest::WarmUp => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                let kernels = work.kernels.as_ref().ok_or_else(no_kernels)?;
                warm_up(&mut work.submission, kernels).map(Executed::Warm)
            }
            ExecuteRequest::Time { shape, keys } => self.time(shape, &keys),
            ExecuteRequest::Deliver => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                let kernels = work.kernels.as_ref().ok_or_else(no_kernels)?;
                let rotation = work.rotation.as_mut();
                let rotation = rotation.ok_or_else(|| ours("nothing was timed"))?;
                let shape = work.shapes.get(rotation.shape()).ok_or_else(no_shape)?;
                let mailbox = &mut self.mailbox;
                rotation.deliver(&mut work.submission, kernels, shape, mailbox)?;
                Ok(Executed::Done)
            }
            ExecuteRequest::Slope { shape } => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                let rotation = work.rotation.as_ref().filter(|r| r.shape() == shape);
                let rotation = rotation.ok_or_else(|| ours("this shape was not timed last"))?;
                let shape = work.shapes.get(shape).ok_or_else(no_shape)?;
                let slope = rotation.slope(&mut work.submission, shape)?;
                Ok(Executed::Timed(slope))
            }
            ExecuteRequest::State => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                Ok(Executed::State {
                    state: work.submission.device.state()?,
                    timer: work.submission.device.timer(),
                })
            }
        }
    }

    fn load(&mut self, program: Program, kernels: Option<&Code>) -> Result<Executed, RunFailure> {
        let device = self
            .device
            .take()
            .ok_or_else(|| ours("no device is open"))?;
        let mut submission = Loaded::new(device, program.code)?;
        let stream = submission.stream;
        let kernels = kernels
            .map(|code| Kernels::load(submission.device.as_mut(), stream, code))
            .transpose()?;
        self.work = Some(Work {
            submission,
            kernels,
            shapes: program.shapes,
            rotation: None,
        });
        Ok(Executed::Done)
    }

    fn time(&mut self, index: usize, keys: &RunKeys) -> Result<Executed, RunFailure> {
        let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
        if work.rotation.as_ref().is_some_and(|r| r.shape() != index) {
            work.end_rotation()?;
        }
        let kernels = work.kernels.as_ref().ok_or_else(no_kernels)?;
        let shape = work.shapes.get(index).ok_or_else(no_shape)?;
        let memory_bytes = self.memory_bytes;
        let submission = &mut work.submission;
        let rotation = work
            .rotation
            .get_or_insert_with(|| Rotation::new(submission, index, shape, memory_bytes));
        let time = rotation.time(submission, kernels, shape, keys)?;
        Ok(Executed::Timed(time))
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

fn nothing_loaded() -> RunFailure {
    ours("nothing is loaded")
}

fn no_shape() -> RunFailure {
    ours("no such shape")
}

fn no_kernels() -> RunFailure {
    ours("the judge's kernels are not loaded")
}

fn ours(message: &str) -> RunFailure {
    RunFailure::Ours(message.to_owned())
}
