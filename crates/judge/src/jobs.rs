//! A package, translated for the children: what entry points are given for each shape, what is run, and what it
//! may use.

use std::time::Duration;

use device::{Bounds, Checking};
use domain::{DeviceKind, Direction, ElementType, Mode, TargetLimits, Verdict};
use launch_plan::{Argument as Planned, Plan};
use problems::{Argument, Package, ScalarValue, Shape, TensorSpec};

use crate::compile::wire::CompiledSource;
use crate::host_code::{HostWork, LiveWork};
use crate::kernel_table::KernelTable;
use crate::outcome::Interruption;
use crate::wire::{Code, ParameterJob, Program, ShapeJob};

/// Device memory for code and small things.
const ROOM_BYTES: u64 = 256 << 20;

/// Arguments of the submission's entry point, one list a shape.
pub(crate) fn arguments(
    package: &Package,
    shapes: &[Shape],
) -> Result<Vec<Vec<Planned>>, Interruption> {
    arguments_of(package, shapes, |spec| vec![buffer(spec.bytes)])
}

/// Arguments of the reference's entry point, one list a shape.
pub(crate) fn reference_arguments(
    package: &Package,
    shapes: &[Shape],
) -> Result<Vec<Vec<Planned>>, Interruption> {
    arguments_of(package, shapes, reference_buffers)
}

/// Parameters of the submission's entry point, one list a shape.
pub(crate) fn parameters(
    package: &Package,
    shapes: &[Shape],
) -> Result<Vec<Vec<ParameterJob>>, Interruption> {
    let of_shape = |shape: &Shape| {
        let arguments = package.arguments(&shape.axes).map_err(evaluation)?;
        let jobs = arguments.into_iter().map(|argument| match argument {
            Argument::Scalar(_) => Ok(ParameterJob::Scalar),
            Argument::Tensor(spec) => {
                let tolerance = package.tolerance(&spec.name);
                let slack = tolerance.map_or(Ok(0.0), |tolerance| tolerance.slack(&shape.axes));
                Ok(ParameterJob::Tensor {
                    slack: slack.map_err(evaluation)?,
                    spec,
                })
            }
        });
        jobs.collect()
    };
    shapes.iter().map(of_shape).collect()
}

/// Compiled code with everything it is run on. `calls`: arguments of its entry point, one list a shape.
pub(crate) fn program(
    package: &Package,
    shapes: &[Shape],
    parameters: &[Vec<ParameterJob>],
    (compiled, calls): (CompiledSource, Vec<Vec<Planned>>),
    limits: &TargetLimits,
) -> Program {
    let kernels = KernelTable::of(
        &compiled.ptx,
        &compiled.lowered_names,
        &compiled.usage,
        limits,
    );
    let work = |plan: Plan, arguments| match &plan.live {
        None => HostWork::Planned(plan),
        Some(_) => HostWork::Live(Box::new(LiveWork {
            arguments,
            limits: limits.clone(),
            kernels: kernels.clone(),
            scratch_bytes: package.rules.scratch_bytes,
            rehearsal: plan,
        })),
    };
    let jobs = shapes.iter().zip(parameters);
    let jobs = jobs.zip(compiled.plans.into_iter().zip(calls));
    Program {
        shapes: jobs
            .map(|((shape, parameters), (plan, arguments))| ShapeJob {
                id: shape.id.clone(),
                parameters: parameters.clone(),
                work: work(plan, arguments),
            })
            .collect(),
        host: compiled.host,
        code: Code {
            ptx: compiled.ptx,
            cubin: compiled.cubin,
            lowered_names: compiled.lowered_names,
        },
    }
}

/// What the submission and the reference may use of a device.
pub(crate) fn bounds(
    package: &Package,
    device: DeviceKind,
    mode: Mode,
    reference: &Program,
) -> (Bounds, Bounds) {
    let limits = &package.limits;
    let of = |memory_bytes, reserve_bytes| Bounds {
        checking: Checking::Bounds,
        memory_bytes,
        reserve_bytes,
        instruction_fuel: limits.emulated_warp_instructions(),
        run_limit: seconds(limits.run_s),
    };
    match device {
        DeviceKind::Emulated => {
            let reference = of(limits.memory_bytes, 0);
            // A board compares counts, which the checks leave alone, and need not wait for them.
            let checking = match mode {
                Mode::Practice => Checking::Full,
                Mode::Ranked => Checking::Bounds,
            };
            let submission = Bounds {
                checking,
                ..reference.clone()
            };
            (submission, reference)
        }
        DeviceKind::Gpu => {
            let needed = reference.shapes.iter().map(reference_bytes).max();
            let needed = needed.unwrap_or(0) + ROOM_BYTES;
            // Timed runs take turns on several sets of buffers.
            (
                of(limits.memory_bytes.saturating_mul(2), needed),
                of(needed, 0),
            )
        }
    }
}

