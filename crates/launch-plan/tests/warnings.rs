//! What is legal and probably not meant: said where it is sure, and not where it is not.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{limits, parse, vector_add, vector_add_arguments};

/// Line, column and message of every warning of a file, planned for N = 1000.
fn warnings(source: &str) -> Vec<(u32, u32, String)> {
    let program = parse(source).unwrap();
    let arguments = vector_add_arguments(1000);
    let plan = program.plan(&arguments, &limits()).unwrap();
    let warnings = program.warnings(&vector_add(), &[(&arguments, &plan)]);
    assert!(warnings.iter().all(|warning| warning.hint.is_some()));
    let told = warnings.into_iter().map(|warning| {
        let (line, column) = (warning.line.unwrap(), warning.column.unwrap_or(0));
        (line, column, warning.message)
    });
    told.collect()
}

/// A kernel with this body, launched so.
fn file(body: &str, launch: &str) -> String {
    format!(
        "__global__ void k(const float* a, float* c, int n) {{ int i = threadIdx.x; {body} }}\n\
         void solve(const float* A, const float* B, float* C, int N) {{ {launch} }}\n"
    )
}

const STORE: &str = "if (i < n) c[i] = a[i];";

#[test]
fn a_kernel_that_nothing_names() {
    let source = "\
__global__ void used(float* c) { c[threadIdx.x] = 1; }
__global__ void chosen(float* c) { c[threadIdx.x] = 1; }
template <int N> __global__ void left_over(float* c) { c[N] = 1; } // left_over<4> was faster
void solve(const float* A, const float* B, float* C, int N) {
    if (N > 5000) chosen<<<4, 256>>>(C);
    used<<<4, 256>>>(C);
}
";
    assert_eq!(
        warnings(source),
        [(3, 34, "the kernel `left_over` is never launched".to_owned())]
    );
}

#[test]
fn a_grid_that_cannot_reach_every_element() {
    assert_eq!(
        warnings(&file(STORE, "k<<<N / 256, 256>>>(A, C, N);")),
        [(
            2,
            63,
            "768 threads write at most one element each, and the output has 1000: the grid is too small"
                .to_owned()
        )]
    );
}

#[test]
fn nothing_is_said_of_a_grid_that_may_be_meant() {
    let silent = |body: &str, launch: &str| {
        assert_eq!(warnings(&file(body, launch)), [], "{body} {launch}");
    };
    let small = "k<<<1, 256>>>(A, C, N);";
    silent(STORE, "k<<<4, 256>>>(A, C, N);");
    silent("for (; i < n; i += blockDim.x) c[i] = a[i];", small);
    silent("while (i < n) { c[i] = a[i]; i += 256; }", small);
    silent("c[4 * i] = a[i]; c[4 * i + 1] = a[i];", small);
    silent("((float4*)c)[i] = ((const float4*)a)[i];", small);
    silent("*(double*)(c + 2 * i) = 0;", small);
    silent("atomicAdd(&c[i], 1); c[i] = 1;", small);
    silent(STORE, &format!("cudaMemset(C, 0, N * 4); {small}"));
    silent(STORE, &format!("{small} {small} {small} {small}"));
    // Through a function of the file.
    let source = file("fill(c); c[i] = a[i];", small);
    let with_helper = format!("__device__ void fill(float* c) {{ c[7] = 1; }}\n{source}");
    assert_eq!(warnings(&with_helper), []);
    // By a macro.
    let with_macro = format!(
        "#define STORE for (; i < n; i += 256)\n{}",
        file("STORE c[i] = a[i];", small)
    );
    assert_eq!(warnings(&with_macro), []);
}

/// The one warning of a host function over a right kernel.
#[track_caller]
fn told_of(launch: &str) -> String {
    let warnings = warnings(&file(STORE, launch));
    let [(_, _, message)] = &warnings[..] else {
        panic!("{launch}: {warnings:?}")
    };
    message.clone()
}

#[test]
fn copies_and_fills_that_miss_their_elements() {
    let launch = "k<<<4, 256>>>(A, C, N);";
    assert_eq!(
        told_of(&format!("cudaMemset(C, 0, N / 3); {launch}")),
        "333 bytes are no whole elements of `C`, which have 4 bytes each"
    );
    assert_eq!(
        told_of(&format!("cudaMemset(C, 1, N * 4); {launch}")),
        "cudaMemset sets every byte of `C` to 1, not every element"
    );
    // As C++ passes a literal for an `int`.
    assert_eq!(
        told_of(&format!("cudaMemset(C, 1.0f, N * 4); {launch}")),
        "cudaMemset sets every byte of `C` to 1, not every element"
    );
    assert_eq!(
        told_of(&format!(
            "{launch} cudaMemcpy((void*)B, C, N * 4, cudaMemcpyDeviceToDevice);"
        )),
        "this writes `B`, which is an input"
    );
    for silent in [
        "cudaMemset(C, 0, N * 4);",
        "cudaMemset(C, 0.0f, N * 4);",
        "cudaMemset(C, -1, N * 4);",
        "cudaMemset(C, 0x7f, N * 4);",
        "cudaMemcpy(C, B, N * sizeof(float), cudaMemcpyDeviceToDevice);",
    ] {
        assert_eq!(warnings(&file(STORE, &format!("{silent} {launch}"))), []);
    }
}

