//! Mistakes, and the messages that explain them.

use domain::Severity;

use super::{errors, first_error};
use crate::compile;

pub fn syntax_error() {
    let error = first_error(
        "__global__ void k(float* a) {\n    a[0] = 1\n    a[1] = 2;\n}\n",
        &[],
    );
    assert_eq!((error.line, error.column), (Some(3), Some(5)));
    assert_eq!(error.message, "expected a \";\"");
    // CRLF and tabs count as bytes.
    let error = first_error(
        "__global__ void k(float* a) {\r\n\tif (1) {\ta[0] = y; }\r\n}\r\n",
        &[],
    );
    assert_eq!((error.line, error.column), (Some(2), Some(18)));
}

pub fn unknown_name() {
    let error = first_error(
        "__device__ void f(float** p) {\n  cudaMalloc(p, 4);\n}\n",
        &[],
    );
    assert_eq!((error.line, error.column), (Some(2), Some(3)));
    assert!(error.hint.unwrap().contains("solve"));
    let diagnostics = errors("__global__ void k(half* a) {}", &[]);
    let hints: Vec<&str> = diagnostics
        .iter()
        .filter_map(|d| d.hint.as_deref())
        .collect();
    assert_eq!(hints, ["#include <cuda_fp16.h>"], "{diagnostics:?}");
}

pub fn missing_global() {
    let error = first_error("void k(int* a) { a[threadIdx.x] = 1; }", &["k"]);
    assert!(
        error.hint.unwrap().contains("__global__"),
        "{}",
        error.message
    );
}

pub fn launch_in_device_code() {
    let error = first_error(
        "__global__ void k() {}\n__global__ void f() {\n  k<<<1, 1>>>();\n}\n",
        &[],
    );
    assert_eq!(error.line, Some(3));
    assert!(error.hint.unwrap().contains("solve"), "{}", error.message);
}

pub fn unknown_header() {
    let error = first_error("\n#include \"my_helpers.cuh\"\nint x = helped();\n", &[]);
    assert_eq!(error.line, Some(2));
    assert!(error.hint.unwrap().contains("one file"));
}

pub fn warnings() {
    let compiled = compile(
        "__global__ void k(int* a) {\n  int unused;\n  a[0] = 1;\n}\n",
        &[],
    )
    .unwrap();
    assert_eq!(compiled.diagnostics.len(), 1, "{:?}", compiled.diagnostics);
    let warning = &compiled.diagnostics[0];
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!((warning.line, warning.column), (Some(2), Some(7)));
}

pub fn shared_memory() {
    let source = "__global__ void stride(int* a) {\n\
                  __shared__ int s[100000]; s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[0] = s[a[1]]; }";
    let error = first_error(source, &[]);
    assert!(error.message.contains("'stride'"), "{}", error.message);
    assert!(error.hint.unwrap().contains("extern __shared__"));
}

/// Between what `nvcc` admits and what a block of this device can have at most.
pub fn static_limits() {
    let source = "__global__ void stride(float* a) {\n\
                  __shared__ float s[20000]; s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[0] = s[int(a[1])]; }";
    let error = first_error(source, &[]);
    assert_eq!(
        error.message,
        "kernel 'stride' uses too much shared data: 80000 bytes a block; the limit is 49152"
    );
    assert!(error.hint.unwrap().contains("extern __shared__"));
    let source = "__global__ void deep(float* a) {\n\
                  float x[200000]; x[int(a[0])] = 1; x[threadIdx.x] = 2; a[0] = x[int(a[1])]; }";
    let error = first_error(source, &[]);
    assert_eq!(
        error.message,
        "kernel 'deep' uses too much local data: 800000 bytes a thread; the limit is 524288"
    );
    let fits = "__global__ void fits(float* a) {\n\
                __shared__ float s[12288]; s[threadIdx.x] = a[0]; __syncthreads(); a[0] = s[int(a[1])]; }";
    let compiled = compile(fits, &[]).unwrap();
    assert_eq!(compiled.kernels[0].static_shared_bytes, 49_152);
}

pub fn control_characters() {
    let error = first_error("#error \"\u{1b}[31mred\u{7}\"\n", &[]);
    assert_eq!(error.line, Some(1));
    assert_eq!(
        error.message,
        "#error directive: \"\u{fffd}[31mred\u{fffd}\""
    );
}

/// NVRTC alone crashes on this.
pub fn forgotten_header() {
    let source = "template <int N> __global__ void k(half* a) {\n  a[0] = N;\n}\n";
    let diagnostics = errors(source, &["k<4>"]);
    let undeclared = diagnostics.iter().find(|d| d.message.contains("\"half\""));
    let undeclared = undeclared.unwrap();
    assert_eq!((undeclared.line, undeclared.column), (Some(1), Some(36)));
    assert_eq!(undeclared.hint.as_deref(), Some("#include <cuda_fp16.h>"));
}
