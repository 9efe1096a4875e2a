//! What the reference says of one run's inputs.

use device::{BufferId, DeviceError};
use domain::Direction;
use problems::{TensorSpec, element};

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
    shape: &ShapeJob,
    inputs: &[Option<Vec<u8>>],
) -> Result<Vec<Option<Expected>>, DeviceError> {
    reference.reset()?;
    let mut buffers: Vec<Option<BufferId>> = Vec::new();
    let result = run(reference, shape, inputs, &mut buffers);
    for buffer in buffers.into_iter().flatten() {
        reference.device.free(buffer)?;
    }
    result
}

fn run(
    reference: &mut Loaded,
    shape: &ShapeJob,
    inputs: &[Option<Vec<u8>>],
    buffers: &mut Vec<Option<BufferId>>,
) -> Result<Vec<Option<Expected>>, DeviceError> {
    for (parameter, contents) in shape.parameters.iter().zip(inputs) {
        let (ParameterJob::Tensor { spec, .. }, Some(contents)) = (parameter, contents) else {
            buffers.push(None);
            continue;
        };
        for (label, bytes) in reference_buffers(spec, contents) {
            let buffer = reference.device.allocate(bytes.len() as u64, &label)?;
            buffers.push(Some(buffer));
            reference.device.write(buffer, &bytes)?;
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
fn reference_buffers(spec: &TensorSpec, contents: &[u8]) -> Vec<(String, Vec<u8>)> {
    if spec.direction == Direction::In || !spec.element.is_float() {
        return vec![(spec.name.clone(), contents.to_vec())];
    }
    let doubles = match spec.direction {
        Direction::Inout => element::widen(contents, spec.element),
        _ => vec![0.0; usize::try_from(spec.elements()).unwrap_or(usize::MAX)],
    };
    let values: Vec<u8> = doubles.iter().flat_map(|v| v.to_le_bytes()).collect();
    let scales = vec![0; values.len()];
    vec![
        (spec.name.clone(), values),
        (format!("{}_scale", spec.name), scales),
    ]
}
