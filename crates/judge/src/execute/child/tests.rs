//! The executor with compiled kernels on the emulated device.

use domain::{Direction, ElementType, Parameter, ParameterKind, Signature, Verdict, VerdictKind};
use launch_plan::{Argument, Program as HostProgram};
use problems::{Generator, element};

use super::*;
use crate::execute::printed::tests::{Pretended, flood};
use crate::host_code::HostWork;
use crate::kernels;
use crate::test_support::{bounds, compiled, emulated, vector};
use crate::wire::{Blame, ParameterJob, mailbox_slots};

const N: u64 = 300;

/// An executor with `y = f(x)` on it, the device code being `kernel`'s.
fn executor(kernel: &str) -> Executor {
    executor_with(kernel, "f<<<2, 256>>>(x, y, n);")
}

fn executor_with(kernel: &str, host: &str) -> Executor {
    let source =
        format!("{kernel}\nextern \"C\" void solve(const float* x, float* y, int n) {{ {host} }}");
    let mut code = compiled(kernel);
    code.lowered_names.insert("f".to_owned(), "f".to_owned());
    let shape = ShapeJob {
        id: "s".to_owned(),
        work: HostWork::Planned(plan(&source)),
        parameters: parameters(),
    };
    let program = Program {
        code,
        host: None,
        shapes: vec![shape],
    };
    loaded(program, bounds())
}

/// `x` holds 1, 2, 3, ...
fn parameters() -> Vec<ParameterJob> {
    let ones = Generator::Sequence {
        start: 1.0,
        step: 1.0,
    };
    let x = vector("x", ElementType::F32, Direction::In, N, Some(ones));
    let y = vector("y", ElementType::F32, Direction::Out, N, None);
    let tensor = |spec| ParameterJob::Tensor { spec, slack: 0.0 };
    vec![tensor(x), tensor(y), ParameterJob::Scalar]
}

fn loaded(program: Program, bounds: Bounds) -> Executor {
    let mut executor = Executor::new(Mailbox::create(4096).unwrap());
    let open = ExecuteRequest::Open {
        request: Box::new(emulated()),
        kernels: Some(Box::new(compiled(kernels::SOURCE))),
    };
    assert!(matches!(executor.answer(open), Ok(Executed::Done)));
    let probed = executor.answer(ExecuteRequest::Probe);
    assert!(matches!(probed, Ok(Executed::Done)), "{probed:?}");
    let load = ExecuteRequest::Load {
        program: Box::new(program),
        bounds,
    };
    assert!(matches!(executor.answer(load), Ok(Executed::Done)));
    executor
}

fn plan(source: &str) -> launch_plan::Plan {
    let program = parsed(source);
    program.plan(&arguments(), &emulated().limits).unwrap()
}

fn arguments() -> [Argument; 3] {
    let buffer = Argument::Buffer { bytes: N * 4 };
    [buffer, buffer, Argument::Int(N.cast_signed())]
}

fn parsed(source: &str) -> HostProgram {
    HostProgram::parse(source, &signature()).unwrap()
}

fn signature() -> Signature {
    let pointer = |name: &str, direction| Parameter {
        name: name.to_owned(),
        kind: ParameterKind::Tensor {
            element: ElementType::F32,
            direction,
        },
    };
    Signature(vec![
        pointer("x", Direction::In),
        pointer("y", Direction::Out),
        Parameter {
            name: "n".to_owned(),
            kind: ParameterKind::Scalar {
                element: ElementType::I32,
            },
        },
    ])
}

fn timed(executor: &mut Executor, key: u8) -> ExecuteReply {
    executor.answer(ExecuteRequest::Time {
        shape: 0,
        keys: vec![Some([key; 32]), None, None],
    })
}

fn delivered(executor: &mut Executor) -> Result<Vec<f64>, Blame> {
    match executor.answer(ExecuteRequest::Deliver).unwrap() {
        Executed::Done => {
            let work = executor.stage.work().unwrap();
            let slot = mailbox_slots(&work.shapes[0].parameters)[1]
                .clone()
                .unwrap();
            let bytes = executor.mailbox.read(slot.start, slot.len()).unwrap();
            Ok(element::widen(&bytes, ElementType::F32))
        }
        Executed::Failed(blame) => Err(blame),
        other => panic!("{other:?}"),
    }
}

const DOUBLE: &str = "extern \"C\" __global__ void f(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}";

#[test]
fn a_timed_run_works_on_fresh_inputs_and_can_be_looked_at_afterwards() {
    let mut executor = executor(DOUBLE);
    for key in 0..3 {
        // Nothing measures here; the run is the same.
        assert!(matches!(
            timed(&mut executor, key),
            Ok(Executed::Timed(TimedRun::NotMeasured))
        ));
    }
    let outputs = delivered(&mut executor).unwrap();
    let expected: Vec<f64> = (1..=N).map(|i| 2.0 * i as f64).collect();
    assert_eq!(outputs, expected);
    let twice = executor.answer(ExecuteRequest::Deliver);
    assert!(twice.is_err(), "there is nothing more to look at");
}

