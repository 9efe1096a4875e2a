//! Host code that no compiler takes, found where it runs: line, column, text and way out.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::text;
use common::{BODY_LINE, described, failure_of, parse, plan_of, plan_text, with_body};

/// Line and column within the body, and the message.
#[track_caller]
fn error(body: &str) -> (u32, u32, String) {
    let (kind, line, column, message, hint) = failure_of(body, 100);
    assert_eq!(kind, "diagnostics", "{message}");
    assert!(!hint.is_empty(), "{message}");
    (line + 1 - BODY_LINE, column, message)
}

#[test]
fn calls_with_too_few_or_too_many_arguments() {
    for (call, message) in [
        (
            "cudaMemcpy(C, A, N * 4);",
            "`cudaMemcpy` takes 4 arguments; this call passes 3",
        ),
        (
            "cudaMemset(C, N * 4);",
            "`cudaMemset` takes 3 arguments; this call passes 2",
        ),
        (
            "cudaMemsetAsync(C, 0);",
            "`cudaMemsetAsync` takes 3 to 4 arguments; this call passes 2",
        ),
        (
            "cudaFree();",
            "`cudaFree` takes 1 argument; this call passes 0",
        ),
        (
            "cudaDeviceSynchronize(C);",
            "`cudaDeviceSynchronize` takes 0 arguments; this call passes 1",
        ),
    ] {
        assert_eq!(error(&format!("\n  {call}")), (2, 3, message.to_owned()));
    }
    let hint = failure_of("float* p; cudaMalloc(&p);", 8).4;
    assert_eq!(
        hint,
        "it is declared `cudaMalloc(void** pointer, size_t bytes)`"
    );
    // A function of the file is no call of the runtime.
    let own = "void cudaFree(int a, int b) {}\n".to_owned() + &with_body("cudaFree(1, 2);");
    assert!(plan_of(&own, 8).is_ok());
}

#[test]
fn constants_keep_their_values() {
    let told = |name: &str| format!("`{name}` is const and cannot be assigned to");
    assert_eq!(error("const int x = 3; x = 4;"), (1, 18, told("x")));
    assert_eq!(error("constexpr int x = 3; ++x;"), (1, 24, told("x")));
    assert_eq!(error("float* const p = C; p += 1;"), (1, 21, told("p")));
    assert_eq!(error("const dim3 g(2); g.x = 3;"), (1, 18, told("g")));
    let parameter = "void f(const int n) { n = 1; }\n".to_owned() + &with_body("f(3);");
    let failure = plan_of(&parameter, 8).unwrap_err();
    assert_eq!(described(&failure).3, told("n"));
    // What is const here is what is pointed to, a copy, or a variable of each turn.
    plan_text(
        "const float* p = A; p += 1; const auto* q = B; q++; const int x = 3; int y = x; y = 4;
         for (int i = 0; i < 2; ++i) { const int j = i; y += j; }
         const int* at = &x; at = &y; const float* const both[] = {p, q}; one<<<1, 1>>>(C, y);",
        100,
    );
}

#[test]
fn const_of_what_is_pointed_to_is_not_the_pointer_s() {
    let before = "typedef const float* P; using Q = const float*;
        const float* g; static const float *h, *both[2]; P p; const P fixed = nullptr; Q q;
        float* const own = nullptr; const float* const none[2] = {nullptr, nullptr};
        struct S { const float* a; P b; const float* c[2]; };
        void set(const float* x, const float*& y) { x = y; y = x; }
        struct Cell { mutable int hits; int n; int look() const { return ++hits; } };
        const Cell cell = {0, 3};\n";
    let good = "g = A; h = B; both[1] = A; p = A; q = B; S s; s.a = A; s.b = g; s.c[0] = both[1]; const float* l;
        l = A; P m; m = B; static const float* kept; kept = A; set(l, m); const float* many[2]; many[0] = B;
        const Cell c{1, 2}; c.hits = 4; cell.hits = 5; c.look(); const Cell& r = c; r.hits += 1;
        k<<<1, 1>>>(s.b, many[0], C, c.hits * 10 + cell.hits);";
    let source =
        |body: &str| with_body(body).replacen("void solve", &format!("{before}void solve"), 1);
    let plan = plan_of(&source(good), 8).map_err(|failure| failure.diagnostics);
    let launch = plan.unwrap();
    // `c.hits`: 4, one look, one more.
    assert_eq!(text(&launch), "k <1x1x1, 1x1x1, 0> (p0, p1, p2, 65)");
    for (body, name) in [
        ("fixed = A;", "fixed"),
        ("own = C;", "own"),
        ("float* const l = C; l = C;", "l"),
        ("const P m = A; m = B;", "m"),
        ("constexpr float* n = nullptr; n = C;", "n"),
        ("const Cell c{1, 2}; c.n = 4;", "c"),
        ("cell.n = 4;", "cell"),
    ] {
        let message = described(&plan_of(&source(body), 8).unwrap_err()).3;
        assert!(
            message.contains(&format!("`{name}`")) && message.contains("const"),
            "{message}"
        );
    }
}

