//! Inside the `__execute` child: owns a device with the submission on it.

use device::{Bounds, OpenRequest, Target};
use domain::Verdict;
use sandbox::{CaughtOutput, Mailbox};

use super::run::{RunFailure, run};
use super::timed::{Rotation, warm_up};
use super::wire::{ExecuteReply, ExecuteRequest, Executed};
use crate::inputs::RunKeys;
use crate::kernels::Kernels;
use crate::loaded::Loaded;
use crate::opened::Opened;
use crate::wire::{Blame, Code, Program, ShapeJob};

/// The executor between requests.
pub(crate) struct Executor {
    memory_bytes: u64,
    opened: Option<Opened>,
    work: Option<Work>,
    /// What a GPU's kernels print.
    caught: Option<CaughtOutput>,
    // After the device that it is pinned for.
    mailbox: Mailbox,
}

/// What kernels may print in one run.
const PRINTED_BYTES: usize = 64 << 10;

/// A submission on its device.
struct Work {
    submission: Loaded,
    kernels: Option<Kernels>,
    shapes: Vec<ShapeJob>,
    rotation: Option<Rotation>,
}

impl Executor {
    pub fn new(mailbox: Mailbox) -> Self {
        Self {
            mailbox,
            memory_bytes: 0,
            opened: None,
            work: None,
            caught: None,
        }
    }

    pub fn answer(&mut self, request: ExecuteRequest) -> ExecuteReply {
        match self.perform(request) {
            Ok(executed) => Ok(executed),
            Err(RunFailure::Blamed(blame)) => Ok(Executed::Failed(blame)),
            Err(RunFailure::Ours(message)) => Err(message),
        }
    }

    fn perform(&mut self, request: ExecuteRequest) -> Result<Executed, RunFailure> {
        match request {
            ExecuteRequest::Open { request, kernels } => self.open(&request, kernels.as_deref()),
            ExecuteRequest::Probe => {
                let opened = self.opened.as_mut().ok_or_else(not_open)?;
                opened.probe().map_err(|e| ours(&e.to_string()))?;
                Ok(Executed::Done)
            }
            ExecuteRequest::Load { program, bounds } => self.load(*program, &bounds),
            ExecuteRequest::Run { shape, keys } => self.run(shape, &keys),
            ExecuteRequest::WarmUp { least } => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                let kernels = work.kernels.as_ref().ok_or_else(no_kernels)?;
                let warm = warm_up(&mut work.submission, kernels, least);
                warm.map(Executed::Warm)
            }
            ExecuteRequest::Time { shape, keys } => {
                let timed = self.time(shape, &keys);
                self.printed()?; // nobody reads it, and the next run's must not follow it
                timed
            }
            ExecuteRequest::Finish => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                work.end_rotation()?;
                work.submission.device.verify_guards_of(&[])?;
                Ok(Executed::Done)
            }
            ExecuteRequest::Deliver => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                let kernels = work.kernels.as_ref().ok_or_else(no_kernels)?;
                let rotation = work.rotation.as_mut();
                let rotation = rotation.ok_or_else(|| ours("nothing was timed"))?;
                let shape = work.shapes.get(rotation.shape()).ok_or_else(no_shape)?;
                let mailbox = &mut self.mailbox;
                rotation.deliver(&mut work.submission, kernels, shape, mailbox)?;
                Ok(Executed::Done)
            }
            ExecuteRequest::Slope { shape } => {
                let slope = self.slope(shape);
                self.printed()?;
                slope
            }
            ExecuteRequest::State => {
                let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
                Ok(Executed::State {
                    state: work.submission.device.state()?,
                    timer: work.submission.device.timer(),
                })
            }
        }
    }

    fn slope(&mut self, shape: usize) -> Result<Executed, RunFailure> {
        let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
        let rotation = work.rotation.as_ref().filter(|r| r.shape() == shape);
        let rotation = rotation.ok_or_else(|| ours("this shape was not timed last"))?;
        let shape = work.shapes.get(shape).ok_or_else(no_shape)?;
        let slope = rotation.slope(&mut work.submission, shape);
        slope.map(Executed::Slope)
    }

    fn open(
        &mut self,
        request: &OpenRequest,
        kernels: Option<&Code>,
    ) -> Result<Executed, RunFailure> {
        if request.target != Target::Emulated {
            let caught = CaughtOutput::start();
            let caught = caught.map_err(|e| ours(&format!("what kernels print: {e}")))?;
            self.caught = Some(caught);
        }
        // No submission is on the device yet.
        let mut opened = Opened::new(request, kernels).map_err(|e| ours(&e.to_string()))?;
        opened.pin(&self.mailbox);
        self.opened = Some(opened);
        Ok(Executed::Done)
    }

    fn load(&mut self, program: Program, bounds: &Bounds) -> Result<Executed, RunFailure> {
        let mut opened = self.opened.take().ok_or_else(not_open)?;
        self.memory_bytes = bounds.memory_bytes;
        opened.bound(bounds).map_err(|e| ours(&e.to_string()))?;
        let (submission, kernels) = Loaded::new(opened, program.code)?;
        self.work = Some(Work {
            submission,
            kernels,
            shapes: program.shapes,
            rotation: None,
        });
        Ok(Executed::Done)
    }

    fn run(&mut self, shape: usize, keys: &RunKeys) -> Result<Executed, RunFailure> {
        let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
        work.end_rotation()?;
        let shape = work.shapes.get(shape).ok_or_else(no_shape)?;
        let kernels = work.kernels.as_ref();
        let ran = run(
            &mut work.submission,
            kernels,
            shape,
            keys,
            &mut self.mailbox,
        );
        let printed = self.printed()?;
        let mut ran = ran?;
        if let Some(printed) = printed {
            ran.printed = printed;
        }
        Ok(Executed::Ran(ran))
    }

    /// What a GPU's kernels printed since the last call. Another device says so itself.
    fn printed(&mut self) -> Result<Option<String>, RunFailure> {
        let Some(caught) = &mut self.caught else {
            return Ok(None);
        };
        match caught.take(PRINTED_BYTES) {
            Ok((text, true)) => Ok(Some(text)),
            Ok((_, false)) => Err(RunFailure::Blamed(Blame {
                verdict: Verdict::OutputLimit,
                kind: None,
                message: format!("the kernels printed more than {PRINTED_BYTES} bytes"),
                line: None,
            })),
            Err(error) => Err(ours(&format!("what kernels print: {error}"))),
        }
    }

    fn time(&mut self, index: usize, keys: &RunKeys) -> Result<Executed, RunFailure> {
        let work = self.work.as_mut().ok_or_else(nothing_loaded)?;
        if work.rotation.as_ref().is_some_and(|r| r.shape() != index) {
            work.end_rotation()?;
        }
        let kernels = work.kernels.as_ref().ok_or_else(no_kernels)?;
        let shape = work.shapes.get(index).ok_or_else(no_shape)?;
        let memory_bytes = self.memory_bytes;
        let submission = &mut work.submission;
        let rotation = work
            .rotation
            .get_or_insert_with(|| Rotation::new(submission, index, shape, memory_bytes));
        rotation
            .time(submission, kernels, shape, keys)
            .map(Executed::Timed)
    }
}