#[test]
fn scratch_that_the_host_frees_serves_every_run() {
    let mut executor = executor_with(
        DOUBLE,
        "float* t; cudaMalloc(&t, n * sizeof(float));
         f<<<2, 256>>>(x, t, n); f<<<2, 256>>>(t, y, n); cudaFree(t);",
    );
    for key in 0..4 {
        let timed = timed(&mut executor, key);
        assert!(
            matches!(timed, Ok(Executed::Timed(TimedRun::NotMeasured))),
            "{timed:?}"
        );
        assert_eq!(delivered(&mut executor).unwrap()[1], 8.0);
    }
}

/// Right in its first run, then only copies what it has kept.
#[test]
fn globals_start_anew_with_every_run() {
    let mut executor = executor(
        "__device__ int runs = 0;
        extern \"C\" __global__ void f(const float* x, float* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = runs == 0 ? 2 * x[i] : -1;
            __syncthreads();
            if (i == 0) runs = 1;
        }",
    );
    for key in 0..3 {
        timed(&mut executor, key).unwrap();
        assert_eq!(delivered(&mut executor).unwrap()[1], 4.0);
    }
}

/// Leaves what an earlier run wrote where it is.
#[test]
fn an_output_holds_poison_before_every_run() {
    let mut executor = executor(
        "extern \"C\" __global__ void f(const float* x, float* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n && y[i] != y[i]) y[i] = 5;
        }",
    );
    for key in 0..4 {
        timed(&mut executor, key).unwrap();
        assert_eq!(delivered(&mut executor).unwrap(), vec![5.0; 300]);
    }
}

#[test]
fn writing_an_input_is_found_after_the_run() {
    let mut executor = executor(
        "extern \"C\" __global__ void f(const float* x, float* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = 2 * x[i];
            if (i == n - 1) const_cast<float*>(x)[i] = 0;
        }",
    );
    timed(&mut executor, 0).unwrap();
    let blame = delivered(&mut executor).unwrap_err();
    assert_eq!(
        (blame.verdict, blame.kind),
        (Verdict::RuntimeError, Some(VerdictKind::InputModified))
    );
    assert_eq!(blame.message, "the input `x` was modified");
}

fn ran(executor: &mut Executor) -> ExecuteReply {
    executor.answer(ExecuteRequest::Run {
        shape: 0,
        keys: vec![Some([1; 32]), None, None],
    })
}

#[test]
fn the_limit_on_printing_is_one_runs_and_not_the_slopes() {
    let mut executor = executor(DOUBLE);
    let driver = Pretended::default();
    executor.printed = Printed::by(driver.clone());
    timed(&mut executor, 0).unwrap();
    driver.0.replace(flood());
    let slope = executor.answer(ExecuteRequest::Slope { shape: 0 });
    assert!(matches!(slope, Ok(Executed::Slope(None))), "{slope:?}");
    assert!(driver.0.borrow().is_empty(), "it was dropped");
    driver.0.replace(flood());
    let timed = timed(&mut executor, 1);
    assert!(
        matches!(&timed, Ok(Executed::Failed(blame)) if blame.verdict == Verdict::OutputLimit),
        "{timed:?}"
    );
    driver.0.replace("hello".to_owned());
    let ran = ran(&mut executor);
    assert!(
        matches!(&ran, Ok(Executed::Ran(run)) if run.printed == "hello"),
        "{ran:?}"
    );
}

#[test]
fn a_flood_does_not_hide_a_fault() {
    let mut executor = executor(
        "extern \"C\" __global__ void f(const float* x, float* y, int n) { y[n + threadIdx.x] = 1; }",
    );
    let driver = Pretended::default();
    executor.printed = Printed::by(driver.clone());
    for request in [
        ExecuteRequest::Run {
            shape: 0,
            keys: vec![Some([1; 32]), None, None],
        },
        ExecuteRequest::Time {
            shape: 0,
            keys: vec![Some([1; 32]), None, None],
        },
    ] {
        driver.0.replace(flood());
        let reply = executor.answer(request);
        assert!(
            matches!(&reply, Ok(Executed::Failed(blame)) if blame.verdict == Verdict::RuntimeError),
            "{reply:?}"
        );
    }
}

/// Each run's inputs are digested with a key that did not exist while it ran.
#[test]
fn a_key_is_drawn_for_each_look_and_after_the_run() {
    use std::cell::Cell;
    use std::rc::Rc;
    let mut executor = executor(DOUBLE);
    let drawn = Rc::new(Cell::new(0));
    let count = Rc::clone(&drawn);
    executor.draw = Box::new(move || {
        count.set(count.get() + 1);
        Ok(count.get())
    });
    timed(&mut executor, 0).unwrap();
    assert_eq!(drawn.get(), 0);
    delivered(&mut executor).unwrap();
    assert_eq!(drawn.get(), 1);
    let ran = ran(&mut executor);
    assert!(matches!(ran, Ok(Executed::Ran(_))), "{ran:?}");
    assert_eq!(drawn.get(), 2);
    executor.draw = Box::new(|| Err(device::DeviceError::Internal("no key".to_owned())));
    timed(&mut executor, 0).unwrap();
    let reply = executor.answer(ExecuteRequest::Deliver);
    assert_eq!(reply.unwrap_err(), "no key");
}

mod late_instances;
mod live;
