//! Files that would take without measure: time, memory, depth.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::bounds::{MEMORY_BYTES, address_space};
use common::{described, failure_of, parse, plan_of, refuses, with_body};

#[test]
fn work_without_end() {
    refuses(
        "int i = 0;\nwhile (true) { i = 1 - i; }",
        "fuel",
        2,
        24,
        "the host function takes more than 1000000 steps",
    );
    refuses(
        "for (int i = 0; i < 5000; ++i)\n  one<<<1, 1>>>(C, i);",
        "fuel",
        2,
        3,
        "the plan has more than 4096 kernel launches",
    );
    refuses(
        "for (int i = 0; i < 5000; ++i) {\n  float* p;\n  cudaMalloc(&p, 16);\n  cudaFree(p);\n}",
        "fuel",
        3,
        3,
        "the plan has more than 4096 device allocations",
    );
    refuses(
        "float* h = new float[10000000];",
        "fuel",
        1,
        12,
        "host memory of 10000004 elements in all; the limit is 1048576",
    );
    let source = "int f(int n) {\n  return f(n + 1);\n}\n\
        void solve(const float* a, const float* b, float* c, int n) { f(n); }";
    let (kind, line, _, message, hint) = described(&plan_of(source, 1).unwrap_err());
    assert_eq!((kind.as_str(), line), ("fuel", 2));
    assert_eq!(message, "host code nests more than 400 levels deep");
    assert_eq!(hint, "is there a recursion without an end?");
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let deep = |open: &str, close: &str, count: usize| {
        format!("int x = {}1{};", open.repeat(count), close.repeat(count))
    };
    for body in [
        deep("(", ")", 20_000),
        deep("-", "", 20_000),
        deep("f(", ")", 20_000),
        format!("int x = 1{};", " + 1".repeat(20_000)),
        format!(
            "{}one<<<1, 1>>>(C, N);{}",
            "{".repeat(20_000),
            "}".repeat(20_000)
        ),
        format!("{} ;", "if (N) ".repeat(20_000)),
        format!(
            "std::vector<{}int{}> v;",
            "std::vector<".repeat(5_000),
            ">".repeat(5_000)
        ),
        format!("float {}p;", "*".repeat(20_000)),
    ] {
        let (kind, ..) = failure_of(&body, 3);
        assert!(
            ["unsupported_construct", "diagnostics", "fuel"].contains(&kind.as_str()),
            "{kind}"
        );
    }
    let spaces = format!(
        "{}{}{}",
        "namespace a {".repeat(20_000),
        with_body(""),
        "}".repeat(20_000)
    );
    assert!(parse(&spaces).is_err());
}

#[test]
fn types_within_types_are_bounded() {
    let mut body = String::from("using T0 = int; ");
    for level in 1..3_000 {
        body += &format!("using T{level} = std::vector<T{}>; ", level - 1);
    }
    let (kind, ..) = common::failure_of(&body, 1);
    assert_eq!(kind, "fuel");
    let mut body = String::from("using T0 = int; ");
    for level in 1..3_000 {
        body += &format!("using T{level} = T{}*; ", level - 1);
    }
    let (kind, ..) = common::failure_of(&body, 1);
    assert_eq!(kind, "fuel");
    let (kind, ..) = common::failure_of("std::array<std::array<int, 262144>, 262144> a;", 1);
    assert_eq!(kind, "fuel");
}

/// What doubles with every line: names, types, values, text.
#[test]
fn doubling_meets_a_limit() {
    let lines =
        |count: usize, line: &dyn Fn(usize) -> String| -> String { (1..count).map(line).collect() };
    let pairs = "using T0 = int; ".to_owned()
        + &lines(40, &|i| {
            format!("using T{i} = std::pair<T{0}, T{0}>; ", i - 1)
        })
        + "T39 x; one<<<1, 1>>>(C, N);";
    let pairs_of_vectors = pairs.replace("using T0 = int", "using T0 = std::vector<int>");
    let vectors_in_pairs = "using T0 = int; ".to_owned()
        + &lines(40, &|i| {
            format!(
                "using T{i} = std::pair<std::vector<T{0}>, std::vector<T{0}>>; ",
                i - 1
            )
        })
        + "T39 x; one<<<1, 1>>>(C, N);";
    let arrays = "using T0 = int; ".to_owned()
        + &lines(40, &|i| format!("using T{i} = std::array<T{}, 2>; ", i - 1))
        + "T39 x; one<<<1, 1>>>(C, N);";
    let bodies = [
        pairs,
        pairs_of_vectors,
        vectors_in_pairs,
        "auto p0 = std::make_pair(1, 2); ".to_owned()
            + &lines(40, &|i| format!("auto p{i} = std::make_pair(p{0}, p{0}); ", i - 1)),
        arrays,
        "std::string s = \"x\"; for (int i = 0; i < 60; ++i) s += s;".to_owned(),
        "std::string s = \"x\"; for (int i = 0; i < 60; ++i) s = s + s;".to_owned(),
        "std::vector<int> v(1); for (int i = 0; i < 60; ++i) v.insert(v.end(), v.begin(), v.end());".to_owned(),
        "std::vector<int> v(1); for (int i = 0; i < 60; ++i) v.resize(2 * v.size());".to_owned(),
        "std::vector<std::vector<int>> v(1); for (int i = 0; i < 60; ++i) { auto w = v; for (auto& x : w) v.push_back(x); }".to_owned(),
        "std::vector<std::vector<int>> v; for (int i = 0; i < 100000; ++i) v.push_back(std::vector<int>(1 << 17));".to_owned(),
        "auto f0 = [=] { return N; }; ".to_owned()
            + &lines(60, &|i| format!("auto f{i} = [=] {{ return f{0}() + f{0}(); }}; ", i - 1))
            + "int x = f59();",
    ];
    for body in bodies {
        let plan = plan_of(&with_body(&body), 100);
        let held = address_space();
        assert!(plan.is_err(), "{body}");
        assert!(held < 2 * MEMORY_BYTES, "{held} bytes after {body}");
    }
    // Templates of the file's own.
    let classes = lines(40, &|i| format!("typedef P<T{0}, T{0}> T{i};\n", i - 1));
    let source = format!(
        "template <class A, class B> struct P {{ A a; B b; }};\ntypedef int T0;\n{classes}\
         template <class T> __global__ void t(T* x) {{}}\n{}",
        with_body("t<T39><<<1, 1>>>((T39*)C); T39 x;")
    );
    assert!(plan_of(&source, 100).is_err());
    assert!(address_space() < 2 * MEMORY_BYTES);
}

#[test]
fn names_of_kernels_end_somewhere() {
    let name = "k".repeat(1001);
    let source = format!(
        "__global__ void {name}(float* c) {{}}\n\
         void solve(const float* a, const float* b, float* c, int n) {{\n  {name}<<<1, 1>>>(c);\n}}"
    );
    let (kind, line, _, message, _) = described(&plan_of(&source, 1).unwrap_err());
    assert_eq!((kind.as_str(), line), ("compile_limit", 3));
    assert_eq!(
        message,
        "the name of this kernel has 1001 bytes with its template arguments; the limit is 1000"
    );
}
