//! Planning and compiling together, with the real compiler, in this process.

use domain::{DeviceName, Direction, ElementType, Parameter, ParameterKind, Signature};
use launch_plan::{Argument, Launch, Operation};

use super::*;
use crate::compile::wire::ShapeCall;
use crate::instances::Asked;
use crate::test_support::toolchain;

/// `solve(float* x, int n)` over shapes of these sizes; of some nothing may be told.
fn job(source: &str, shapes: &[(i64, bool)]) -> CompileJob {
    let kind = ParameterKind::Tensor {
        element: ElementType::F32,
        direction: Direction::Inout,
    };
    let size = ParameterKind::Scalar {
        element: ElementType::I32,
    };
    let parameter = |name: &str, kind| Parameter {
        name: name.to_owned(),
        kind,
    };
    CompileJob {
        source: source.to_owned(),
        signature: Signature(vec![parameter("x", kind), parameter("n", size)]),
        shapes: shapes
            .iter()
            .map(|&(n, held_out)| ShapeCall {
                arguments: vec![
                    Argument::Buffer {
                        bytes: n.unsigned_abs() * 4,
                    },
                    Argument::Int(n),
                ],
                held_out,
            })
            .collect(),
        limits: scoring::device(DeviceName::H200).limits.clone(),
        toolchain: toolchain(),
        asked: Asked::default(),
    }
}

fn answer_to(source: &str, shapes: &[(i64, bool)]) -> Result<CompiledSource, CompileRefusal> {
    plan_and_compile(&job(source, shapes), &mut CompileTimes::default())
}

fn launches(compiled: &CompiledSource) -> Vec<&Launch> {
    let operations = compiled.plans.iter().flat_map(|plan| &plan.operations);
    operations
        .filter_map(|operation| match operation {
            Operation::Launch(launch) => Some(launch),
            _ => None,
        })
        .collect()
}

/// A kernel that keeps so many values in registers.
fn heavy(values: u32) -> String {
    format!(
        "__global__ void heavy(float* x, int n) {{\n\
         float v[{values}];\n\
         #pragma unroll\nfor (int i = 0; i < {values}; i++) v[i] = x[i * n];\n\
         __syncthreads();\n\
         #pragma unroll\nfor (int i = 0; i < {values}; i++) x[i * n + threadIdx.x] = v[i] * v[{values} - 1 - i];\n}}\n"
    )
}

#[test]
fn a_grid_from_occupancy_is_what_the_device_holds() {
    let source = heavy(64)
        + "void solve(float* x, int n) {\n\
           int blocks; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heavy, 256, 4096);\n\
           cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0);\n\
           heavy<<<blocks * prop.multiProcessorCount, 256, 4096>>>(x, n);\n}\n";
    let compiled = answer_to(&source, &[(1000, false)]).unwrap();
    let registers = compiled.usage[0].registers;
    assert!(
        registers > 32,
        "threads alone would decide: {registers} registers"
    );
    let limits = &scoring::device(DeviceName::H200).limits;
    let blocks = scoring::resident_blocks(limits, registers, 4096, 256).unwrap();
    assert_eq!(launches(&compiled)[0].grid, [blocks * 132, 1, 1]);
}

#[test]
fn a_kernel_that_only_the_second_plan_launches_is_compiled_too() {
    let source = "template <int W> __global__ void k(float* x, int n) {\n\
                  x[blockIdx.x * W + threadIdx.x] = n;\n}\n\
                  void solve(float* x, int n) {\n\
                  cudaFuncAttributes a; cudaFuncGetAttributes(&a, k<1>);\n\
                  if (a.numRegs == 32) k<2><<<1, 32>>>(x, n); else k<3><<<1, 32>>>(x, n);\n}\n";
    let compiled = answer_to(source, &[(1000, false)]).unwrap();
    assert_eq!(launches(&compiled)[0].kernel.0, "k<3>");
    assert!(compiled.lowered_names.contains_key("k<3>"));
}

#[test]
fn a_block_that_the_registers_do_not_suffice_for_is_refused_before_it_runs() {
    let source = |threads: u32| {
        let kernel = heavy(200);
        format!("{kernel}void solve(float* x, int n) {{\nheavy<<<1, {threads}>>>(x, n);\n}}\n")
    };
    let refusal = answer_to(&source(1024), &[(1000, false)]).unwrap_err();
    assert_eq!(refusal.verdict, Verdict::PlanError);
    assert_eq!(refusal.kind, Some(VerdictKind::LaunchConfig));
    assert!(
        refusal
            .message
            .contains("a block of 1024 threads does not fit"),
        "{}",
        refusal.message
    );
    assert!(answer_to(&source(128), &[(1000, false)]).is_ok());
}

