//! What the reference says of one run's inputs.

use device::{Address, BufferId, DeviceError, Operation};
use domain::{Direction, ElementType};
use problems::subkey::Subkey;
use problems::{TensorSpec, element};

use crate::inputs::{self, RunKeys};
use crate::kernels::Kernels;
use crate::loaded::Loaded;
use crate::wire::{ParameterJob, ShapeJob};

/// What the reference says of one output.
pub(super) struct Expected {
    /// Value of each element, exact integers included.
    pub values: Vec<u8>,
    /// Sum of the terms' magnitudes of each element; `None` for integers.
    pub scales: Option<Vec<u8>>,
}

/// Runs the reference; one entry a parameter of the submission, `None` for what is no output.
pub(super) fn run_reference(
    reference: &mut Loaded,
    kernels: Option<&Kernels>,
    shape: &ShapeJob,
    keys: &RunKeys,
) -> Result<Vec<Option<Expected>>, DeviceError> {
    reference.reset()?;
    let mut buffers: Vec<Option<BufferId>> = Vec::new();
    let result = run(reference, kernels, shape, keys, &mut buffers);
    for buffer in buffers.into_iter().flatten() {
        reference.device.free(buffer)?;
    }
    result
}

fn run(
    reference: &mut Loaded,
    kernels: Option<&Kernels>,
    shape: &ShapeJob,
    keys: &RunKeys,
    buffers: &mut Vec<Option<BufferId>>,
) -> Result<Vec<Option<Expected>>, DeviceError> {
    for (parameter, key) in shape.parameters.iter().zip(keys) {
        match parameter {
            ParameterJob::Tensor { spec, .. } => {
                prepare(reference, kernels, spec, *key, buffers)?;
            }
            ParameterJob::Scalar => buffers.push(None),
        }
    }
    reference.run(&shape.plan, buffers)?;

    let mut next = buffers.iter();
    let mut expected = Vec::new();
    for parameter in &shape.parameters {
        let first = next.next().copied().flatten();
        let ParameterJob::Tensor { spec, .. } = parameter else {
            expected.push(None);
            continue;
        };
        let is_output = spec.direction != Direction::In;
        let second = (is_output && spec.element.is_float()).then(|| next.next().copied().flatten());
        expected.push(match (is_output, first) {
            (true, Some(values)) => Some(Expected {
                values: reference.device.read(values)?,
                scales: match second.flatten() {
                    Some(scales) => Some(reference.device.read(scales)?),
                    None => None,
                },
            }),
            _ => None,
        });
    }
    Ok(expected)
}

/// What the reference gets for one tensor: inputs and integers as they are, a floating output as
/// doubles followed by its magnitudes.
fn prepare(
    reference: &mut Loaded,
    kernels: Option<&Kernels>,
    spec: &TensorSpec,
    key: Option<Subkey>,
    buffers: &mut Vec<Option<BufferId>>,
) -> Result<(), DeviceError> {
    if spec.direction == Direction::In || !spec.element.is_float() {
        let buffer = reference.device.allocate(spec.bytes, &spec.name)?;
        buffers.push(Some(buffer));
        return inputs::initialise(reference, kernels, spec, key, buffer);
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
        let contents = inputs::initial_contents(reference, kernels, spec, key)?;
        let doubles = element::widen(&contents, spec.element);
        let values: Vec<u8> = doubles.iter().flat_map(|v| v.to_le_bytes()).collect();
        let [.., Some(buffer), _] = buffers[..] else {
            return Err(DeviceError::Internal("two buffers were made".to_owned()));
        };
        reference.device.write(buffer, &values)?;
    }
    Ok(())
}
