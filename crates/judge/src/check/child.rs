//! Inside the `__check` child.

use device::Device;
use domain::report::OutputMismatch;
use domain::{Direction, ElementType};
use problems::{TensorSpec, compare};
use sandbox::Mailbox;

use super::expected::{Expected, run_reference};
use super::wire::{CheckReply, CheckRequest, Checked};
use crate::inputs::RunKeys;
use crate::kernels::Kernels;
use crate::loaded::Loaded;
use crate::wire::{Code, ParameterJob, Program, ShapeJob, mailbox_slots};

/// The checker between requests.
pub(crate) struct Checker {
    mailbox: Mailbox,
    device: Option<Box<dyn Device>>,
    reference: Option<Loaded>,
    kernels: Option<Kernels>,
    shapes: Vec<ShapeJob>,
}

impl Checker {
    pub fn new(mailbox: Mailbox) -> Self {
        Self {
            mailbox,
            device: None,
            reference: None,
            kernels: None,
            shapes: Vec::new(),
        }
    }

    pub fn answer(&mut self, request: CheckRequest) -> CheckReply {
        match request {
            CheckRequest::Open(request) => {
                self.device = Some(device::open(&request).map_err(|e| e.to_string())?);
                Ok(Checked::Done)
            }
            CheckRequest::Load { program, kernels } => self.load(*program, kernels.as_ref()),
            CheckRequest::Compare { shape, keys } => {
                self.compare(shape, &keys).map(Checked::Compared)
            }
        }
    }

    fn load(&mut self, program: Program, kernels: Option<&Code>) -> CheckReply {
        let device = self.device.take().ok_or("no device is open")?;
        let mut loaded =
            Loaded::new(device, program.code).map_err(|e| format!("reference: {e}"))?;
        let stream = loaded.stream;
        self.kernels = kernels
            .map(|code| Kernels::load(loaded.device.as_mut(), stream, code))
            .transpose()
            .map_err(|e| e.to_string())?;
        self.reference = Some(loaded);
        self.shapes = program.shapes;
        Ok(Checked::Done)
    }

    fn compare(&mut self, shape: usize, keys: &RunKeys) -> Result<Vec<OutputMismatch>, String> {
        let reference = self.reference.as_mut().ok_or("no reference is loaded")?;
        let shape = self.shapes.get(shape).ok_or("no such shape")?;
        let expected = run_reference(reference, self.kernels.as_ref(), shape, keys)
            .map_err(|e| format!("the reference failed on shape `{}`: {e}", shape.id))?;
        let mut mismatches = Vec::new();
        let slots = mailbox_slots(&shape.parameters);
        for ((parameter, expected), slot) in shape.parameters.iter().zip(expected).zip(slots) {
            let (ParameterJob::Tensor { spec, slack }, Some(slot)) = (parameter, slot) else {
                continue;
            };
            let expected = expected.ok_or_else(|| format!("`{}` has no reference", spec.name))?;
            let actual = self.mailbox.read(slot.start, slot.len());
            let actual = actual.ok_or("the mailbox is too small")?;
            let mismatch = compare_output(spec, *slack, &actual, &expected)?;
            if mismatch.count > 0 {
                mismatches.push(mismatch);
            }
        }
        Ok(mismatches)
    }
}

fn compare_output(
    spec: &TensorSpec,
    slack: f64,
    actual: &[u8],
    expected: &Expected,
) -> Result<OutputMismatch, String> {
    let output = compare::Output {
        name: &spec.name,
        element: spec.element,
        dims: &spec.dims,
        poisoned: spec.direction == Direction::Out,
    };
    let compared = match &expected.scales {
        Some(scales) => {
            let (values, scales) = (doubles(&expected.values), doubles(scales));
            compare::floats(&output, actual, &values, &scales, slack)
        }
        None => compare::exact(&output, actual, &expected.values),
    };
    compared.map_err(|e| e.to_string())
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    let (chunks, _) = bytes.as_chunks::<{ size_of::<f64>() }>();
    debug_assert_eq!(size_of::<f64>() as u64, ElementType::F64.size_bytes());
    chunks
        .iter()
        .map(|chunk| f64::from_le_bytes(*chunk))
        .collect()
}