#[test]
fn what_is_const_is_not_handed_on_for_writing() {
    // Types with names may be const of themselves.
    let named = "typedef const float cf;\ntemplate <class T> void go(T* a) { T* b = a; }\n\
                 template <class T> __global__ void kt(T* a, float* c) {}\n"
        .to_owned()
        + &with_body(
            "cf* a = A; go<const float>(A); kt<const float><<<1, 1>>>(A, C); auto x = N > 0 ? C : A; x = A;",
        );
    assert!(plan_of(&named, 8).is_ok());
    let (kind, _, column, message, hint) = failure_of("one<<<1, 1>>>(A, N);", 8);
    assert_eq!((kind.as_str(), column), ("launch_config", 15));
    assert_eq!(
        message,
        "argument 1 of `one` is a `const float*` where `float*` is expected"
    );
    assert!(
        hint.contains("its declaration: __global__ void one(float* c, int n)"),
        "{hint}"
    );
    assert_eq!(
        error("cudaMemcpy(A, C, N * 4, cudaMemcpyDeviceToDevice);").2,
        "`const float*` is written through: it points to const"
    );
    plan_text(
        "float* p = (float*)A; float* q = const_cast<float*>(B); const float* r = C; auto s = A;
         one<<<1, 1>>>(p, N); one<<<1, 1>>>((float*)s, N); tk<3><<<1, 1>>>(r, q, N);
         void* arguments[] = {(void*)&A, &N}; cudaLaunchKernel((void*)one, 1, 1, arguments, 0, 0);
         cudaMemcpy((void*)A, C, N * 4, cudaMemcpyDeviceToDevice);",
        100,
    );
}

#[test]
fn functions_return_what_they_say() {
    let void = "return value type does not match the function type";
    assert_eq!(error("return 0;"), (1, 8, void.to_owned()));
    let helper = |text: &str| {
        let source = format!("{text}\n{}", with_body("f();"));
        described(&plan_of(&source, 8).unwrap_err()).3
    };
    assert_eq!(helper("void f() { return 1 + 2; }"), void);
    assert_eq!(
        helper("int f() { return; }"),
        "`return;` in a function that returns `int`"
    );
    let nothing = "void g() {} void f() { return g(); } template <class T> T h() { return T(); }\n";
    let source = nothing.to_owned() + &with_body("f(); h<void>(); auto l = [] { return 3; }; l();");
    assert!(plan_of(&source, 8).is_ok());
}

#[test]
fn a_stream_is_the_fourth_of_a_launch() {
    assert_eq!(
        error("cudaStream_t s; cudaStreamCreate(&s); one<<<1, 1, s>>>(C, N);"),
        (
            1,
            51,
            "a stream stands where a launch takes the bytes of its dynamic shared memory"
                .to_owned()
        )
    );
}

#[test]
fn overloads_on_enumerations_are_two_functions() {
    let source = "enum class A { X }; enum class B { Y };
        int f(A a) { return 1; } int f(B b) { return 2; } int g(A a) { return 3; } int g(float x) { return 4; }\n"
        .to_owned();
    let plan = plan_of(
        &(source.clone() + &with_body("one<<<g(A::X), g(2.0f)>>>(C, N);")),
        8,
    );
    assert_eq!(
        common::text(&plan.unwrap()),
        "one <3x1x1, 4x1x1, 0> (p2, 8)"
    );
    // The host knows an enumerator by its number.
    let failure = plan_of(&(source + &with_body("f(A::X);")), 8).unwrap_err();
    assert_eq!(
        described(&failure).3,
        "the call of `f` is ambiguous: several functions of that name fit"
    );
}

#[test]
fn slips_are_found_where_they_stand() {
    let solve =
        "void solve(const float* a, const float* b, float* c, int n) { k<<<1, 1>>>(c, n); }\n";
    let place = |before: &str| {
        let failure = parse(&format!("{before}{solve}")).unwrap_err();
        let (_, line, column, _, hint) = described(&failure);
        (line, column, hint)
    };
    let broken = "__global__ void k(float* c, int n) {\n  if (n) {\n    for (int i = 0; i < n)\n    {\n      c[i] = 0;\n    }\n  }\n}\n";
    assert_eq!(
        place(broken),
        (
            3,
            0,
            "a `for` has two `;`: `for (int i = 0; i < n; ++i)`".to_owned()
        )
    );
    // However many loops there are, each byte is looked at once.
    let hostile = broken.replace(
        "if (n) {",
        &format!("if (n) {{ {}", "for(;;);\n".repeat(22_000)),
    );
    let start = std::time::Instant::now();
    assert!(plan_of(&hostile, 8).is_err());
    let taken = start.elapsed();
    assert!(taken.as_secs() < 5, "{taken:?}");
    let body = "int x = N,\n  y = 3\u{ff1b}\none<<<1, 1>>>(C, x);";
    let (_, line, column, _, hint) = failure_of(body, 8);
    assert_eq!((line + 1 - BODY_LINE, column), (2, 8));
    assert_eq!(hint, "`\u{ff1b}` is no character of C++; write `;`");
}
