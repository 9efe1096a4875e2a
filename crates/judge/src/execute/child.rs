//! Inside the `__execute` child: owns a device with the submission on it.

use device::Device;
use sandbox::Mailbox;

use super::run::{RunFailure, run};
use super::wire::{ExecuteReply, ExecuteRequest, Executed};
use crate::loaded::Loaded;
use crate::wire::{Program, ShapeJob};

/// The executor between requests.
pub(crate) struct Executor {
    mailbox: Mailbox,
    device: Option<Box<dyn Device>>,
    submission: Option<Loaded>,
    shapes: Vec<ShapeJob>,
}

impl Executor {
    pub fn new(mailbox: Mailbox) -> Self {
        Self {
            mailbox,
            device: None,
            submission: None,
            shapes: Vec::new(),
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
                self.device = Some(device::open(&request)?);
                Ok(Executed::Done)
            }
            ExecuteRequest::Load(program) => self.load(*program),
            ExecuteRequest::Run { shape, keys } => {
                let submission = self.submission.as_mut().ok_or(ours("nothing is loaded"))?;
                let shape = self.shapes.get(shape).ok_or(ours("no such shape"))?;
                run(submission, shape, &keys, &mut self.mailbox).map(Executed::Ran)
            }
        }
    }

    fn load(&mut self, program: Program) -> Result<Executed, RunFailure> {
        let device = self.device.take().ok_or(ours("no device is open"))?;
        self.submission = Some(Loaded::new(device, program.code)?);
        self.shapes = program.shapes;
        Ok(Executed::Done)
    }
}

fn ours(message: &str) -> RunFailure {
    RunFailure::Ours(message.to_owned())
}
