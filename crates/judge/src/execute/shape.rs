//! One shape, from inputs to a verdict.
//!
//! The reference runs on a device of its own and its results are taken off it before the submission
//! starts, so that nothing the submission can reach holds an expected value.

use std::collections::BTreeMap;
use std::time::Instant;

use device::{BufferId, Device, DeviceError, ModuleId, StreamId};
use domain::report::OutputMismatch;
use domain::{Direction, Verdict, VerdictKind};
use problems::{TensorSpec, compare, element, generate, subkey};

use super::plan_run::Loaded;
use super::wire::{ParameterJob, ShapeJob, ShapeOutcome};

/// A device with one program on it.
pub(super) struct Bench<'a> {
    pub device: Box<dyn Device>,
    pub stream: StreamId,
    pub module: ModuleId,
    pub lowered_names: &'a BTreeMap<String, String>,
}

impl Bench<'_> {
    fn loaded(&mut self) -> Loaded<'_> {
        Loaded {
            device: self.device.as_mut(),
            stream: self.stream,
            module: self.module,
            lowered_names: self.lowered_names,
        }
    }
}

/// What the reference says of one output.
struct Expected {
    /// Value of each element, exact integers included.
    values: Vec<u8>,
    /// Sum of the terms' magnitudes of each element; `None` for integers.
    scales: Option<Vec<u8>>,
}

/// Judges one shape. `Err` is the judge's own fault.
pub(super) fn judge_shape(
    submission: &mut Bench<'_>,
    reference: &mut Bench<'_>,
    shape: &ShapeJob,
    master_seed: &[u8; 32],
) -> Result<ShapeOutcome, String> {
    let started = Instant::now();
    let inputs = generate_inputs(shape, master_seed);
    let expected = run_reference(reference, shape, &inputs)
        .map_err(|e| format!("the reference failed on shape `{}`: {e}", shape.id))?;
    let mut check_s = started.elapsed().as_secs_f64();

    // Module globals count against the same memory: too many of them leave no room for the buffers.
    let mut run = match SubmissionRun::prepare(submission, shape, &inputs) {
        Ok(run) => run,
        Err(error) => return blame(error),
    };
    let started = Instant::now();
    let span = run.execute(shape);
    let execute_s = started.elapsed().as_secs_f64();

    let started = Instant::now();
    let mut outcome = match span {
        Ok(span) => {
            let mut outcome = run.examine(shape, &inputs, &expected)?;
            outcome.counters = span.counters;
            outcome.printed = span.printed;
            outcome
        }
        Err(error) => blame(error)?,
    };
    run.release().map_err(|e| e.to_string())?;
    check_s += started.elapsed().as_secs_f64();
    outcome.execute_s = execute_s;
    outcome.check_s = check_s;
    Ok(outcome)
}

/// Initial contents of each tensor, by parameter; outputs hold poison.
fn generate_inputs(shape: &ShapeJob, master_seed: &[u8; 32]) -> Vec<Option<Vec<u8>>> {
    shape
        .parameters
        .iter()
        .map(|parameter| match parameter {
            ParameterJob::Scalar => None,
            ParameterJob::Tensor { spec, .. } => Some(initial_contents(spec, shape, master_seed)),
        })
        .collect()
}

fn initial_contents(spec: &TensorSpec, shape: &ShapeJob, master_seed: &[u8; 32]) -> Vec<u8> {
    let Some(generator) = &spec.generator else {
        let elements = usize::try_from(spec.elements()).unwrap_or(usize::MAX);
        return element::poison(spec.element).repeat(elements);
    };
    let key = subkey::derive(master_seed, &shape.id, 0, &spec.name);
    let mut contents = Vec::new();
    generate::fill(generator, spec.element, &spec.dims, key, &mut contents);
    contents
}

