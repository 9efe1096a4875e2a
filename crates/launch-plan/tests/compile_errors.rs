//! What no C++ compiler takes, and what would be read amiss: kind, line and text.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{described, failure_of, parse, plan_of, with_body};

const SOLVE: &str = "void solve(const float* a, const float* b, float* c, int n) {}\n";

/// Checks the failure of a whole file.
#[track_caller]
fn refuses(source: &str, kind: &str, line: u32, message: &str) {
    let Err(failure) = parse(source) else {
        panic!("it was read: {source}");
    };
    let (found_kind, found_line, _, found_message, _) = described(&failure);
    assert_eq!(
        (found_kind.as_str(), found_line, found_message.as_str()),
        (kind, line, message),
        "{source}"
    );
}

#[track_caller]
fn reads(source: &str) {
    if let Err(failure) = plan_of(source, 8) {
        panic!("{failure}\n{source}");
    }
}

#[test]
fn a_second_definition_names_both_lines() {
    let twice = |name: &str, what: &str, first: u32| {
        format!("{what} \"{name}\" has already been defined (previous definition at line {first})")
    };
    refuses(
        &format!("{SOLVE}{SOLVE}"),
        "diagnostics",
        2,
        &twice("solve", "function", 1),
    );
    let other_names =
        "using R = float;\nvoid solve(const R* x, float const* y, float z[], const int k) {}\n";
    refuses(
        &format!("{SOLVE}{other_names}"),
        "diagnostics",
        3,
        &twice("solve", "function", 1),
    );
    let helper = "static int half_of(int n) { return n / 2; }\n";
    refuses(
        &format!("{helper}{SOLVE}{helper}"),
        "diagnostics",
        3,
        &twice("half_of", "function", 1),
    );
    let kernel = "__global__ void k(float* c, int n) {}\n";
    refuses(
        &format!("{kernel}\n{kernel}{SOLVE}"),
        "diagnostics",
        3,
        &twice("k", "function", 1),
    );
    let spaces = "namespace a { void f(int) {} }\nnamespace a { void f(int) {} }\n";
    refuses(
        &format!("{spaces}{SOLVE}"),
        "diagnostics",
        2,
        &twice("a::f", "function", 1),
    );
    let mixed = "__device__ int f(int n) { return n; }\nint f(int n) { return n; }\n";
    refuses(
        &format!("{mixed}{SOLVE}"),
        "diagnostics",
        2,
        &twice("f", "function", 1),
    );
    refuses(
        &format!("const int N = 1;\n{SOLVE}const int N = 2;\n"),
        "diagnostics",
        3,
        &twice("N", "variable", 1),
    );
    let (kind, line, column, message, _) = failure_of("int x = 1;\nint x = 2;", 8);
    assert_eq!((kind.as_str(), line, column), ("diagnostics", 9, 5));
    assert_eq!(
        message,
        "\"x\" has already been declared in the current scope"
    );
}

#[test]
fn what_may_be_written_again_is_read() {
    for text in [
        "int f(int); int f(int); int f(int n) { return n; }",
        "int f(int) { return 1; } int f(float) { return 2; } int f(int*) { return 3; }",
        "int f(const int*) { return 1; } int f(int*) { return 2; }",
        "int f(int&) { return 1; } int f(int&&) { return 2; }",
        "template <int N> int f() { return N; } template <> int f<3>() { return 0; }",
        "template <class T> int f(T) { return 1; } template <class T> int f(T*) { return 2; }",
        "namespace a { int f(int) { return 1; } } int f(int) { return 2; }",
        "enum class A { X }; enum class B { X };",
        "extern int n_of; int n_of = 3;",
        "int f(cudaError_t) { return 1; } int f(int) { return 2; }",
        "#if 1\nint f(int) { return 1; }\n#else\nint f(int) { return 2; }\n#endif",
        "struct S; struct S { int x; };",
    ] {
        reads(&format!("{text}\n{SOLVE}"));
    }
    reads(&with_body(
        "for (int i = 0; i < 2; ++i) { int x = i; } int x = 1; { int x = 2; }",
    ));
}

#[test]
fn text_without_its_end() {
    let message = |what: &str| format!("a {what} without its end");
    refuses(
        &format!("{SOLVE}/* open\n"),
        "diagnostics",
        2,
        &message("comment"),
    );
    refuses(
        &format!("\n/* open /\n{SOLVE}"),
        "diagnostics",
        2,
        &message("comment"),
    );
    let string = "const char* s = \"abc;\n";
    refuses(
        &format!("{string}{SOLVE}"),
        "diagnostics",
        1,
        &message("string literal"),
    );
    let raw = "\nconst char* s = R\"x(abc)\";\n";
    refuses(
        &format!("{raw}{SOLVE}"),
        "diagnostics",
        2,
        &message("raw string literal"),
    );
    refuses(
        &format!("{SOLVE}char c = 'a;\n"),
        "diagnostics",
        2,
        &message("character literal"),
    );
    refuses(
        &format!("#if 1\n#ifdef X\n#endif\n{SOLVE}"),
        "diagnostics",
        1,
        "an `#if` without its `#endif`",
    );
    for (line, name) in [("#endif", "endif"), ("#else", "else"), ("#elif 1", "elif")] {
        let message = format!("an `#{name}` without an `#if` that it belongs to");
        refuses(&format!("{SOLVE}{line}\n"), "diagnostics", 2, &message);
    }
    refuses(
        &format!("#if 0\n#else\n#else\n#endif\n{SOLVE}"),
        "diagnostics",
        3,
        "an `#else` without an `#if` that it belongs to",
    );
    // What is never read, and what is closed after all.
    reads(&format!("#if 0\ndon't \"\n#endif\n#define Q '\n{SOLVE}"));
    reads(&format!(
        "const char* s = \"a\\\nb\"; const char* r = R\"(\n\"\n)\";\n{SOLVE}"
    ));
}

