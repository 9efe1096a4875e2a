//! Whether a run left its inputs alone. A device that traps every write does not need it, and is checked
//! all the same.

use device::{BufferId, DeviceError};
use domain::{Direction, Verdict, VerdictKind};

use crate::kernels::Kernels;
use crate::loaded::Loaded;
use crate::wire::{Blame, ParameterJob, ShapeJob};

/// What the inputs held before a run.
pub(super) struct Seals(Vec<Option<Seal>>);

#[derive(PartialEq, Eq)]
enum Seal {
    Digest(u64),
    Contents(Vec<u8>),
}

impl Seals {
    /// Looks at every input; the judge's kernels make that quick.
    pub fn of(
        submission: &mut Loaded,
        kernels: Option<&Kernels>,
        shape: &ShapeJob,
        buffers: &[Option<BufferId>],
    ) -> Result<Self, DeviceError> {
        let mut seals = Vec::new();
        for (parameter, buffer) in shape.parameters.iter().zip(buffers) {
            seals.push(match (parameter, buffer) {
                (ParameterJob::Tensor { spec, .. }, Some(buffer))
                    if spec.direction == Direction::In =>
                {
                    Some(seal(submission, kernels, *buffer)?)
                }
                _ => None,
            });
        }
        Ok(Self(seals))
    }

    /// The first input that no longer holds what it held.
    pub fn broken<'s>(
        &self,
        submission: &mut Loaded,
        kernels: Option<&Kernels>,
        shape: &'s ShapeJob,
        buffers: &[Option<BufferId>],
    ) -> Result<Option<&'s str>, DeviceError> {
        let now = Self::of(submission, kernels, shape, buffers)?;
        let pairs = self.0.iter().zip(&now.0).zip(&shape.parameters);
        let broken = pairs.filter(|((before, now), _)| before != now);
        Ok(broken
            .filter_map(|(_, parameter)| match parameter {
                ParameterJob::Tensor { spec, .. } => Some(spec.name.as_str()),
                ParameterJob::Scalar => None,
            })
            .next())
    }
}

fn seal(
    submission: &mut Loaded,
    kernels: Option<&Kernels>,
    buffer: BufferId,
) -> Result<Seal, DeviceError> {
    match kernels {
        Some(kernels) => {
            let stream = submission.stream;
            let device = submission.device.as_mut();
            kernels.digest(device, stream, buffer).map(Seal::Digest)
        }
        None => submission.device.read(buffer).map(Seal::Contents),
    }
}

/// The verdict on a submission that writes to an input.
pub(super) fn input_modified(name: &str) -> Blame {
    Blame {
        verdict: Verdict::RuntimeError,
        kind: Some(VerdictKind::InputModified),
        message: format!("the input `{name}` was modified"),
        line: None,
    }
}
