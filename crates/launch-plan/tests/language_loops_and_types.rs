//! Loops over ranges, declarations in conditions, types within functions, limits.
#![allow(missing_docs)]

mod common;

use common::values::{refusal, value, value_in};

#[test]
fn range_based_for_goes_over_arrays_and_lists() {
    for (statements, expected) in [
        ("int v[3] = {1, 2, 3}; for (int x : v) s += x;", "6"),
        (
            "int v[3] = {1, 2, 3}; for (auto& x : v) x *= 2; s = v[0] + v[2];",
            "8",
        ),
        (
            "int v[3] = {1, 2, 3}; for (auto x : v) x *= 2; s = v[2];",
            "3",
        ),
        ("for (int x : {4, 5}) s += x;", "9"),
        (
            "int v[2] = {7, 8}; for (const auto& x : v) { if (x == 8) break; s = x; }",
            "7",
        ),
        (
            "int v[4] = {1, 2, 3, 4}; for (int x : v) { if (x % 2) continue; s += x; }",
            "6",
        ),
        (
            "int m[2][3] = {{1, 2, 3}, {4, 5, 6}}; for (auto& row : m) for (int x : row) s += x;",
            "21",
        ),
        ("for (float x : {1.5f, 2.5f}) s += (int)x;", "3"),
    ] {
        let statements = format!("int s = 0; {statements}");
        assert_eq!(value(&statements, "s"), expected, "{statements}");
    }
    assert_eq!(
        refusal("int x = 3; for (int y : x) {}"),
        "unsupported_construct: a range-based `for` over a value of type `int` is not in the host subset"
    );
}

#[test]
fn nothing_throws_so_that_handlers_are_never_entered() {
    for (statements, expected) in [
        (
            "try { int t = 2; s += t; } catch (const std::exception& e) { s = 100; }",
            "3",
        ),
        (
            "try { if (s == 0) throw std::runtime_error(\"zero\"); s = 5; } catch (...) { throw; }",
            "5",
        ),
        (
            "for (int i = 0; i < 4; i++) try { if (i == 2) break; s += i; } catch (...) {}",
            "2",
        ),
    ] {
        let statements = format!("int s = 1; {statements}");
        assert_eq!(value(&statements, "s"), expected, "{statements}");
    }
}

#[test]
fn streams_in_an_array_are_made_and_destroyed() {
    let body = "cudaStream_t s[2]; for (int i = 0; i < 2; i++) cudaStreamCreate(&s[i]);
                one<<<1, 1, 0, s[1]>>>(C, N); for (auto x : s) cudaStreamDestroy(x);";
    assert_eq!(common::plan_text(body, 5), "one <1x1x1, 1x1x1, 0> (p2, 5)");
}

#[test]
fn conditions_may_declare() {
    for (statements, expected) in [
        ("if (int k = N) s = k; else s = -1;", "100"),
        ("if (int k = 0) s = k; else s = -1;", "-1"),
        ("if (int k = N; k > 50) s = k;", "100"),
        ("int n = 3; while (int k = n) { s += k; --n; }", "6"),
        (
            "int n = 5; while (int k = n--) { if (k == 3) continue; s += k; if (k == 2) break; }",
            "11",
        ),
        ("switch (int k = N % 3) { case 1: s = k + 10; }", "11"),
    ] {
        let statements = format!("int s = 0; {statements}");
        assert_eq!(value(&statements, "s"), expected, "{statements}");
    }
}

#[test]
fn types_may_stand_within_functions() {
    for (statements, expression, expected) in [
        (
            "struct P { int a; int b = 4; }; P p{256};",
            "p.a + p.b",
            "260",
        ),
        ("struct P { int a; } p = {3};", "p.a", "3"),
        ("typedef struct { int a; } P; P p; p.a = 9;", "p.a", "9"),
        ("enum { T = 256, U };", "T + U", "513"),
        (
            "enum class E { A, B = 5, C }; E e = E::C;",
            "e == E::C ? (int)e : 0",
            "6",
        ),
        (
            "{ struct P { int a; }; } struct P { int b; }; P p{2};",
            "p.b",
            "2",
        ),
        (
            "using V = float; typedef int W;",
            "sizeof(V) * sizeof(W)",
            "16",
        ),
    ] {
        assert_eq!(value(statements, expression), expected, "{statements}");
    }
    let two = "int f() { struct S { int a; }; S s{1}; return s.a; }
               int g() { struct S { int b, c; }; S s{1, 2}; return s.c; }";
    assert_eq!(value_in(two, "", "f() * 10 + g()"), "12");
}

#[test]
fn decltype_and_limits() {
    for (statements, expression, expected) in [
        ("short x = 3; decltype(x) y = 70000;", "y", "4464"),
        ("float x = 1; decltype(x * 2) y = 2.5;", "(int)(y * 2)", "5"),
        ("", "std::numeric_limits<int>::max()", "2147483647"),
        ("", "std::numeric_limits<unsigned char>::max()", "255"),
        ("", "std::numeric_limits<int>::min()", "-2147483648"),
        ("", "std::numeric_limits<float>::infinity() > 1e38f", "1"),
        (
            "",
            "-std::numeric_limits<float>::max() == std::numeric_limits<float>::lowest()",
            "1",
        ),
        (
            "using T = long;",
            "std::numeric_limits<T>::max() == LONG_MAX",
            "1",
        ),
        ("", "std::numeric_limits<int>::digits", "31"),
    ] {
        assert_eq!(
            value(statements, expression),
            expected,
            "{statements}{expression}"
        );
    }
}