impl Work {
    fn end_rotation(&mut self) -> Result<(), RunFailure> {
        match self.rotation.take() {
            Some(rotation) => Ok(rotation.release(&mut self.submission)?),
            None => Ok(()),
        }
    }
}

fn not_open() -> RunFailure {
    ours("no device is open")
}

fn nothing_loaded() -> RunFailure {
    ours("nothing is loaded")
}

fn no_shape() -> RunFailure {
    ours("no such shape")
}

fn no_kernels() -> RunFailure {
    ours("the judge's kernels are not loaded")
}

fn ours(message: &str) -> RunFailure {
    RunFailure::Ours(message.to_owned())
}

#[cfg(test)]
mod tests {
    use domain::{Direction, ElementType, VerdictKind};
    use launch_plan::{Argument, Program as HostProgram};
    use problems::{Generator, element};

    use super::*;
    use crate::execute::wire::TimedRun;
    use crate::kernels;
    use crate::test_support::{bounds, compiled, emulated, vector};
    use crate::wire::{ParameterJob, mailbox_slots};

    const N: u64 = 300;

    /// An executor with `y = f(x)` on it, the device code being `kernel`'s.
    fn executor(kernel: &str) -> Executor {
        executor_with(kernel, "f<<<2, 256>>>(x, y, n);")
    }

    fn executor_with(kernel: &str, host: &str) -> Executor {
        let source = format!(
            "{kernel}\nextern \"C\" void solve(const float* x, float* y, int n) {{ {host} }}"
        );
        let ones = Generator::Sequence {
            start: 1.0,
            step: 1.0,
        };
        let x = vector("x", ElementType::F32, Direction::In, N, Some(ones));
        let y = vector("y", ElementType::F32, Direction::Out, N, None);
        let shape = ShapeJob {
            id: "s".to_owned(),
            plan: plan(&source),
            parameters: vec![
                ParameterJob::Tensor {
                    spec: x,
                    slack: 0.0,
                },
                ParameterJob::Tensor {
                    spec: y,
                    slack: 0.0,
                },
                ParameterJob::Scalar,
            ],
        };
        let mut code = compiled(kernel);
        code.lowered_names.insert("f".to_owned(), "f".to_owned());
        let mut executor = Executor::new(Mailbox::create(4096).unwrap());
        let open = ExecuteRequest::Open {
            request: Box::new(emulated()),
            kernels: Some(Box::new(compiled(kernels::SOURCE))),
        };
        assert!(matches!(executor.answer(open), Ok(Executed::Done)));
        let probed = executor.answer(ExecuteRequest::Probe);
        assert!(matches!(probed, Ok(Executed::Done)), "{probed:?}");
        let load = ExecuteRequest::Load {
            program: Box::new(Program {
                code,
                shapes: vec![shape],
            }),
            bounds: bounds(),
        };
        assert!(matches!(executor.answer(load), Ok(Executed::Done)));
        executor
    }

    fn plan(source: &str) -> launch_plan::Plan {
        use domain::{Parameter, ParameterKind, Signature};
        let pointer = |name: &str, direction| Parameter {
            name: name.to_owned(),
            kind: ParameterKind::Tensor {
                element: ElementType::F32,
                direction,
            },
        };
        let signature = Signature(vec![
            pointer("x", Direction::In),
            pointer("y", Direction::Out),
            Parameter {
                name: "n".to_owned(),
                kind: ParameterKind::Scalar {
                    element: ElementType::I32,
                },
            },
        ]);
        let program = HostProgram::parse(source, &signature).unwrap();
        let buffer = Argument::Buffer { bytes: N * 4 };
        let arguments = [buffer, buffer, Argument::Int(N.cast_signed())];
        program.plan(&arguments, &emulated().limits).unwrap()
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
                let work = executor.work.as_ref().unwrap();
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
}
