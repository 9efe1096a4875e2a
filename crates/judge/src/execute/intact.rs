//! Whether a run left its inputs alone. A device that traps every write does not need it, and is checked
//! all the same.
//!
//! Nothing is taken before the run, which could be known to it: what it left is compared with the same inputs
//! made anew. Digests have a key that is drawn once the run is over.

use device::{BufferId, DeviceError};
use domain::{Direction, Verdict, VerdictKind};
use problems::TensorSpec;
use problems::subkey::Subkey;

use crate::inputs::{self, RunKeys};
use crate::loaded::Loaded;
use crate::wire::{Blame, ParameterJob, ShapeJob};

/// Where digests' keys are drawn.
pub(super) type Draw = Box<dyn FnMut() -> Result<u64, DeviceError>>;

/// Draws from the operating system.
pub(super) fn system() -> Draw {
    Box::new(|| getrandom::u64().map_err(|e| DeviceError::Internal(format!("no key: {e}"))))
}

/// The first input of a run that is over that no longer holds what it was made with. Inputs may be made
/// anew in place, outputs stay.
pub(super) fn modified<'s>(
    submission: &mut Loaded,
    shape: &'s ShapeJob,
    keys: &RunKeys,
    buffers: &[Option<BufferId>],
    draw: &mut Draw,
) -> Result<Option<&'s str>, DeviceError> {
    let digest_key = draw()?;
    for ((parameter, key), buffer) in shape.parameters.iter().zip(keys).zip(buffers) {
        let (ParameterJob::Tensor { spec, .. }, Some(buffer)) = (parameter, buffer) else {
            continue;
        };
        if spec.direction == Direction::In
            && !is_intact(submission, spec, *key, *buffer, digest_key)?
        {
            return Ok(Some(&spec.name));
        }
    }
    Ok(None)
}

fn is_intact(
    submission: &mut Loaded,
    spec: &TensorSpec,
    key: Option<Subkey>,
    buffer: BufferId,
    digest_key: u64,
) -> Result<bool, DeviceError> {
    let Some(kernels) = submission.kernels else {
        let found = submission.device.read(buffer)?;
        return Ok(found == inputs::contents(spec, key));
    };
    let stream = submission.stream;
    let digest = |submission: &mut Loaded| {
        let device = submission.device.as_mut();
        kernels.digest(device, stream, buffer, digest_key)
    };
    let found = digest(submission)?;
    submission.device.protect(buffer, false)?;
    inputs::initialise(submission, spec, key, buffer)?;
    Ok(found == digest(submission)?)
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
