//! Kernel instances that a run is the first to ask for, with the real compiler.

use domain::DeviceName;
use domain::report::ShapeRole;

use super::live::{SCRATCH_BYTES, live, outputs};
use super::*;
use crate::compile::wire::{CompileJob, CompileReply, CompileTask, ShapeCall};
use crate::execute::wire::LiveCounts;
use crate::host_code::{HostWork, LiveWork};
use crate::instances::{Recompiles, Uncompiled};
use crate::kernel_table::KernelTable;
use crate::test_support::toolchain;

#[test]
fn a_template_that_only_the_run_asks_for_is_named_and_never_compiled_for_a_timed_run() {
    let mut executor = live(
        "extern \"C\" __global__ void f(int* d, float* y) { *d = 7; y[threadIdx.x] = 0; }
        template <int T> __global__ void g(float* y) { y[threadIdx.x] = T; }
        extern \"C\" void solve(const float* x, float* y, int n) {
            int* d; cudaMalloc(&d, 4); int h;
            f<<<1, 300>>>(d, y); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
            if (h == 7) g<7><<<1, 300>>>(y);
        }",
    );
    let asked = Uncompiled {
        kernel: "g<7>".to_owned(),
        line: 6,
    };
    match ran(&mut executor) {
        Ok(Executed::Uncompiled(instance)) => assert_eq!(instance, asked),
        other => panic!("{other:?}"),
    }
    let blame = match timed(&mut executor, 1) {
        Ok(Executed::Failed(blame)) => blame,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (blame.verdict, blame.kind, blame.line),
        (
            Verdict::PlanError,
            Some(VerdictKind::UnsupportedConstruct),
            Some(6)
        )
    );
    assert!(
        blame.message.contains("`g<7>`") && blame.message.contains("while time is taken"),
        "{blame:?}"
    );
}

/// `x` is copied by an instance of `copy` that the device chooses, one after the other.
const CHOOSING: &str = "
__device__ int round_number;
template <int W> __global__ void copy(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = W * x[i];
}
__global__ void choose(int* width) {
    const int widths[] = {WIDTHS, 0};
    *width = widths[round_number]; round_number = round_number + 1;
}
extern \"C\" void solve(const float* x, float* y, int n) {
    int* d; cudaMalloc(&d, sizeof(int)); int width = 1;
    while (width) {
        choose<<<1, 1>>>(d);
        cudaMemcpy(&width, d, sizeof(int), cudaMemcpyDeviceToHost);
        switch (width) {
            case 30: copy<30><<<1, 64>>>(x, y, n); break;
            case 31: copy<31><<<1, 64>>>(x, y, n); break;
            case 32: copy<32><<<1, 64>>>(x, y, n); break;
            case 33: copy<33><<<1, 64>>>(x, y, n); break;
        }
    }
    cudaFree(d);
}";

/// The source, compiled by a compile child's code with what runs asked for, on a fresh executor.
fn compiled_anew(source: &str, recompiles: &Recompiles) -> Executor {
    let limits = scoring::device(DeviceName::Emulated).limits.clone();
    let job = CompileJob {
        source: source.to_owned(),
        signature: signature(),
        shapes: vec![ShapeCall {
            arguments: arguments().to_vec(),
            held_out: false,
        }],
        limits: limits.clone(),
        toolchain: toolchain(),
        asked: recompiles.asked().clone(),
    };
    let task = serde_json::to_vec(&CompileTask::Source(job)).unwrap();
    let reply = crate::compile::child::answer(&task).unwrap();
    let reply: CompileReply = serde_json::from_slice(&reply).unwrap();
    let compiled = reply.outcome.unwrap();
    let names = &compiled.lowered_names;
    let work = LiveWork {
        arguments: arguments().to_vec(),
        kernels: KernelTable::of(&compiled.ptx, names, &compiled.usage, &limits),
        limits,
        scratch_bytes: SCRATCH_BYTES,
        rehearsal: compiled.plans[0].clone(),
    };
    let shape = ShapeJob {
        id: "s".to_owned(),
        work: HostWork::Live(Box::new(work)),
        parameters: parameters(),
    };
    let program = Program {
        code: crate::wire::Code {
            ptx: compiled.ptx,
            cubin: compiled.cubin,
            lowered_names: compiled.lowered_names,
        },
        host: compiled.host,
        shapes: vec![shape],
    };
    loaded(program, bounds())
}

/// As the procedure does it: whenever a run lacks an instance, everything begins anew with it.
fn until_compiled(source: &str) -> (u32, Result<(LiveCounts, Vec<f64>), Blame>) {
    let mut recompiles = Recompiles::default();
    let mut compiles = 0;
    loop {
        let mut executor = compiled_anew(source, &recompiles);
        compiles += 1;
        match ran(&mut executor) {
            Ok(Executed::Ran(run)) => {
                return (compiles, Ok((run.live.unwrap(), outputs(&executor))));
            }
            Ok(Executed::Uncompiled(instance)) => {
                if let Err(blame) = recompiles.take(&instance, ShapeRole::Emulated) {
                    return (compiles, Err(blame));
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn instances_that_runs_ask_for_are_compiled_one_after_the_other() {
    let (compiles, ended) = until_compiled(&CHOOSING.replace("WIDTHS", "30, 31, 32"));
    let (counts, y) = ended.unwrap();
    assert_eq!(compiles, 4, "the first and three more");
    let expected: Vec<f64> = (1..=N).map(|i| 32.0 * i as f64).collect();
    assert_eq!(y, expected);
    // The run that is told of begins anew: four choices, three copies.
    assert_eq!((counts.launches, counts.read_backs), (7, 4));
}

#[test]
fn a_fourth_instance_is_refused_at_its_line_with_the_way_out() {
    let (compiles, ended) = until_compiled(&CHOOSING.replace("WIDTHS", "30, 31, 32, 33"));
    let blame = ended.unwrap_err();
    assert_eq!(compiles, 4);
    assert_eq!(
        (blame.verdict, blame.kind, blame.line),
        (
            Verdict::PlanError,
            Some(VerdictKind::UnsupportedConstruct),
            Some(19)
        )
    );
    assert!(
        blame.message.contains("`copy<33>`") && blame.message.contains("pass the value"),
        "{}",
        blame.message
    );
}
