//! Functions of one name: which one a launch or call means, or that it cannot be told.
#![allow(missing_docs)]

mod common;

use common::{described, plan_of};

/// The plan of `solve(A, B, C, N)` after some declarations, as text.
fn planned(declarations: &str, body: &str) -> Result<String, (String, String)> {
    let source = format!(
        "{declarations}\nvoid solve(const float* A, const float* B, float* C, int N) {{\n{body}\n}}\n"
    );
    match plan_of(&source, 8) {
        Ok(plan) => Ok(common::text(&plan)),
        Err(failure) => {
            let (kind, _, _, message, _) = described(&failure);
            Err((kind, message))
        }
    }
}

#[test]
fn kernels_are_chosen_by_the_types_of_the_arguments() {
    let two = "__global__ void k(int* c, int n) {}\n__global__ void k(float* c, int n) {}";
    assert_eq!(
        planned(two, "k<<<1, 1>>>(C, N);").unwrap(),
        "static_cast<void (*)(float*, int)>(k) <1x1x1, 1x1x1, 0> (p2, 8)"
    );
    assert_eq!(
        planned(two, "k<<<1, 1>>>((int*)C, N);").unwrap(),
        "static_cast<void (*)(int*, int)>(k) <1x1x1, 1x1x1, 0> (p2, 8)"
    );
    let constant = "__global__ void k(const float* c) {}\n__global__ void k(float* c) {}";
    assert_eq!(
        planned(constant, "k<<<1, 1>>>(A); k<<<1, 1>>>(C);").unwrap(),
        "static_cast<void (*)(const float*)>(k) <1x1x1, 1x1x1, 0> (p0)\n\
         static_cast<void (*)(float*)>(k) <1x1x1, 1x1x1, 0> (p2)"
    );
    let counts = "__global__ void k(float* c) {}\n__global__ void k(float* c, int n) {}";
    assert_eq!(
        planned(counts, "k<<<1, 1>>>(C);").unwrap(),
        "static_cast<void (*)(float*)>(k) <1x1x1, 1x1x1, 0> (p2)"
    );
    let promoted =
        "__global__ void k(float* c, double x) {}\n__global__ void k(float* c, int x) {}";
    assert_eq!(
        planned(promoted, "short s = 3; k<<<1, 1>>>(C, s);").unwrap(),
        "static_cast<void (*)(float*, int)>(k) <1x1x1, 1x1x1, 0> (p2, 3)"
    );
    let template = "template <class T> __global__ void k(T* c) {}\n__global__ void k(float* c) {}";
    assert_eq!(
        planned(
            template,
            "k<<<1, 1>>>(C); k<<<1, 1>>>((int*)C); k<float><<<1, 1>>>(C);"
        )
        .unwrap(),
        "static_cast<void (*)(float*)>(k) <1x1x1, 1x1x1, 0> (p2)\n\
         static_cast<void (*)(int*)>(k<int>) <1x1x1, 1x1x1, 0> (p2)\n\
         static_cast<void (*)(float*)>(k<float>) <1x1x1, 1x1x1, 0> (p2)"
    );
    let kinds = "template <class T> __global__ void k(float* c) {}\n\
        template <int B> __global__ void k(float* c) {}";
    assert_eq!(
        planned(kinds, "k<32><<<1, 1>>>(C);").unwrap(),
        "static_cast<void (*)(float*)>(k<32>) <1x1x1, 1x1x1, 0> (p2)"
    );
    let prototype = "__global__ void k(float* c, int n);\n__global__ void k(float* x, int m) {}";
    assert_eq!(
        planned(prototype, "k<<<1, 1>>>(C, N);").unwrap(),
        "k <1x1x1, 1x1x1, 0> (p2, 8)"
    );
}

#[test]
fn what_cannot_be_told_is_ambiguous() {
    let refused = |declarations: &str, body: &str| planned(declarations, body).unwrap_err();
    let unsupported = "unsupported_construct".to_owned();
    let crossed = "__global__ void k(float* c, long n) {}\n__global__ void k(float* c, float n) {}";
    let ambiguous = "the launch of `k` is ambiguous: several kernels of that name fit".to_owned();
    assert_eq!(
        refused(crossed, "k<<<1, 1>>>(C, N);"),
        (unsupported.clone(), ambiguous.clone())
    );
    let opaque = "__global__ void k(Foo<int> x) {}\n__global__ void k(Foo<float> x) {}";
    assert_eq!(
        refused(opaque, "k<<<1, 1>>>(N);"),
        (unsupported.clone(), ambiguous)
    );
    let two = "__global__ void k(int* c, int n) {}\n__global__ void k(float* c, int n) {}";
    assert_eq!(
        refused(two, "k<<<1, 1>>>((double*)C, N);"),
        (
            "launch_config".to_owned(),
            "none of the 2 kernels called `k` takes these arguments".to_owned()
        )
    );
    assert_eq!(
        refused(two, "auto f = k; f<<<1, 1>>>(C, N);"),
        (
            unsupported.clone(),
            "`k` is ambiguous: several kernels are called `k`".to_owned()
        )
    );
    let host = "int f(long x) { return 1; }\nint f(float x) { return 2; }";
    assert_eq!(
        refused(host, "int x = f(N);"),
        (
            unsupported,
            "the call of `f` is ambiguous: several functions of that name fit".to_owned()
        )
    );
}

#[test]
fn host_functions_are_chosen_by_the_types_of_the_arguments() {
    let kernel = "__global__ void k(float* c, int n) {}\n";
    let chosen = |functions: &str, call: &str| {
        planned(
            &format!("{kernel}{functions}"),
            &format!("k<<<1, 1>>>(C, {call});"),
        )
        .unwrap()
    };
    let expected = |value: i32| format!("k <1x1x1, 1x1x1, 0> (p2, {value})");
    let scalars =
        "int f(float x) { return 1; }\nint f(int x) { return 2; }\nint f(double x) { return 3; }";
    for (call, value) in [("f(1.0f)", 1), ("f(N)", 2), ("f('a')", 2), ("f(2.0)", 3)] {
        assert_eq!(chosen(scalars, call), expected(value), "{call}");
    }
    let pointers = "int f(const float*) { return 1; }\nint f(float*) { return 2; }\nint f(void*) { return 3; }";
    for (call, value) in [("f(A)", 1), ("f(C)", 2), ("f((int*)C)", 3)] {
        assert_eq!(chosen(pointers, call), expected(value), "{call}");
    }
    // A reference binds to variables alone; by value, the caller's stays what it was.
    let references = "int f(int& x) { x = 5; return 1; }\nint f(float x) { x = 7; return 2; }";
    assert_eq!(chosen(references, "f(N) + 10 * N"), expected(51));
    let by_value = "int f(int x) { x = 5; return 1; }\nint f(float& x) { return 2; }";
    assert_eq!(chosen(by_value, "f(N) + 10 * N"), expected(81));
    let template = "template <class T> int f(T x) { return 1; }\nint f(int x) { return 2; }";
    for (call, value) in [("f(N)", 2), ("f(1.5f)", 1), ("f<int>(N)", 1)] {
        assert_eq!(chosen(template, call), expected(value), "{call}");
    }
}
