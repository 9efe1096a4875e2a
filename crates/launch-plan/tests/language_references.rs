//! References: other names for variables, whatever expression names those.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::values::{refusal, value_in};
use common::{described, plan_of, text};

const TYPES: &str = "struct Cfg { int b = 1, g = 1; Cfg& block(int x) { b = x; return *this; } Cfg& grid(int x) { g = x; return *this; } };
    struct Arr { int d[3] = {1, 2, 3}; int& at(int i) { return d[i]; } int& operator[](int i) { return d[i]; } int size() const { return 3; } };
    struct E { int n = 0, x = 0; };
    static int counter = 4; static size_t cap = 0; int table[2] = {5, 6};
    void bump(int& x) { x += 1; } void grow(size_t& c, size_t n) { if (c < n) c = n; }
    int& pick(int& a, int& b, bool first) { return first ? a : b; }
    const int& larger(const int& a, const int& b) { return a < b ? b : a; }
    Cfg& shared() { static Cfg c; return c; }
    void set(Cfg&& c, int* out) { c.b = 9; *out = c.b; }
    struct Grid { int v[4] = {1, 2, 3, 4}; int& operator()(int y, int x) { return v[2 * y + x]; } };
    void count(size_t& n) { n += 2; }
    template <int N> int calls() { static int n = 0; return ++n + N; }";

