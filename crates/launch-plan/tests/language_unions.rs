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
    // What comes from the device is read back into whole variables.
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

const UNNAMED: &str = "struct Value { int tag; union { float f; int i; }; };
    struct Vec4 { union { struct { float x, y, z, w; }; float v[4]; }; };
    struct Counted { union { unsigned u; unsigned char b[4]; }; int n = 3;
        Counted(unsigned first) : u(first) {} int low() const { return b[0] + n; } };
    union Loose { struct { char a; int b; } s; unsigned u[2]; unsigned char c[8]; };
    union Number { float f; unsigned u; };
    struct Point { int x, y = 5, z; };";

#[test]
fn fields_of_structs_and_unions_without_a_name_are_those_around_them() {
    for (statements, expression, expected) in [
        (
            "Value v; v.tag = 1; v.f = 1.0f;",
            "v.i + v.tag",
            "1065353217",
        ),
        ("Value v = {2, {1.0f}};", "v.i + v.tag", "1065353218"),
        ("Value v = {2, 1.0f};", "v.i + v.tag", "1065353218"),
        ("Value v{}; Value* p = &v; p->i = 7;", "p->i + v.tag", "7"),
        ("Value v{}; Value w = v; w.i = 4;", "v.i * 10 + w.i", "4"),
        ("Counted c(0x201u);", "c.low() * 10 + c.b[1]", "42"),
        ("", "sizeof(Value) * 100 + sizeof(Vec4)", "816"),
    ] {
        assert_eq!(
            value_in(UNNAMED, statements, expression),
            expected,
            "{statements}"
        );
    }
    // A union within a union's struct is none of ours; floats in an array are.
    assert_eq!(
        value_in(
            UNNAMED,
            "Vec4 p; p.x = 1; p.y = 2; p.z = 3; p.w = 4; float s = 0; for (int i = 0; i < 4; ++i) s += p.v[i];",
            "(int)s"
        ),
        "10"
    );
}

#[test]
fn bytes_between_fields_belong_to_the_others() {
    for (statements, expression, expected) in [
        // The three bytes after `a` are not `a`'s.
        (
            "Loose l; l.u[0] = 0x01020304; l.u[1] = 0; l.s.a = 9;",
            "l.u[0]",
            "16909065",
        ),
        // One byte of `b` is set, and setting `a` leaves it so.
        (
            "Loose l; l.c[4] = 1; l.s.a = 7;",
            "l.c[4] * 10 + l.s.a",
            "17",
        ),
        (
            "Loose l; for (int i = 0; i < 8; ++i) l.c[i] = i;",
            "l.s.b",
            "117835012",
        ),
    ] {
        assert_eq!(
            value_in(UNNAMED, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn fields_are_given_by_name() {
    for (statements, expression, expected) in [
        (
            "Point p = {.x = 1, .z = 2};",
            "p.x * 100 + p.y * 10 + p.z",
            "152",
        ),
        ("Point p{.y = 7};", "p.x * 100 + p.y * 10 + p.z", "70"),
        ("Number n = {.u = 0x40000000u};", "(int)n.f", "2"),
        ("Value v = {.tag = 3, .i = 4};", "v.tag * 10 + v.i", "34"),
    ] {
        assert_eq!(
            value_in(UNNAMED, statements, expression),
            expected,
            "{statements}"
        );
    }
    assert_eq!(
        refusal("struct P { int x; }; P p = {.y = 1}; one<<<1, 1>>>(C, N);"),
        "diagnostics: `P` has no field `y`"
    );
}

#[test]
fn memcpy_moves_bytes() {
    for (statements, expression, expected) in [
        (
            "float f = 1.0f; int i; memcpy(&i, &f, sizeof(i));",
            "i",
            "1065353216",
        ),
        (
            "double d = 1.0; long long i; std::memcpy(&i, &d, sizeof d);",
            "i >> 52",
            "1023",
        ),
        (
            "Number n; float f = 2.0f; memcpy(&n, &f, 4);",
            "n.u >> 24",
            "64",
        ),
        (
            "Number n; n.u = 5; unsigned u; memcpy(&u, &n.u, 4);",
            "u",
            "5",
        ),
        (
            "Number n; n.u = 5; unsigned v = 6; memcpy(&n.u, &v, sizeof v); float f = n.f; memcpy(&v, &f, 4);",
            "v",
            "6",
        ),
        (
            "Point p = {1, 2, 3}; int a[3]; memcpy(a, &p, sizeof(p));",
            "a[0] * 100 + a[1] * 10 + a[2]",
            "123",
        ),
        (
            "Loose l; unsigned char b[8] = {1, 2, 3, 4, 5, 0, 0, 0}; memcpy(&l, b, 8);",
            "l.s.b * 10 + l.s.a",
            "51",
        ),
        (
            "Number a, b; a.f = 1.0f; memcpy(&b, &a, sizeof(Number));",
            "b.u >> 23",
            "127",
        ),
        (
            "short s = 0x0102; unsigned char b[2]; memcpy(b, &s, 1); b[1] = 0;",
            "b[0]",
            "2",
        ),
    ] {
        assert_eq!(
            value_in(UNNAMED, statements, expression),
            expected,
            "{statements}"
        );
    }
    assert_eq!(
        refusal("int a = 1; long long b; memcpy(&b, &a, 8); one<<<1, 1>>>(C, N);"),
        "host_fault: 8 bytes are copied from or to host memory that has fewer"
    );
}

#[test]
fn unions_within_unions_hold_the_same_bytes() {
    let unions = "union Inner { float f; unsigned u; }; union Outer { Inner in; unsigned char b[4]; struct { short lo, hi; } h; };
        union Part { union { char c; int i; } in; short s; };";
    for (statements, expression, expected) in [
        (
            "Outer o; o.in.f = 1.0f;",
            "o.b[3] * 100000 + o.h.hi",
            "6316256",
        ),
        ("Outer o; o.in.f = 1.0f; o.b[3] = 0x40;", "(int)o.in.f", "4"),
        (
            "Outer o; o.h.lo = 0; o.h.hi = 0x4000;",
            "o.in.u >> 24",
            "64",
        ),
        (
            "Part p; p.in.i = 0x01020304; p.s = 0x0506;",
            "p.in.i",
            "16909574",
        ),
        ("Part p; p.in.i = 0; p.in.c = 7;", "p.s", "7"),
    ] {
        assert_eq!(
            value_in(unions, statements, expression),
            expected,
            "{statements}"
        );
    }
    // Of the four bytes two are set.
    let source = format!(
        "{unions} __global__ void k(Part p) {{}}
         void solve(const float* A, const float* B, float* C, int N) {{ Part p; p.s = 0x0102; k<<<1, 1>>>(p); }}"
    );
    let plan = text(&plan_of(&source, 8).unwrap());
    assert_eq!(plan, "k <1x1x1, 1x1x1, 0> (258)");
}