#[test]
fn a_cooperative_grid_must_fit_at_once() {
    let source = "__global__ void k(float* x, int n) { x[threadIdx.x] = n; }\n\
                  void solve(float* x, int n) {\n\
                  void* arguments[] = {&x, &n};\n\
                  cudaLaunchCooperativeKernel((void*)k, dim3(n), dim3(1024), arguments);\n}\n";
    let fits = answer_to(source, &[(264, false)]).unwrap();
    assert!(launches(&fits)[0].cooperative);
    let refusal = answer_to(source, &[(264, false), (265, false)]).unwrap_err();
    assert_eq!(refusal.kind, Some(VerdictKind::LaunchConfig));
    assert_eq!(
        refusal.message,
        "line 4: a cooperative launch of 265 blocks of `k`; the device holds 264 of them at a time"
    );
}

const PLAIN: &str = "template <int W> __global__ void k(float* x, int n) { x[threadIdx.x] = W; }\n";

fn solve(body: &str) -> String {
    format!("{PLAIN}void solve(float* x, int n) {{\n{body}\nk<1><<<1, 32>>>(x, n);\n}}\n")
}

/// The answer where 4711 is a held-out shape's size must be that of any other size.
fn tells_nothing(body: &str) -> CompiledSource {
    let source = solve(body);
    let of = |n| answer_to(&source, &[(100, false), (n, true)]).unwrap();
    let (there, elsewhere) = (of(4711), of(4712));
    assert_eq!(there.warnings, elsewhere.warnings);
    let told = |compiled: &CompiledSource| {
        let rows =
            crate::resources::kernel_resources(compiled, &scoring::device(DeviceName::H200).limits);
        rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(&there), ["k<1>"]);
    assert_eq!(told(&there), told(&elsewhere));
    assert_eq!(there.listing, elsewhere.listing);
    there
}

#[test]
fn a_plan_that_fails_on_a_held_out_shape_alone_tells_nothing_of_it() {
    let body = "int a[1]; if (n == 4711) a[n] = 0;";
    let compiled = tells_nothing(body);
    assert_eq!(compiled.unplanned, [1].into());
    let refusal = answer_to(&solve(body), &[(4711, false)]).unwrap_err();
    assert_eq!(refusal.kind, Some(VerdictKind::HostFault));
}

#[test]
fn warnings_and_kernels_of_a_held_out_shape_alone_are_not_told() {
    let compiled = tells_nothing("if (n == 4711) { void* p; cudaMalloc(&p, n); }");
    assert!(compiled.unplanned.is_empty());
    let compiled = tells_nothing("if (n == 4711) k<2><<<1, 1024>>>(x, n);");
    assert!(compiled.unplanned.is_empty());
    assert!(compiled.lowered_names.contains_key("k<2>"), "it runs");
    let listed = compiled.listing.ptx.parts.iter();
    let listed: Vec<_> = listed.map(|part| part.name.as_str()).collect();
    assert_eq!(listed, ["k<1>", ""]);
}

/// What the first plan instantiates for a held-out shape stays untold when the second does no more.
#[test]
fn kernels_of_an_earlier_plan_of_a_held_out_shape_are_not_told() {
    let body = "cudaFuncAttributes a; cudaFuncGetAttributes(&a, k<1>);\n\
                if (n == 4711 && a.numRegs < 1) k<2><<<1, 32>>>(x, n);";
    tells_nothing(body);
}

/// A held-out shape had the kernel in the first plan, an open one has it in the second.
#[test]
fn a_kernel_that_becomes_an_open_shape_s_is_told() {
    let body = "cudaFuncAttributes a; cudaFuncGetAttributes(&a, k<1>);\n\
                if (n == 4711 || a.numRegs != 32) k<2><<<1, 32>>>(x, n);";
    let compiled = answer_to(&solve(body), &[(100, false), (4711, true)]).unwrap();
    assert_eq!(launches(&compiled)[0].kernel.0, "k<2>");
    let listed = compiled.listing.ptx.parts.iter();
    let listed: Vec<_> = listed.map(|part| part.name.as_str()).collect();
    assert_eq!(listed, ["k<1>", "k<2>", ""]);
}

#[test]
fn launches_that_the_device_refuses_on_a_held_out_shape_alone_are_not_told() {
    let body = "void* p[] = {&x, &n};\n\
                if (n == 4711) cudaLaunchCooperativeKernel((void*)k<1>, dim3(n), dim3(1024), p);";
    assert_eq!(tells_nothing(body).unplanned, [1].into());
}

#[test]
fn code_that_does_not_compile_for_a_held_out_shape_alone_is_not_told() {
    let asserting = PLAIN.replace("{ x[", "{ static_assert(W != 2, \"n is 4711\"); x[");
    let source = solve("if (n == 4711) k<2><<<1, 32>>>(x, n);").replace(PLAIN, &asserting);
    let compiled = answer_to(&source, &[(100, false), (4711, true)]).unwrap();
    assert_eq!(compiled.unplanned, [1].into());
    assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
    assert!(answer_to(&source, &[(4711, false)]).is_err());
}

