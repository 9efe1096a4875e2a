//! Inside the `__check` child.

use std::ops::Range;

use device::{Bounds, BufferId, DeviceError};
use domain::report::OutputMismatch;
use domain::{Direction, ElementType};
use problems::{TensorSpec, compare};
use sandbox::Mailbox;

use super::expected::{Expected, Reference};
use super::wire::{CheckReply, CheckRequest, Checked};
use crate::inputs::RunKeys;
use crate::kernels::Kernels;
use crate::loaded::Loaded;
use crate::stage::Stage;
use crate::wire::{ParameterJob, Program, ShapeJob, mailbox_slots};

/// The checker between requests.
pub(crate) struct Checker {
    stage: Stage<Work>,
    // After the device that it is pinned for.
    mailbox: Mailbox,
}

/// The reference on its device.
struct Work {
    reference: Loaded,
    shapes: Vec<ShapeJob>,
}

impl Checker {
    pub fn new(mailbox: Mailbox) -> Self {
        Self {
            mailbox,
            stage: Stage::Closed,
        }
    }

    pub fn answer(&mut self, request: CheckRequest) -> CheckReply {
        match request {
            CheckRequest::Open { request, kernels } => {
                let opened = self.stage.open(&request, kernels.as_deref(), &self.mailbox);
                opened.map_err(text)?;
                Ok(Checked::Done)
            }
            CheckRequest::Probe => {
                self.stage.probe().map_err(text)?;
                Ok(Checked::Done)
            }
            CheckRequest::Load { program, bounds } => self.load(*program, &bounds),
            CheckRequest::Compare { shape, keys } => {
                self.compare(shape, &keys).map(Checked::Compared)
            }
        }
    }

    fn load(&mut self, program: Program, bounds: &Bounds) -> CheckReply {
        self.stage.bound(bounds).map_err(text)?;
        let Program {
            code,
            host: _,
            shapes,
        } = program;
        let work = |reference| Work { reference, shapes };
        let loaded = self.stage.load(code, work);
        loaded.map_err(|e| format!("reference: {e}"))?;
        Ok(Checked::Done)
    }

    fn compare(&mut self, shape: usize, keys: &RunKeys) -> Result<Vec<OutputMismatch>, String> {
        let Work { reference, shapes } = self.stage.work().map_err(text)?;
        let shape = shapes.get(shape).ok_or("no such shape")?;
        let mut run = Reference::default();
        let compared = run
            .run(reference, shape, keys)
            .map_err(|e| format!("the reference failed on shape `{}`: {e}", shape.id))
            .and_then(|()| {
                let mut comparison = Comparison {
                    program: reference,
                    mailbox: &self.mailbox,
                };
                comparison.shape(shape, &run.expected)
            });
        let released = run.release(reference);
        // A fault takes a GPU's context along, and freeing then fails too: the fault is what counts.
        let mismatches = compared?;
        released.map_err(text)?;
        Ok(mismatches)
    }
}

/// Outputs of one run against what the reference made of the same inputs.
struct Comparison<'a> {
    program: &'a mut Loaded,
    mailbox: &'a Mailbox,
}

impl Comparison<'_> {
    /// Outputs that differ; none of them is good.
    fn shape(
        &mut self,
        shape: &ShapeJob,
        expected: &[Option<Expected>],
    ) -> Result<Vec<OutputMismatch>, String> {
        let mut mismatches = Vec::new();
        let slots = mailbox_slots(&shape.parameters);
        for ((parameter, expected), slot) in shape.parameters.iter().zip(expected).zip(slots) {
            let (ParameterJob::Tensor { spec, slack }, Some(slot)) = (parameter, slot) else {
                continue;
            };
            let expected = expected.ok_or_else(|| format!("`{}` has no reference", spec.name))?;
            let Some(actual) = self.doubted(spec, *slack, slot, expected)? else {
                continue;
            };
            let mismatch = self.on_host(spec, *slack, &actual, expected)?;
            if mismatch.count > 0 {
                mismatches.push(mismatch);
            }
        }
        Ok(mismatches)
    }

    /// A copy of the output, unless the device sees nothing to doubt in it.
    fn doubted(
        &mut self,
        spec: &TensorSpec,
        slack: f64,
        slot: Range<usize>,
        expected: Expected,
    ) -> Result<Option<Vec<u8>>, String> {
        let small = || "the mailbox is too small".to_owned();
        let Some(kernels) = self.program.kernels else {
            let actual = self.mailbox.read(slot.start, slot.len());
            return actual.map(Some).ok_or_else(small);
        };
        let buffer = self.program.device.allocate(spec.bytes, &spec.name);
        let buffer = buffer.map_err(text)?;
        let device = self.program.device.as_mut();
        // The one copy: whatever happens to the mailbox afterwards, all look at the same bytes.
        let copied = self.mailbox.pass(slot.start, slot.len(), |actual| {
            device.write(buffer, actual)
        });
        let doubted = copied
            .ok_or_else(small)
            .and_then(|copied| copied.map_err(text))
            .and_then(|()| {
                let doubts = self.doubts(&kernels, spec, slack, buffer, expected);
                match doubts.map_err(text)? {
                    0 => Ok(None),
                    _ => self.program.device.read(buffer).map(Some).map_err(text),
                }
            });
        let freed = self.program.device.free(buffer);
        let doubted = doubted?; // says more than a freeing that fails after it
        freed.map_err(text)?;
        Ok(doubted)
    }

    /// How many elements the device doubts. It is quick and says no more than that.
    fn doubts(
        &mut self,
        kernels: &Kernels,
        spec: &TensorSpec,
        slack: f64,
        actual: BufferId,
        expected: Expected,
    ) -> Result<u64, DeviceError> {
        let stream = self.program.stream;
        let device = self.program.device.as_mut();
        match expected.scales {
            Some(scales) => {
                let reference = (expected.values, scales);
                kernels.doubtful(device, stream, (actual, spec), reference, slack)
            }
            None => kernels.different(device, stream, actual, expected.values),
        }
    }

    fn on_host(
        &mut self,
        spec: &TensorSpec,
        slack: f64,
        actual: &[u8],
        expected: Expected,
    ) -> Result<OutputMismatch, String> {
        let output = compare::Output {
            name: &spec.name,
            element: spec.element,
            dims: &spec.dims,
            poisoned: spec.direction == Direction::Out,
        };
        let mut read = |buffer| self.program.device.read(buffer).map_err(text);
        let values = read(expected.values)?;
        let compared = match expected.scales {
            Some(scales) => {
                let scales = doubles(&read(scales)?);
                compare::floats(&output, actual, &doubles(&values), &scales, slack)
            }
            None => compare::exact(&output, actual, &values),
        };
        compared.map_err(|e| e.to_string())
    }
}

#[allow(clippy::needless_pass_by_value)] // handed to map_err
fn text(error: DeviceError) -> String {
    error.to_string()
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    let (chunks, _) = bytes.as_chunks::<{ size_of::<f64>() }>();
    debug_assert_eq!(size_of::<f64>() as u64, ElementType::F64.size_bytes());
    chunks
        .iter()
        .map(|chunk| f64::from_le_bytes(*chunk))
        .collect()
}