fn run_reference(
    bench: &mut Bench<'_>,
    shape: &ShapeJob,
    inputs: &[Option<Vec<u8>>],
) -> Result<Vec<Option<Expected>>, DeviceError> {
    bench.device.reset_globals(bench.module)?;
    let mut buffers: Vec<Option<BufferId>> = Vec::new();
    for (parameter, contents) in shape.parameters.iter().zip(inputs) {
        match (parameter, contents) {
            (ParameterJob::Tensor { spec, .. }, Some(contents)) => {
                for (label, bytes) in reference_buffers(spec, contents) {
                    let buffer = bench.device.allocate(bytes.len() as u64, &label)?;
                    bench.device.write(buffer, &bytes)?;
                    buffers.push(Some(buffer));
                }
            }
            _ => buffers.push(None),
        }
    }
    bench.loaded().run(&shape.reference_plan, &buffers)?;

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
                values: bench.device.read(values)?,
                scales: match second.flatten() {
                    Some(scales) => Some(bench.device.read(scales)?),
                    None => None,
                },
            }),
            _ => None,
        });
    }
    for buffer in buffers.into_iter().flatten() {
        bench.device.free(buffer)?;
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

/// The submission's buffers for one shape.
struct SubmissionRun<'a, 'b> {
    bench: &'a mut Bench<'b>,
    buffers: Vec<Option<BufferId>>,
}

impl<'a, 'b> SubmissionRun<'a, 'b> {
    fn prepare(
        bench: &'a mut Bench<'b>,
        shape: &ShapeJob,
        inputs: &[Option<Vec<u8>>],
    ) -> Result<Self, DeviceError> {
        bench.device.reset_globals(bench.module)?;
        let mut buffers = Vec::new();
        for (parameter, contents) in shape.parameters.iter().zip(inputs) {
            let buffer = match (parameter, contents) {
                (ParameterJob::Tensor { spec, .. }, Some(contents)) => {
                    let buffer = bench.device.allocate(contents.len() as u64, &spec.name)?;
                    bench.device.write(buffer, contents)?;
                    bench
                        .device
                        .protect(buffer, spec.direction == Direction::In)?;
                    Some(buffer)
                }
                _ => None,
            };
            buffers.push(buffer);
        }
        Ok(Self { bench, buffers })
    }

    fn execute(&mut self, shape: &ShapeJob) -> Result<device::Span, DeviceError> {
        let span = self.bench.loaded().run(&shape.plan, &self.buffers)?;
        self.bench.device.verify_guards()?;
        Ok(span)
    }

    fn examine(
        &mut self,
        shape: &ShapeJob,
        inputs: &[Option<Vec<u8>>],
        expected: &[Option<Expected>],
    ) -> Result<ShapeOutcome, String> {
        let mut mismatches = Vec::new();
        for (index, parameter) in shape.parameters.iter().enumerate() {
            let (ParameterJob::Tensor { spec, slack }, Some(buffer)) =
                (parameter, self.buffers[index])
            else {
                continue;
            };
            let actual = self.bench.device.read(buffer).map_err(|e| e.to_string())?;
            if spec.direction == Direction::In {
                if inputs[index].as_deref() != Some(actual.as_slice()) {
                    return Ok(input_modified(spec));
                }
                continue;
            }
            let Some(expected) = &expected[index] else {
                return Err(format!("output `{}` has no reference", spec.name));
            };
            let mismatch = compare_output(spec, *slack, &actual, expected)?;
            if mismatch.count > 0 {
                mismatches.push(mismatch);
            }
        }
        Ok(compared(mismatches))
    }

    fn release(&mut self) -> Result<(), DeviceError> {
        for buffer in self.buffers.drain(..).flatten() {
            self.bench.device.free(buffer)?;
        }
        Ok(())
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
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks
        .iter()
        .map(|chunk| f64::from_le_bytes(*chunk))
        .collect()
}

fn compared(mismatches: Vec<OutputMismatch>) -> ShapeOutcome {
    let Some(worst) = mismatches.first() else {
        return ShapeOutcome::of(Verdict::Accepted);
    };
    let message = describe(worst);
    ShapeOutcome {
        message: Some(message),
        mismatches,
        ..ShapeOutcome::of(Verdict::WrongAnswer)
    }
}

fn describe(mismatch: &OutputMismatch) -> String {
    let OutputMismatch {
        output,
        count,
        elements,
        unwritten,
        ..
    } = mismatch;
    if unwritten == elements {
        return format!("`{output}` was never written");
    }
    let mut text = format!("`{output}`: {count} of {elements} elements are wrong");
    if *unwritten > 0 {
        text += &format!(", {unwritten} of them never written");
    }
    if let Some(first) = mismatch.first.first() {
        let index: Vec<String> = first.index.iter().map(|i| format!("[{i}]")).collect();
        text += &format!(
            "; first at {output}{}: expected {}, got {}",
            index.concat(),
            first.expected,
            first.actual
        );
    }
    text
}

fn input_modified(spec: &TensorSpec) -> ShapeOutcome {
    ShapeOutcome {
        kind: Some(VerdictKind::InputModified),
        message: Some(format!("the input `{}` was modified", spec.name)),
        ..ShapeOutcome::of(Verdict::RuntimeError)
    }
}

/// Turns a device's error into the submission's verdict, or into the judge's own fault.
pub(super) fn blame(error: DeviceError) -> Result<ShapeOutcome, String> {
    let message = Some(error.to_string());
    let (verdict, kind, line) = match error {
        DeviceError::Fault(fault) if fault.kind == VerdictKind::LaunchConfig => {
            (Verdict::PlanError, Some(fault.kind), fault.line)
        }
        DeviceError::Fault(fault) => (Verdict::RuntimeError, Some(fault.kind), fault.line),
        DeviceError::TimeLimit(fault) => (Verdict::TimeLimit, Some(fault.kind), fault.line),
        DeviceError::OutOfMemory { .. } => (Verdict::MemoryLimit, None, None),
        DeviceError::OutputLimit { .. } => (Verdict::OutputLimit, None, None),
        DeviceError::Unsupported { line, .. } => {
            (Verdict::Unsupported, Some(VerdictKind::Opcode), line)
        }
        DeviceError::Cancelled => (Verdict::Cancelled, None, None),
        DeviceError::Internal(message) => return Err(message),
    };
    Ok(ShapeOutcome {
        kind,
        message,
        line,
        ..ShapeOutcome::of(verdict)
    })
}

impl ShapeOutcome {
    fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            kind: None,
            message: None,
            line: None,
            mismatches: Vec::new(),
            counters: None,
            printed: String::new(),
            execute_s: 0.0,
            check_s: 0.0,
        }
    }
}