#[test]
fn arrays_of_arrays_have_rows() {
    for (statements, expression, expected) in [
        (
            "int m[2][3] = {{1, 2, 3}, {4}};",
            "m[0][2] * 10 + m[1][0] + m[1][1]",
            "34",
        ),
        (
            "int m[3][4]; m[2][3] = 7; int* p = m[2]; p += 3;",
            "*p",
            "7",
        ),
        ("int m[3][4];", "sizeof(m) * 1000 + sizeof(m[0])", "48016"),
        (
            "struct S { int a[4]; } s = {{1, 2, 3}}; int* p = s.a; p[3] = 5;",
            "s.a[2] + s.a[3]",
            "8",
        ),
        (
            "struct S { float w[2][2]; }; S s{}; s.w[1][0] = 2;",
            "(int)(s.w[1][0] + s.w[0][1])",
            "2",
        ),
    ] {
        assert_eq!(value(statements, expression), expected, "{statements}");
    }
    assert_eq!(
        refusal("int m[2][3]; m[1][3] = 0;"),
        "host_fault: element 3 of a `int[3]` of 3 is accessed"
    );
    assert_eq!(
        refusal("float big[3000000]; big[0] = 1;"),
        "fuel: host memory of 3000004 elements in all; the limit is 1048576"
    );
}

#[test]
fn arrays_of_pointers_from_new() {
    assert_eq!(
        value(
            "float** rows = new float*[3]; rows[1] = new (std::nothrow) float[2]; rows[1][1] = 2.5f;
             float r = rows[1][1] * sizeof(rows[0]); delete[] rows[1]; delete[] rows;",
            "r"
        ),
        "20"
    );
    assert_eq!(
        value(
            "int n = 3; auto p = new std::vector<int>*[2]; const unsigned char** q = new const unsigned char*[n];
             unsigned char c = 7; q[2] = &c; int*** deep = new int**; int* x = &n; *deep = &x; delete[] p;",
            "*q[2] * **deep[0]"
        ),
        "21"
    );
}

#[test]
fn annotations_of_lambdas_mean_nothing_to_the_host() {
    assert_eq!(
        value(
            "int a[2] = {3, 4}; auto f = [=] __host__ __device__ (int x) { return a[1] * x; }; auto g = [] __device__ { return 5; };",
            "f(2) + g()"
        ),
        "13"
    );
}

#[test]
fn errors_are_checked_with_their_place() {
    assert_eq!(
        value_in(
            "#define CHECK(call) check((call), __FILE__, __LINE__, __func__)
             int check(cudaError_t code, const char* file, int line, const char* name, bool stop = true) {
                 if (code != cudaSuccess) { fprintf(stderr, \"%s %s:%d\\n\", cudaGetErrorString(code), file, line); if (stop) exit(code); }
                 return line;
             }",
            "float* p;\n int a = CHECK(cudaMalloc(&p, 4)); int b = CHECK(\ncudaFree(p)); int c = __LINE__;",
            "(b - a) * 10 + c - a"
        ),
        "1"
    );
}

#[test]
fn what_new_makes_has_the_values_that_are_written() {
    for (statements, expression, expected) in [
        ("float* p = new float[N * 2]();", "p[0] + p[N * 2 - 1]", "0"),
        (
            "int* p = new int[4]{3, 4};",
            "p[0] * 100 + p[1] * 10 + p[3]",
            "340",
        ),
        (
            "int* p = new int(7); int* q = new int{}; int* r = new int();",
            "*p * 100 + *q * 10 + *r",
            "700",
        ),
        (
            "struct S { int a; int b = 5; }; S* p = new S{2}; S* q = new S();",
            "p->a * 100 + p->b * 10 + q->b",
            "255",
        ),
        (
            "float4* p = new float4[2]();",
            "p[1].w + alignof(float4) + alignof(short) * 100",
            "216",
        ),
    ] {
        assert_eq!(value(statements, expression), expected, "{statements}");
    }
    assert!(refusal("float* p = new float[2]; float x = p[0];").contains("before it has a value"));
    assert_eq!(
        value(
            "float m = -__FLT_MAX__;",
            "m == -FLT_MAX && __INT_MAX__ == INT_MAX && sizeof(__uint32_t) == 4"
        ),
        "1"
    );
}

#[test]
fn what_would_be_kept_from_call_to_call_starts_anew() {
    let source = "static float* buffer = nullptr;
size_t capacity = 0;
int calls() { static int count = 3; return ++count; }
void solve(const float* A, const float* B, float* C, int N) {
    static float* workspace;
    if (!workspace) cudaMalloc(&workspace, 16);
    if (capacity < N) { cudaFree(buffer); cudaMalloc(&buffer, N * 4); capacity = N; }
    if (capacity < N) cudaMalloc(&buffer, 1);
    calls();
    two<<<1, 1>>>(buffer, workspace, calls());
}
__global__ void two(float* a, float* b, int n) {}";
    let first = common::plan_of(source, 8).unwrap();
    assert_eq!(
        common::text(&first),
        "s0 = alloc 16\ns1 = alloc 32\ntwo <1x1x1, 1x1x1, 0> (s1, s0, 5)"
    );
    let told: Vec<(u32, &str)> = first
        .warnings
        .iter()
        .map(|w| (w.line.unwrap(), w.message.as_str()))
        .collect();
    assert_eq!(
        told[..4],
        [
            (5, "`workspace` has its first value again at every call"),
            (1, "`buffer` has its first value again at every call"),
            (2, "`capacity` has its first value again at every call"),
            (3, "`count` has its first value again at every call"),
        ]
    );
    let second = common::plan_of(source, 8).unwrap();
    assert_eq!(common::text(&second), common::text(&first));
}