#[test]
fn digraphs_are_read_and_trigraphs_are_not() {
    let source = "%:define N 4\n__global__ void k(float* c) <% %>\n\
        void solve(const float* a, const float* b, float* c, int n) <%\n\
        int g<:2:> = <% N, n %>; k<<<g<:0:>, 1>>>(c); %>\n";
    let plan = plan_of(source, 8).unwrap();
    assert_eq!(common::text(&plan), "k <4x1x1, 1x1x1, 0> (p2)");
    // `??/` at the end of a line would swallow the next one.
    reads(&format!("// what??/\n{SOLVE}"));
}

#[test]
fn nesting_without_measure_is_named() {
    let body = |open: &str, count: usize| with_body(&open.repeat(count));
    let kind = "unsupported_construct";
    let brackets = "brackets nested more than 256 levels deep";
    refuses(&body("{", 20_000), kind, 8, brackets);
    refuses(&body("{", 300), kind, 8, brackets);
    refuses(&body("f(", 20_000), kind, 8, brackets);
    refuses(&body("x[\n", 300), kind, 8 + 255, brackets);
    refuses(
        &body("a<", 60_000),
        kind,
        8,
        "`<` nested more than 256 levels deep",
    );
    let started = std::time::Instant::now();
    assert!(parse(&format!("int z = {}1;\n{SOLVE}", "a<".repeat(125_000))).is_err());
    assert!(parse(&format!("int z = {};\n{SOLVE}", "a<b ".repeat(60_000))).is_err());
    assert!(
        started.elapsed().as_secs_f64() < 1.0,
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_dim3_of_named_constants_is_a_variable() {
    let planned = |globals: &str, body: &str| {
        let source = format!(
            "{globals}\n__global__ void k(float* c) {{}}\n\
             void solve(const float* A, const float* B, float* C, int N) {{ {body} }}\n"
        );
        match plan_of(&source, 8) {
            Ok(plan) => common::text(&plan),
            Err(failure) => panic!("{failure}\n{source}"),
        }
    };
    let expected = "k <2x1x1, 16x16x1, 0> (p2)";
    for globals in [
        "constexpr int TILE = 16; const dim3 b(TILE, TILE);",
        "#define TILE 16\nconst dim3 b(TILE, TILE);",
        "enum { TILE = 16 }; const dim3 b(TILE, TILE);",
        "namespace n { constexpr int TILE = 16; } const dim3 b(n::TILE, n::TILE);",
        "constexpr int TILE = 16; const dim3 other(1), b(TILE, TILE);",
        "constexpr int TILE = 4; const dim3 b(TILE * TILE, TILE * TILE);",
        "constexpr int tile() { return 16; } const dim3 b(tile(), tile());",
    ] {
        assert_eq!(planned(globals, "k<<<2, b>>>(C);"), expected, "{globals}");
    }
    // Prototypes stay prototypes.
    for prototype in [
        "int f(float4);",
        "struct S {}; int f(S);",
        "typedef int I; int f(I, I);",
    ] {
        let source = format!("{prototype}\n{SOLVE}");
        reads(&source);
        let called = format!(
            "{prototype}\nvoid solve(const float* a, const float* b, float* c, int n) {{ int x = f; }}\n"
        );
        let (_, _, _, message, _) = described(&plan_of(&called, 8).unwrap_err());
        assert_eq!(
            message, "`f` is not known to the host interpreter",
            "{prototype}"
        );
    }
}

#[test]
fn control_characters_of_a_source_are_not_repeated() {
    let failure = parse("void solve(float* a /* \u{1b}[31m\u{202e} */) {}\n").unwrap_err();
    let (_, _, _, _, hint) = described(&failure);
    assert!(
        hint.ends_with("found: void solve(float* a /* \u{fffd}[31m\u{fffd} */)"),
        "{hint}"
    );
}

#[test]
fn text_that_is_not_cpp_is_a_compile_error() {
    let cases = [
        (
            "void solve(const float* a, const float* b, float* c, int n) {\n  int x = ;\n}",
            2,
        ),
        (
            "void solve(const float* a, const float* b, float* c, int n) {\n  k<<<1, 1>>>(a\n}",
            2,
        ),
        (
            "void solve(const float* a, const float* b, float* c, int n {\n}",
            1,
        ),
    ];
    for (source, line) in cases {
        let failure = parse(source).unwrap_err();
        let (kind, found, _, message, _) = described(&failure);
        assert_eq!(
            (kind.as_str(), found),
            ("diagnostics", line),
            "{source}: {message}"
        );
        assert_eq!(failure.diagnostics[0].stage, domain::Stage::Compile);
        assert_eq!(failure.verdict(), domain::Verdict::CompileError);
        assert!(message.starts_with("syntax error"), "{message}");
    }
    let mut bomb = String::from("#define A0 x x\n");
    for level in 1..30 {
        bomb += &format!("#define A{level} A{0} A{0}\n", level - 1);
    }
    let failure = parse(&format!("{bomb}A29\n")).unwrap_err();
    assert_eq!(described(&failure).0, "compile_limit");
}