#[test]
fn plans_that_are_too_large_to_hand_over_are_plan_errors() {
    let source = solve("for (int i = 0; i < 60000; i++) cudaMemset(x, 0, 4);");
    let open: Vec<(i64, bool)> = (0..12).map(|i| (100 + i, false)).collect();
    let refusal = answer_to(&source, &open).unwrap_err();
    assert_eq!(refusal.verdict, Verdict::PlanError);
    assert_eq!(refusal.kind, Some(VerdictKind::Fuel));
    assert!(refusal.message.contains("40 MiB"), "{}", refusal.message);
}

/// A chain of kernels, each named by what the compiler says of the one before: `length` more than the first
/// plan knows of.
fn chain(length: u32) -> String {
    format!(
        "template <int N> __global__ void k(float* x) {{\n\
         __shared__ float s[N + 1]; s[threadIdx.x % (N + 1)] = x[0]; __syncthreads(); x[1] = s[0];\n}}\n\
         template <int N> void go(float* x) {{\n\
         cudaFuncAttributes a; cudaFuncGetAttributes(&a, k<N>);\n\
         if (N == {length} || a.sharedSizeBytes == 0) k<N><<<1, 32>>>(x);\n\
         else go<N + 1>(x);\n}}\n\
         void solve(float* x, int n) {{ go<0>(x); }}\n"
    )
}

#[test]
fn plans_settle_within_three_more_compiles_or_say_so() {
    for length in [1, 3] {
        let compiled = answer_to(&chain(length), &[(1000, false)]).unwrap();
        assert_eq!(launches(&compiled)[0].kernel.0, format!("k<{length}>"));
    }
    let refusal = answer_to(&chain(4), &[(1000, false)]).unwrap_err();
    assert_eq!(refusal.verdict, Verdict::PlanError);
    assert!(
        refusal
            .message
            .contains("not settled after 3 more compiles"),
        "{}",
        refusal.message
    );
}

#[test]
fn what_a_run_asked_for_is_compiled_besides_what_the_plans_name() {
    let source = solve("");
    let of = |asked: Asked, held_out: bool| {
        let job = CompileJob {
            asked,
            ..job(&source, &[(100, false), (200, held_out)])
        };
        plan_and_compile(&job, &mut CompileTimes::default())
    };
    let open = Asked {
        open: ["k<7>".to_owned()].into(),
        ..Asked::default()
    };
    let compiled = of(open.clone(), false).unwrap();
    assert!(compiled.lowered_names.contains_key("k<7>"));
    let rows =
        crate::resources::kernel_resources(&compiled, &scoring::device(DeviceName::H200).limits);
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["k<1>", "k<7>"]);
    // What a held-out shape asked for runs and is not told of.
    let silent = Asked {
        held_out: open.open,
        ..Asked::default()
    };
    let compiled = of(silent, true).unwrap();
    assert!(compiled.lowered_names.contains_key("k<7>"), "it runs");
    let rows =
        crate::resources::kernel_resources(&compiled, &scoring::device(DeviceName::H200).limits);
    assert_eq!(rows.len(), 1);
}

#[test]
fn an_instance_that_a_run_asked_for_and_that_does_not_compile_is_told_to_open_shapes_alone() {
    let asserting = PLAIN.replace("{ x[", "{ static_assert(W < 5, \"too wide\"); x[");
    let source = solve("").replace(PLAIN, &asserting);
    let of = |asked| {
        let job = CompileJob {
            asked,
            ..job(&source, &[(100, false)])
        };
        plan_and_compile(&job, &mut CompileTimes::default())
    };
    let wide: BTreeSet<String> = ["k<7>".to_owned()].into();
    let refusal = of(Asked {
        open: wide.clone(),
        ..Asked::default()
    })
    .unwrap_err();
    assert_eq!(refusal.verdict, Verdict::CompileError);
    assert!(refusal.message.contains("too wide"), "{}", refusal.message);
    let compiled = of(Asked {
        held_out: wide,
        ..Asked::default()
    })
    .unwrap();
    assert!(!compiled.lowered_names.contains_key("k<7>"));
}

#[test]
fn kernels_are_named_in_reports_and_therefore_bounded() {
    let instances = |count: usize| {
        let launches = (0..count).map(|i| format!("k<{i}><<<1, 1>>>(x);"));
        format!(
            "template <int N> __global__ void k(float* x) {{}}\n{}",
            solve(&launches.collect::<String>())
        )
    };
    let refusal = answer_to(&instances(512), &[(8, false)]).unwrap_err();
    assert_eq!(refusal.kind, Some(VerdictKind::CompileLimit));
    assert_eq!(
        refusal.message,
        "513 kernel instantiations are launched; the limit is 512"
    );
}
