//! What the reference says of one run's inputs.

use device::{Address, BufferId, DeviceError, Operation};
use domain::{Direction, ElementType};
use problems::TensorSpec;
use problems::subkey::Subkey;

use crate::inputs::{self, RunKeys};
use crate::loaded::Loaded;
use crate::wire::{ParameterJob, ShapeJob};

/// What the reference says of one output, on the checker's device.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// Value of each element, exact integers included.
    pub values: BufferId,
    /// Sum of the terms' magnitudes of each element; `None` for integers.
    pub scales: Option<BufferId>,
}

/// One run of the reference. Must be given back with [`Reference::release`].
#[derive(Default)]
pub(super) struct Reference {
    buffers: Vec<Option<BufferId>>,
    /// One entry a parameter of the submission, `None` for what is no output.
    pub expected: Vec<Option<Expected>>,
}

impl Reference {
    /// Runs the reference on the inputs of these keys. What was made before a failure is in `self`.
    pub fn run(
        &mut self,
        program: &mut Loaded,
        shape: &ShapeJob,
        keys: &RunKeys,
    ) -> Result<(), DeviceError> {
        program.reset()?;
        for (parameter, key) in shape.parameters.iter().zip(keys) {
            let ParameterJob::Tensor { spec, .. } = parameter else {
                self.buffers.push(None);
                self.expected.push(None);
                continue;
            };
            let first = self.buffers.len();
            prepare(program, spec, *key, &mut self.buffers)?;
            let made = self.buffers[first..].iter().copied().flatten();
            let made: Vec<BufferId> = made.collect();
            let is_output = spec.direction != Direction::In;
            self.expected.push(is_output.then(|| Expected {
                values: made[0],
                scales: made.get(1).copied(),
            }));
        }
        program.run(shape.work.plan(), &self.buffers).map(|_| ())
    }

    /// Gives the buffers back.
    pub fn release(self, program: &mut Loaded) -> Result<(), DeviceError> {
        let mut buffers = self.buffers.into_iter().flatten();
        buffers.try_for_each(|buffer| program.device.free(buffer))
    }
}

/// What the reference gets for one tensor: inputs and integers as they are, a floating output as
/// doubles followed by its magnitudes.
fn prepare(
    reference: &mut Loaded,
    spec: &TensorSpec,
    key: Option<Subkey>,
    buffers: &mut Vec<Option<BufferId>>,
) -> Result<(), DeviceError> {
    if spec.direction == Direction::In || !spec.element.is_float() {
        let buffer = reference.device.allocate(spec.bytes, &spec.name)?;
        buffers.push(Some(buffer));
        return inputs::initialise(reference, spec, key, buffer);
    }
    let bytes = spec.elements() * ElementType::F64.size_bytes();
    for label in [spec.name.clone(), format!("{}_scale", spec.name)] {
        let buffer = reference.device.allocate(bytes, &label)?;
        buffers.push(Some(buffer));
        let zeros = Operation::Memset {
            destination: Address::start_of(buffer),
            value: 0,
            bytes,
        };
        reference.device.run(reference.stream, &[zeros])?;
    }
    if spec.direction == Direction::Inout {
        let [.., Some(values), _] = buffers[..] else {
            return Err(DeviceError::Internal("two buffers were made".to_owned()));
        };
        inputs::initialise_widened(reference, spec, key, values)?;
    }
    Ok(())
}
