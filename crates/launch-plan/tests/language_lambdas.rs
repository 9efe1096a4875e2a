//! Lambdas, functions as values, parameter packs.
#![allow(missing_docs)]

mod common;

use common::values::{refusal, value, value_in};

#[test]
fn lambdas_take_copies_or_references_with_them() {
    for (statements, expression, expected) in [
        (
            "auto cdiv = [](int a, int b) { return (a + b - 1) / b; };",
            "cdiv(N, 32)",
            "4",
        ),
        (
            "int s = 1; auto add = [&](int x) { s += x; }; add(4); add(5);",
            "s",
            "10",
        ),
        (
            "int s = 1; auto f = [=]() { return s; }; s = 9;",
            "f()",
            "1",
        ),
        (
            "int s = 1; auto f = [s](int x) { return s + x; }; s = 9;",
            "f(2)",
            "3",
        ),
        (
            "int s = 1, t = 2; auto f = [&, t] { return s * 10 + t; }; s = 5; t = 7;",
            "f()",
            "52",
        ),
        (
            "auto f = [n = N / 2](int x) -> long { return n + x; };",
            "f(1)",
            "51",
        ),
        (
            "auto f = [](auto a, auto b) { return a + b; };",
            "(int)(f(1.5, 2) * 2)",
            "7",
        ),
        (
            "auto twice = [](auto f, int x) { return f(f(x)); };",
            "twice([](int x) { return x * 3; }, 2)",
            "18",
        ),
        (
            "std::function<int(int)> f = [&](int x) { return x + N; };",
            "f(1)",
            "101",
        ),
        (
            "std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };",
            "fib(10)",
            "55",
        ),
        (
            "int x = [&] { if (N > 5) return 3; return 4; }();",
            "x",
            "3",
        ),
        (
            "constexpr int T = 8; auto f = [](int n) { return n * T; };",
            "f(2)",
            "16",
        ),
        (
            "int v[2] = {1, 2}; auto f = [&](int i) { return v[i]; };",
            "f(1)",
            "2",
        ),
        (
            "auto swap2 = [](int& a, int& b) { int t = a; a = b; b = t; }; int a = 1, b = 2; swap2(a, b);",
            "a * 10 + b",
            "21",
        ),
    ] {
        assert_eq!(value(statements, expression), expected, "{statements}");
    }
}

#[test]
fn lambdas_launch_and_go_into_templates() {
    let body = "auto go = [&](int t) { one<<<(N + t - 1) / t, t>>>(C, N); }; go(64); go(50);";
    assert_eq!(
        common::plan_text(body, 100),
        "one <2x1x1, 64x1x1, 0> (p2, 100)\none <2x1x1, 50x1x1, 0> (p2, 100)"
    );
    let helpers = "template <typename F> int apply(F f, int x) { return f(x); }
                   int twice(int x) { return 2 * x; }
                   auto thrice = [](int x) { return 3 * x; };
                   int via(int (*f)(int), int x) { return f(x); }";
    for (expression, expected) in [
        ("apply([&](int x) { return x + N; }, 1)", "101"),
        ("apply(twice, 4)", "8"),
        ("apply(thrice, 4)", "12"),
        ("via(twice, 5)", "10"),
        ("via([](int x) { return -x; }, 5)", "-5"),
    ] {
        assert_eq!(value_in(helpers, "", expression), expected, "{expression}");
    }
}

#[test]
fn what_lambdas_cannot_do_is_said() {
    assert_eq!(
        refusal(
            "auto make = [] { int local = 1; return [&] { return local; }; }; auto f = make(); int x = f();"
        ),
        "host_fault: a host pointer outlives what it points to"
    );
    assert_eq!(
        refusal("auto f = [](int x) { return x; }; f(1, 2);"),
        "unsupported_construct: `a lambda` takes 1 arguments; 2 are passed"
    );
    assert_eq!(
        refusal("auto f = [](int x) { return x; }; f<<<1, 1>>>(1);"),
        "launch_config: a value of type `lambda` is launched"
    );
    assert_eq!(
        refusal("std::function<void()> f = [&] { f(); }; f();"),
        "fuel: host code nests more than 400 levels deep"
    );
}

#[test]
fn packs_go_through_host_functions() {
    let helpers = "template <class... Ts> int sum(Ts... ts) { return (ts + ... + 0); }
                   template <class... Ts> int count(Ts... ts) { return sizeof...(ts); }
                   template <class F, class... Ts> auto call(F f, Ts&&... ts) { return f(std::forward<Ts>(ts)...); }
                   template <class T> int last(T t) { return t; }
                   template <class T, class... Ts> int last(T t, Ts... ts) { return last(ts...); }
                   template <class... Ts> bool all(Ts... ts) { return (... && (ts > 0)); }";
    for (expression, expected) in [
        ("sum(1, 2, 3)", "6"),
        ("sum()", "0"),
        ("count(1, 2.0, C)", "3"),
        ("call([](int a, int b) { return a * b; }, 6, 7)", "42"),
        ("last(1, 2, 3)", "3"),
        ("all(1, 2, 3) * 10 + all(1, -1)", "10"),
    ] {
        assert_eq!(value_in(helpers, "", expression), expected, "{expression}");
    }
    let source = "__global__ void one(float* c, int n) {}
        template <class... Ts> void go(int t, Ts... ts) { one<<<t, 1>>>(ts...); }
        void solve(const float* A, const float* B, float* C, int N) { go(3, C, N); go(4, C, 7); }";
    assert_eq!(
        common::text(&common::plan_of(source, 2).unwrap()),
        "one <3x1x1, 1x1x1, 0> (p2, 2)\none <4x1x1, 1x1x1, 0> (p2, 7)"
    );
}
