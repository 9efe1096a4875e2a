//! What buffers hold before a run: generated inputs, poisoned outputs.
//!
//! Executor and checker each make them from the same keys, which the supervisor derives one run at a
//! time; neither ever holds the seed.

use device::{BufferId, DeviceError};
use problems::subkey::{self, Subkey};
use problems::{TensorSpec, element, generate};

use crate::loaded::Loaded;
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

/// Puts a tensor's initial contents into its buffer; an output's are poison.
pub(crate) fn initialise(
    program: &mut Loaded,
    spec: &TensorSpec,
    key: Option<Subkey>,
    buffer: BufferId,
) -> Result<(), DeviceError> {
    match program.kernels {
        Some(kernels) => {
            let operation = kernels.initialise(buffer, spec, key);
            program.device.run(program.stream, &[operation]).map(|_| ())
        }
        None => program.device.write(buffer, &contents(spec, key)),
    }
}

/// The same contents as doubles, for what computes in double precision. Made where [`initialise`] would
/// make them: a device's logarithm may differ from the host's in the last place, and executor and checker
/// must not differ at all.
pub(crate) fn initialise_widened(
    program: &mut Loaded,
    spec: &TensorSpec,
    key: Option<Subkey>,
    doubles: BufferId,
) -> Result<(), DeviceError> {
    let Some(kernels) = program.kernels else {
        let values = element::widen(&contents(spec, key), spec.element);
        let values: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        return program.device.write(doubles, &values);
    };
    let narrow = program.device.allocate(spec.bytes, &spec.name)?;
    let made = kernels.initialise(narrow, spec, key);
    let widened = kernels.widen(narrow, spec, doubles);
    let made = program.device.run(program.stream, &[made, widened]);
    let freed = program.device.free(narrow);
    made?;
    freed
}

/// What a tensor holds before a run, as the host makes it.
pub(crate) fn contents(spec: &TensorSpec, key: Option<Subkey>) -> Vec<u8> {
    let (Some(generator), Some(key)) = (&spec.generator, key) else {
        let elements = usize::try_from(spec.elements()).unwrap_or(usize::MAX);
        return element::poison(spec.element).repeat(elements);
    };
    let mut contents = Vec::new();
    generate::fill(generator, spec.element, &spec.dims, key, &mut contents);
    contents
}
