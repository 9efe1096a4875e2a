//! What is `const`, and what only looks so.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::values::value_in;
use common::{described, plan_of};

#[test]
fn what_is_const_is_not_written_by_any_way() {
    let types = "struct S { int n = 1; mutable int m = 2; int get() const { return n; } void set(int x) { n = x; }
            void touch() const { m = 5; } void wrong() const { n = 5; } const int* at() const { return &n; } int* at() { return &n; } };
        const int table[3] = {1, 2, 3}; void f(const S& s) { s.n = 2; } void g(const std::vector<int>& v) { v[0] = 1; }
        void h(const int* p) { p[0] = 1; }\n";
    for (statement, told) in [
        (
            "const S s; s.n = 2;",
            "`s` is const and cannot be assigned to",
        ),
        (
            "const S s; s.set(3);",
            "`set` is called on a const object and is no const method",
        ),
        ("S s; s.wrong();", "`n` is const and cannot be assigned to"),
        ("S s; f(s);", "`s` is const and cannot be assigned to"),
        (
            "S s; const S& r = s; r.n = 2;",
            "`r` is const and cannot be assigned to",
        ),
        (
            "const int a[2] = {1, 2}; a[0] = 3;",
            "this element is const and cannot be assigned to",
        ),
        (
            "table[1] = 3;",
            "this element is const and cannot be assigned to",
        ),
        (
            "int a[2] = {1, 2}; const int* p = a; *p = 3;",
            "this element is const and cannot be assigned to",
        ),
        (
            "int a[2] = {1, 2}; h(a);",
            "this element is const and cannot be assigned to",
        ),
        (
            "std::vector<int> v{1}; g(v);",
            "this element is const and cannot be assigned to",
        ),
        (
            "const std::vector<int> v{1}; v.push_back(2);",
            "this container is const and cannot be assigned to",
        ),
        (
            "std::vector<int> v{1}; for (const auto& x : v) x = 2;",
            "`x` is const and cannot be assigned to",
        ),
        (
            "std::array<int, 2> v{1}; const auto& w = v; ++w[1];",
            "this element is const and cannot be assigned to",
        ),
    ] {
        let source = format!(
            "{types}void solve(const float* A, const float* B, float* C, int N) {{ {statement} }}"
        );
        let (kind, _, _, message, hint) = described(&plan_of(&source, 1).unwrap_err());
        assert_eq!(
            (kind.as_str(), message.as_str()),
            ("diagnostics", told),
            "{statement}"
        );
        assert!(!hint.is_empty());
    }
}

#[test]
fn what_only_looks_const_is_written() {
    let types = "struct S { int n = 1; mutable int m = 2; int* p = nullptr; void touch() const { m = 5; *p = 7; }
            const int* at() const { return &n; } int* at() { return &n; } int which() const { return 1; } int which() { return 2; } };
        template <class T> void fill(T* p, T x) { *p = x; } void bump(int* const p) { *p += 1; }
        int sum(const std::vector<int>& v) { int s = 0; for (int x : v) s += x; return s; }";
    for (statements, expression, expected) in [
        (
            "int k = 0; S s; s.p = &k; const S& r = s; r.touch(); r.m += 1; *r.p += 1;",
            "s.m * 10 + k",
            "68",
        ),
        (
            "S s; *s.at() = 4; const S& r = s;",
            "s.n * 100 + *r.at() * 10 + r.which() + s.which()",
            "443",
        ),
        (
            "int a[2] = {1, 2}; const int* p = a; int* q = const_cast<int*>(p); *q = 5; bump(q);",
            "a[0]",
            "6",
        ),
        (
            "const int n = 3; int m = n; m += 1; int* p = &m; fill(p, 9);",
            "m",
            "9",
        ),
        (
            "std::vector<int*> v(1); int k = 1; v[0] = &k; const auto& w = v; *w[0] = 8;",
            "k",
            "8",
        ),
        (
            "const std::vector<int> v{1, 2}; auto w = v; w.push_back(3); w[0] = 5;",
            "sum(v) * 100 + sum(w)",
            "310",
        ),
        (
            "int k = 1; const auto f = [&](int x) { k += x; }; f(3);",
            "k",
            "4",
        ),
        (
            "std::unique_ptr<int> const p(new int(3)); *p = 4;",
            "*p",
            "4",
        ),
        (
            "int k = 1; int* const p = &k; *p = 2; const auto q = p; *q += 1;",
            "k",
            "3",
        ),
    ] {
        assert_eq!(
            value_in(types, statements, expression),
            expected,
            "{statements}"
        );
    }
}