#[test]
fn fractions_that_an_integer_does_not_hold() {
    let source = "\
__global__ void k(const float* a, float* c, int n, bool b) {
    for (int i = 0.5f; i < n; ++i) c[i] = a[i]; long u = -1.25; float f = 0.5f; if (u == 0.5f) c[0] = f;
}
void solve(const float* A, const float* B, float* C, int N) {
    const int scale = 2.5, whole = 3.0; bool half = 0.5; double d = 0.5; int i = N * 0.5;
    k<<<1, 64>>>(A, C, 1.5f, 0.5f);
    k<<<1, 64>>>(A, C, scale + whole + i + (int)d, half);
}
";
    let told = |line, column, literal: &str, value: &str, ty: &str| {
        let message = format!("`{literal}` becomes {value} here, as `{ty}` holds whole numbers");
        (line, column, message)
    };
    assert_eq!(
        warnings(source),
        [
            told(2, 18, "0.5f", "0", "int"),
            told(2, 58, "-1.25", "-1", "long"),
            told(5, 23, "2.5", "2", "int"),
        ]
    );
    let program = parse(source).unwrap();
    let plan = program
        .plan(&vector_add_arguments(1000), &limits())
        .unwrap();
    let of_launch = plan
        .warnings
        .iter()
        .map(|w| (w.line.unwrap(), w.column.unwrap(), w.message.clone()));
    assert_eq!(
        of_launch.collect::<Vec<_>>(),
        [told(6, 24, "1.5f", "1", "int")]
    );
}

#[test]
fn conditions_that_assign() {
    let told = |condition: &str| {
        warnings(&file(
            &format!("\n{condition} return; c[i] = a[i];"),
            "k<<<4, 256>>>(A, C, N);",
        ))
    };
    assert_eq!(
        told("if (i = n)"),
        [(2, 7, "the condition sets `i`".to_owned())]
    );
    for meant in [
        "if (i == n)",
        "if ((i = n))",
        "if (i <= n)",
        "if (int j = n)",
        "if (i != n)",
    ] {
        assert_eq!(told(meant), [], "{meant}");
    }
}

#[test]
fn text_within_quotes_is_no_code() {
    let launch = "k<<<4, 256>>>(A, C, N);";
    let silent = |body: &str| {
        assert_eq!(warnings(&file(&format!("{body} {STORE}"), launch)), []);
    };
    silent("printf(\"n: int x = 0.5; ok\");");
    silent("printf(R\"(\nint x = 0.5; \" ok\nif (i = n))\");");
    // What stands behind quotes is.
    let told = |body: &str| {
        let warnings = warnings(&file(&format!("\n{body} {STORE}"), launch));
        let [(line, column, message)] = &warnings[..] else {
            panic!("{body}: {warnings:?}")
        };
        (*line, *column, message.clone())
    };
    let cut = "`0.5` becomes 0 here, as `int` holds whole numbers".to_owned();
    assert_eq!(
        told("printf(\"http://x\"); int s = 0.5;"),
        (2, 29, cut.clone())
    );
    assert_eq!(told("char q = '\"'; int s = 0.5;"), (2, 23, cut));
}

#[test]
fn host_functions_that_device_code_calls() {
    let before = "int doubled(int x) { return 2 * x; }\nconstexpr int four() { return 4; }\n\
        __device__ int own(int x) { return x; }\n\
        __host__ __device__ int both(int x) { return doubled(x); }\n";
    let source = |call: &str| {
        let kernel = "__global__ void k(const float* a, float* c, int n) {";
        format!(
            "{before}{kernel} {call} {STORE} }}\n\
             void solve(const float* A, const float* B, float* C, int N) {{\n\
             k<<<4, 256>>>(A, C, doubled(N) / 2);\n}}\n"
        )
    };
    let message = "device code calls `doubled`, which is a host function; nvcc refuses that";
    assert_eq!(
        warnings(&source("int q = doubled(n);")),
        [(5, 62, message.to_owned())]
    );
    assert_eq!(
        warnings(&source(
            "int q = own(n) + four() + both(n); int doubled(q);"
        )),
        []
    );
}
