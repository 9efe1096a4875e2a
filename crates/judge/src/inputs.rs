//! What buffers hold before a run: generated inputs, poisoned outputs.
//!
//! Executor and checker each make them from the same keys, which the supervisor derives one run at a
//! time; neither ever holds the seed.

use problems::subkey::{self, Subkey};
use problems::{TensorSpec, element, generate};

use crate::wire::{ParameterJob, ShapeJob};

/// The key of each generated tensor of one run, by parameter.
pub(crate) type RunKeys = Vec<Option<Subkey>>;

/// Derives the keys of a shape's run number `run`.
pub(crate) fn run_keys(shape: &ShapeJob, master_seed: &[u8; 32], run: u64) -> RunKeys {
    let key = |parameter: &ParameterJob| match parameter {
        ParameterJob::Tensor { spec, .. } if spec.generator.is_some() => {
            Some(subkey::derive(master_seed, &shape.id, run, &spec.name))
        }
        _ => None,
    };
    shape.parameters.iter().map(key).collect()
}

/// Initial contents of each tensor, by parameter; outputs hold poison.
pub(crate) fn initial_contents(shape: &ShapeJob, keys: &RunKeys) -> Vec<Option<Vec<u8>>> {
    let parameters = shape.parameters.iter().zip(keys);
    parameters
        .map(|(parameter, key)| match parameter {
            ParameterJob::Scalar => None,
            ParameterJob::Tensor { spec, .. } => Some(contents(spec, *key)),
        })
        .collect()
}

fn contents(spec: &TensorSpec, key: Option<Subkey>) -> Vec<u8> {
    let (Some(generator), Some(key)) = (&spec.generator, key) else {
        let elements = usize::try_from(spec.elements()).unwrap_or(usize::MAX);
        return element::poison(spec.element).repeat(elements);
    };
    let mut contents = Vec::new();
    generate::fill(generator, spec.element, &spec.dims, key, &mut contents);
    contents
}