#[test]
fn a_reference_is_the_variable_that_an_expression_names() {
    for (statements, expression, expected) in [
        (
            "bump(counter); int& r = counter; r += 10; grow(cap, 7);",
            "counter * 10 + cap",
            "157",
        ),
        (
            "int& r = table[1]; r = 9; bump(table[1]);",
            "table[1]",
            "10",
        ),
        (
            "std::vector<E> v(2); auto& last = v.back(); last.n = 3; v.front().x = 2; v.at(1).x = 4;",
            "v[1].n * 100 + v[0].x * 10 + v[1].x",
            "324",
        ),
        (
            "std::vector<E> v; auto& e = v.emplace_back(); e.x = 1; bump(v.back().n);",
            "v[0].x * 10 + v[0].n",
            "11",
        ),
        (
            "std::vector<std::vector<int>> g(1); g.back().push_back(7); g[0].push_back(8);",
            "g[0].size() * 10 + g[0][1]",
            "28",
        ),
        ("Cfg c; c.block(128).grid(4);", "c.b * 10 + c.g", "1284"),
        (
            "Cfg c; Cfg& d = c.block(7); d.g = 3;",
            "c.b * 10 + c.g",
            "73",
        ),
        (
            "Arr o; int& r = o.at(0); r = 5; o.at(1) = 6; bump(o.at(2));",
            "o.d[0] * 100 + o.d[1] * 10 + o.d[2]",
            "564",
        ),
        (
            "Arr o; o[0] = 7; o[1] += o[0]; ++o[2]; int s = 0; for (int i = 0; i < o.size(); ++i) s += o[i];",
            "s",
            "20",
        ),
        (
            "int a = 1, b = 2; int& r = N > 4 ? a : b; r = 5; bump(N > 4 ? b : a);",
            "a * 10 + b",
            "53",
        ),
        (
            "int a = 1, b = 2; pick(a, b, false) = 8; int& r = pick(a, b, true); r = 3;",
            "a * 10 + b",
            "38",
        ),
        ("int a = 3; int m = larger(a, 2) + larger(1, 2);", "m", "5"),
        (
            "std::pair<int, int> p{1, 2}; std::get<0>(p) = 4; auto& r = std::get<1>(p); r = 6;",
            "p.first * 10 + p.second",
            "46",
        ),
        (
            "shared().b = 5; shared().grid(6);",
            "shared().b * 10 + shared().g",
            "56",
        ),
        (
            "int out = 0; Cfg c; set(std::move(c), &out);",
            "out * 10 + c.b",
            "99",
        ),
        (
            "auto&& r = 3; auto f = [](auto&& x) { return x + 1; };",
            "r + f(2)",
            "6",
        ),
        (
            "calls<10>(); calls<10>(); calls<20>();",
            "calls<10>() * 100 + calls<20>()",
            "1322",
        ),
        (
            "int i = 0; int a[3] = {0, 0, 0}; a[i] = i++; a[i] = i += 1;",
            "a[0] * 100 + a[1] * 10 + a[2] + i * 1000",
            "2002",
        ),
        (
            "auto f = [](int& x) -> int& { x += 1; return x; }; int n = 1; f(n);",
            "n",
            "2",
        ),
        (
            "Grid g; g(0, 1) = 7; int& r = g(1, 0); r += 2; bump(g(1, 1)); auto f = [&]() -> int& { return g.v[0]; }; f() = 6;",
            "g.v[0] * 1000 + g.v[1] * 100 + g.v[2] * 10 + g.v[3]",
            "6755",
        ),
        ("uint64_t n = 3; count(n);", "n", "5"),
        (
            "int n = 0; for (int i = 0; i < 2; n = 4, bump(n), ++i) {}",
            "n",
            "5",
        ),
    ] {
        assert_eq!(
            value_in(TYPES, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn a_reference_to_a_copy_is_refused() {
    let message = "unsupported_construct: a reference that can change its variable is bound to a value that is none";
    for body in [
        "float x = 3; int& r = (int)x; r = 4;",
        "int n = 3; long& l = n; l = 4;",
        "auto bump = [](int& x) { x += 1; }; bump(3);",
        "int n[2] = {1, 2}; for (long& x : n) x = 3;",
    ] {
        assert_eq!(refusal(body), message, "{body}");
    }
    let field = "struct Add { int& n; Add(int& x) : n(x) {} };
void solve(const float* A, const float* B, float* C, int N) { int n = 1;
    Add a(n); }";
    let (_, line, _, message, _) = described(&plan_of(field, 1).unwrap_err());
    assert_eq!(
        (line, message.as_str()),
        (
            3,
            "`Add` in host code is not in the host subset: it has a reference as a field; hold a pointer"
        )
    );
}

#[test]
fn buffers_that_a_helper_grows_are_the_file_s_own() {
    let source = "static float* g_buf = nullptr; static size_t g_cap = 0;
void ensure(float*& p, size_t& cap, size_t n) { if (cap < n) { cudaFree(p); cudaMalloc(&p, n); cap = n; } }
__global__ void k(float* p, int n) {}
void solve(const float* A, const float* B, float* C, int N) { ensure(g_buf, g_cap, 4 * N); k<<<1, 1>>>(g_buf, N); cudaFree(g_buf); }";
    assert_eq!(
        text(&plan_of(source, 4).unwrap()),
        "s0 = alloc 16\nk <1x1x1, 1x1x1, 0> (s0, 4)\nfree s0"
    );
}

#[test]
fn an_argument_is_evaluated_once() {
    let source = "__global__ void k(int n) {}
struct R { int n; }; R run_k() { k<<<1, 1>>>(1); return R{2}; } void f(const int& x) { k<<<1, 1>>>(x); }
void solve(const float* A, const float* B, float* C, int N) { f(run_k().n); }";
    assert_eq!(
        text(&plan_of(source, 4).unwrap()),
        "k <1x1x1, 1x1x1, 0> (1)\nk <1x1x1, 1x1x1, 0> (2)"
    );
}

#[test]
fn operators_work_on_their_left_side() {
    let types = "struct Args { void* p[8]; int n = 0; Args& operator<<(void* x) { p[n++] = x; return *this; } };
        struct V { int x, y; V operator-() const { return {-x, -y}; } V& operator+=(const V& o) { x += o.x; y += o.y; return *this; }
            V& operator++() { ++x; return *this; } V operator++(int) { V old = *this; ++x; return old; }
            bool operator==(const V& o) const { return x == o.x && y == o.y; } bool operator!() const { return x == 0; } };
        V operator+(const V& a, const V& b) { return {a.x + b.x, a.y + b.y}; }
        V operator*(int k, const V& v) { return {k * v.x, k * v.y}; }
        struct Iter { int* at; int& operator*() { return *at; } int* operator->() { return at; } };
        struct Ptr { V* at; V* operator->() const { return at; } V& operator*() const { return *at; } };";
    for (statements, expression, expected) in [
        (
            "Args a; int x = 1; a << &x << &x << C;",
            "a.n * 10 + (a.p[1] == &x)",
            "31",
        ),
        (
            "V a{1, 2}, b{3, 4}; a += b; a += a;",
            "a.x * 100 + a.y",
            "812",
        ),
        (
            "V a{1, 2}; V b = -a; ++a; V c = a++;",
            "b.y * -100 + a.x * 10 + c.x",
            "232",
        ),
        (
            "V a{1, 2}, b{3, 4}; V c = a + 2 * b;",
            "c.x * 100 + c.y * 10 + (a == b) + !a",
            "800",
        ),
        (
            "int n[2] = {1, 2}; Iter i{n}; *i = 5;",
            "n[0] * 10 + *i",
            "55",
        ),
        (
            "V v{1, 2}; Ptr p{&v}; p->x = 7; (*p).y += 1;",
            "v.x * 10 + p->y",
            "73",
        ),
    ] {
        assert_eq!(
            value_in(types, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn a_sum_of_many_terms_looks_at_each_once() {
    let types = "struct V { int x; V operator+(const V& o) const { return {x + o.x}; } };";
    let terms = vec!["N"; 120].join(" + ");
    assert_eq!(value_in(types, "", &terms), "12000");
    let objects = vec!["v"; 40].join(" + ");
    assert_eq!(value_in(types, "V v{2};", &format!("({objects}).x")), "80");
}

#[test]
fn classes_are_made_copied_and_compared_as_they_say() {
    let types = "struct B { int a, b; B(int x, int y = 0) : a(x), b(y) {} }; struct D : B { int c = 9; using B::B; };
        struct C { int n; C(int x) : n(x) {} C(const C& o) : n(o.n + 1) {} }; int by_value(C c) { return c.n; }
        const int tile = 4; struct T { int tile = 16; int threads = tile * tile; };
        union U { int i = 5; float f; };
        struct F { int x = 1; }; struct G : F { int y = 2; };
        float ratio(int n) { return 0.5f; }
        struct Sum { int t = 0; void operator()(int x) { t += x; } };";
    for (statements, expression, expected) in [
        (
            "D d(1, 2); D e(3); D f = d;",
            "d.a * 1000 + d.b * 100 + d.c * 10 + e.b + f.c",
            "1299",
        ),
        (
            "C a(1); C b = a; C c(b);",
            "b.n * 100 + c.n * 10 + by_value(a)",
            "232",
        ),
        ("T t; T u{2};", "t.threads * 10 + u.threads", "2564"),
        ("U u{}; U v;", "u.i * 10 + v.i", "55"),
        (
            "G g; F* p = &g; G* q = &g;",
            "(p == q) * 10 + (q == p)",
            "11",
        ),
        (
            "float r = (N > 4 ? 1 : ratio(N)) / 2;",
            "(int)(r * 10)",
            "5",
        ),
        (
            "int a[3] = {1, 2, 3}; Sum s = std::for_each(a, a + 3, Sum{});",
            "s.t",
            "6",
        ),
        (
            "int h[8] = {0, 1, 2, 3, 4, 5, 6, 7}; int* p = (int*)((char*)h + 8);",
            "*p * 100 + ((char*)(h + 8) - (char*)h)",
            "232",
        ),
        (
            "std::string a = \"a\\n\", b = \"ab\" \"cd\";",
            "a.size() * 10 + (b == \"abcd\")",
            "21",
        ),
    ] {
        assert_eq!(
            value_in(types, statements, expression),
            expected,
            "{statements}"
        );
    }
    assert_eq!(
        refusal("int h[8]; int* p = (int*)((char*)h + 3);"),
        "unsupported_construct: a host pointer points into the middle of an element"
    );
    let part = "struct B { int x; B(int v = 0) : x(v) {} B& operator=(const B& o) { x = o.x; return *this; } };
struct D : B { int y = 0; };
void solve(const float* A, const float* B_, float* C, int N) { D a, b;
    a = b; }";
    let (kind, line, _, message, _) = described(&plan_of(part, 1).unwrap_err());
    assert_eq!(
        (kind.as_str(), line, message.as_str()),
        (
            "unsupported_construct",
            4,
            "this assigns a `D`, a part of which has an operator= of its own"
        )
    );
}