/// The problem's rule on scratch memory, over every open shape; a held-out one that breaks it has no plan. All of a plan's scratch lives at once: it is
/// allocated before the first operation, so that allocation is never timed.
pub(crate) fn check_scratch(
    package: &Package,
    compiled: &mut CompiledSource,
) -> Result<(), Interruption> {
    let admitted = package.rules.scratch_bytes;
    for &index in &compiled.held_out {
        let plan = compiled.plans.get_mut(index);
        let breaks = |plan: &&mut Plan| plan.live.is_none() && plan.scratch_bytes() > admitted;
        if let Some(plan) = plan.filter(breaks) {
            *plan = Plan::default();
            compiled.unplanned.insert(index);
        }
    }
    let most = compiled
        .open_plans()
        // What a guess allocates is nobody's doing; the run is looked at while it goes on.
        .filter(|plan| plan.live.is_none())
        .map(Plan::scratch_bytes)
        .max();
    match most {
        Some(bytes) if bytes > admitted => Err(Interruption {
            verdict: Verdict::MemoryLimit,
            kind: None,
            message: format!(
                "the host function allocates {bytes} bytes of scratch memory; the problem admits {admitted}"
            ),
        }),
        _ => Ok(()),
    }
}

/// A package's limit as a duration.
pub(crate) fn seconds(s: f64) -> Duration {
    // The loader admits nothing else.
    Duration::try_from_secs_f64(s).unwrap_or(Duration::from_secs(1))
}

fn arguments_of(
    package: &Package,
    shapes: &[Shape],
    of_tensor: fn(&TensorSpec) -> Vec<Planned>,
) -> Result<Vec<Vec<Planned>>, Interruption> {
    let of_shape = |shape: &Shape| {
        let arguments = package.arguments(&shape.axes).map_err(evaluation)?;
        let planned = arguments.iter().flat_map(|argument| match argument {
            Argument::Tensor(spec) => of_tensor(spec),
            Argument::Scalar(scalar) => vec![scalar_argument(scalar.value)],
        });
        Ok(planned.collect())
    };
    shapes.iter().map(of_shape).collect()
}

/// Device memory that the reference needs for a shape: its buffers and scratch, a copy of each output to
/// compare with, and an output's initial contents where it has any.
fn reference_bytes(shape: &ShapeJob) -> u64 {
    let of = |parameter: &ParameterJob| match parameter {
        ParameterJob::Scalar => 0,
        ParameterJob::Tensor { spec, .. } => {
            let buffers = reference_buffers(spec);
            let own = buffers.iter().map(|argument| match argument {
                Planned::Buffer { bytes } => *bytes,
                _ => 0,
            });
            own.sum::<u64>() + 2 * spec.bytes
        }
    };
    let parameters = shape.parameters.iter().map(of);
    parameters.sum::<u64>() + shape.work.plan().scratch_bytes()
}

/// What the reference gets in place of one tensor: values and magnitudes, both in double precision,
/// for a floating output; the tensor itself otherwise.
fn reference_buffers(spec: &TensorSpec) -> Vec<Planned> {
    if spec.direction == Direction::In || !spec.element.is_float() {
        return vec![buffer(spec.bytes)];
    }
    let bytes = spec.elements() * ElementType::F64.size_bytes();
    vec![buffer(bytes), buffer(bytes)]
}

fn buffer(bytes: u64) -> Planned {
    Planned::Buffer { bytes }
}

fn scalar_argument(value: ScalarValue) -> Planned {
    match value {
        ScalarValue::Integer(value) => Planned::Int(value),
        ScalarValue::Float(value) => Planned::Float(value),
    }
}

#[allow(clippy::needless_pass_by_value)] // handed to map_err
fn evaluation(error: problems::EvaluationError) -> Interruption {
    Interruption::ours(error.to_string())
}

#[cfg(test)]
mod tests {
    use launch_plan::Plan;

    use super::*;
    use crate::test_support::vector;

    fn tensor(element: ElementType, direction: Direction) -> ParameterJob {
        ParameterJob::Tensor {
            spec: vector("x", element, direction, 100, None),
            slack: 0.0,
        }
    }

    #[test]
    fn a_floating_output_is_two_vectors_of_doubles_to_the_reference() {
        let of = |element, direction| match tensor(element, direction) {
            ParameterJob::Tensor { spec, .. } => reference_buffers(&spec),
            ParameterJob::Scalar => Vec::new(),
        };
        assert_eq!(of(ElementType::F32, Direction::In), [buffer(400)]);
        assert_eq!(of(ElementType::I32, Direction::Out), [buffer(400)]);
        let both = [buffer(800), buffer(800)];
        assert_eq!(of(ElementType::F32, Direction::Out), both);
        assert_eq!(of(ElementType::F32, Direction::Inout), both);
    }

    #[test]
    fn the_reference_needs_its_buffers_and_two_copies_of_each_tensor() {
        let shape = ShapeJob {
            id: "s".to_owned(),
            parameters: vec![
                tensor(ElementType::F32, Direction::In),
                tensor(ElementType::F32, Direction::Out),
                ParameterJob::Scalar,
            ],
            work: HostWork::Planned(Plan {
                operations: Vec::new(),
                ..Plan::default()
            }),
        };
        assert_eq!(reference_bytes(&shape), 400 + 2 * 400 + 1600 + 2 * 400);
    }
}
