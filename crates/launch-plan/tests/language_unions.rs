//! Unions, and structs without a name.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::values::{refusal, value_in};
use common::{plan_of, text};

const UNIONS: &str = "union Bits { float f; unsigned u; unsigned char bytes[4]; };
    typedef union { double d; long long i; } Wide;
    union Pair { unsigned long long whole; struct { float value; int index; } parts; };
    union Both { int* address; struct { int low, high; } halves; };
    struct Tagged { int tag; Bits bits; struct { int x, y; } at; };";

#[test]
fn fields_of_a_union_hold_the_same_bytes() {
    for (statements, expression, expected) in [
        ("Bits b; b.f = 1.0f;", "b.u", "1065353216"),
        ("Bits b; b.u = 0x40000000u;", "(int)b.f", "2"),
        ("Bits b = {1.0f}; b.bytes[3] = 0x40;", "b.u >> 24", "64"),
        ("Bits b{}; b.bytes[1] = 2;", "b.u", "512"),
        ("Wide w; w.d = 1.0;", "w.i >> 52", "1023"),
        (
            "Pair p; p.parts.value = 1.0f; p.parts.index = 7;",
            "(int)(p.whole >> 32) * 10 + (p.whole == 0x73f800000ull)",
            "71",
        ),
        (
            "Both b; b.halves.low = 1; b.halves.high = 2;",
            "b.halves.high",
            "2",
        ),
        (
            "Bits a; a.u = 5; Bits b = a; b.u = 6;",
            "a.u * 10 + b.u",
            "56",
        ),
        (
            "Tagged t; t.bits.f = 1.0f; t.at.y = 3;",
            "(t.bits.u >> 23) + t.at.y",
            "130",
        ),
        (
            "Bits all[2]; all[1].u = 9; Bits* p = all;",
            "p[1].bytes[0]",
            "9",
        ),
        (
            "union { float f; int i; } u; u.f = 2.0f;",
            "u.i",
            "1073741824",
        ),
        (
            "struct { int a; int b[2]; } s = {1, {2, 3}};",
            "s.a * 100 + s.b[1]",
            "103",
        ),
        (
            "",
            "sizeof(Pair) * 1000 + sizeof(Bits) * 10 + sizeof(Tagged)",
            "8056",
        ),
    ] {
        assert_eq!(
            value_in(UNIONS, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn bytes_that_nobody_set_are_not_read() {
    let unset = "host_fault: `u` is read before it has a value";
    let union = "union { unsigned char c; unsigned u; } b;";
    assert_eq!(
        refusal(&format!("{union} b.c = 1; one<<<1, b.u>>>(C, N);")),
        unset
    );
    // A copy within a union would leave its other fields as they were.
    assert_eq!(
        refusal(
            "union { float f[2]; int i[2]; } b; cudaMemcpy(b.f, A, 8, cudaMemcpyDeviceToHost);"
        ),
        "unsupported_construct: a copy from or to a part of a union is not in the host subset"
    );
}

#[test]
fn unions_go_to_kernels_and_into_device_memory() {
    let source = format!(
        "{UNIONS}
         __global__ void k(Bits b, Pair* pairs) {{ union {{ float f; int i; }} own; own.f = b.f; }}
         void solve(const float* A, const float* B, float* C, int N) {{
             Pair* pairs; cudaMalloc(&pairs, N * sizeof(Pair)); Bits b; b.u = 3;
             k<<<1, 1>>>(b, pairs); cudaFree(pairs);
         }}"
    );
    let plan = text(&plan_of(&source, 8).unwrap());
    assert_eq!(plan, "s0 = alloc 64\nk <1x1x1, 1x1x1, 0> (3, s0)\nfree s0");
}

#[test]
fn a_union_of_device_code_alone_is_no_hindrance() {
    let source = "struct Vec { union { struct { float x, y; }; float v[2]; }; };
        union Never { float f; Never(); ~Never(); };
        __global__ void k(float* c) { Vec v; v.x = 1; c[0] = v.v[0]; }
        __device__ float g(Never* n) { return n->f; }
        void solve(const float* A, const float* B, float* C, int N) { k<<<1, 1>>>(C); }";
    assert_eq!(
        text(&plan_of(source, 8).unwrap()),
        "k <1x1x1, 1x1x1, 0> (p2)"
    );
}
