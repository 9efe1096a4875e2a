//! Methods, constructors, static members, class templates.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::values::{refusal, value_in};
use common::{plan_of, text};

#[test]
fn methods_and_constructors() {
    let classes = "struct P { int t = 3; P(int x) : t(x) {} int g(int n) const { return (n + t - 1) / t; } };
        struct Counter { int n = 0; Counter& add(int k) { n += k; return *this; } int get() const { return this->n; } };
        struct Two { int a, b; Two() { a = 1; b = helper(); } Two(int x, int y) : a{x}, b(y) {} int helper() { return a + 1; } };
        struct Mul { int k; int operator()(int x) const { return k * x; } };
        struct Vec { int x, y; Vec operator+(const Vec& o) const { return {x + o.x, y + o.y}; } };
        class Grid { int w_, h_; public: Grid(int w, int h) : w_(w), h_(h) {} int blocks() const { return cells() / 4; }
                     static int four() { return 4; } private: int cells() const { return w_ * h_; } };
        struct Later { int v; int twice(); }; int Later::twice() { return v * 2; }
        struct Def { Def() = default; int v = 6; };";
    for (statements, expression, expected) in [
        ("P p(32);", "p.g(N)", "4"),
        ("P p = 32; P* q = &p;", "q->g(N)", "4"),
        ("P p{16};", "p.g(N) * 100 + P(50).g(N)", "702"),
        ("Counter c; c.add(2); c.add(3);", "c.get()", "5"),
        ("Two t;", "t.a * 10 + t.b", "12"),
        (
            "Two t(3, 4); Two u{5, 6}; Two w = t;",
            "t.b * 100 + u.a * 10 + w.a",
            "453",
        ),
        ("Mul m{3};", "m(4)", "12"),
        ("Vec v = Vec{1, 2} + Vec{3, 4};", "v.x * 10 + v.y", "46"),
        ("Grid g(6, 4);", "g.blocks() * 10 + Grid::four()", "64"),
        ("Later l{21};", "l.twice()", "42"),
        ("Def d;", "d.v", "6"),
        ("std::vector<Two> v(2);", "v[1].b", "2"),
        ("Two t[2];", "t[1].b", "2"),
        (
            "auto p = P(8); auto f = [&](int n) { return p.g(n); };",
            "f(16)",
            "2",
        ),
    ] {
        assert_eq!(
            value_in(classes, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn static_members_and_class_templates() {
    let classes = "struct Small { static constexpr int T = 8; }; struct Big { static constexpr int T = 16, U = T * 2; enum { E = 5 }; };
        template <int X> struct Cfg { static constexpr int T = X; using type = float; };
        template <> struct Cfg<3> { static constexpr int T = 77; };
        template <typename C> int of() { return C::T; }
        template <typename T, int N> struct Buf { T data[N]; int bytes() const { return sizeof(T) * N; } T& at(int i) { return data[i]; } };
        template <int B> struct Runner { int run(int n) { return (n + B - 1) / B; } static int twice() { return 2 * B; } };
        template <class F> struct Holder { F f; int call(int x) { return f(x); } };
        namespace cfg { struct In { static constexpr int T = 4; }; }";
    for (statements, expression, expected) in [
        ("", "Small::T * 100 + Big::T", "816"),
        ("", "Big::U + Big::E", "37"),
        ("", "Cfg<256>::T", "256"),
        ("", "Cfg<3>::T", "77"),
        ("constexpr int K = 2;", "Cfg<K * 2>::T", "4"),
        ("", "of<Small>() * 10 + of<Cfg<5>>()", "85"),
        ("using B = Big;", "B::T", "16"),
        ("Cfg<1>::type x = 2.5;", "(int)(x * 2)", "5"),
        (
            "Buf<float, 4> b; b.data[1] = 3;",
            "b.bytes() + (int)b.data[1]",
            "19",
        ),
        (
            "Runner<32> r;",
            "r.run(N) * 100 + Runner<8>::twice()",
            "416",
        ),
        ("int v[Cfg<6>::T];", "sizeof(v)", "24"),
        ("", "cfg::In::T", "4"),
    ] {
        assert_eq!(
            value_in(classes, statements, expression),
            expected,
            "{statements}{expression}"
        );
    }
    let source = "template <int X> struct Cfg { static constexpr int T = X; };
        template <int T> __global__ void k(float* c) {}
        template <int T> struct Runner { void run(float* c, int n) { k<T><<<(n + T - 1) / T, Cfg<T>::T>>>(c); } };
        void solve(const float* A, const float* B, float* C, int N) { Runner<64> r; r.run(C, N); k<Cfg<9>::T><<<1, 1>>>(C); }";
    assert_eq!(
        common::text(&common::plan_of(source, 100).unwrap()),
        "k<64> <2x1x1, 64x1x1, 0> (p2)\nk<9> <1x1x1, 1x1x1, 0> (p2)"
    );
}

#[test]
fn objects_with_methods_are_passed_by_their_fields() {
    let source = "struct S { int a; float b; S(int x) : a(x), b(1) {} int get() const { return a; } };
        __global__ void k(S s) {}
        void solve(const float* A, const float* B, float* C, int N) { S s(7); k<<<1, s.get()>>>(s); }";
    assert_eq!(
        common::text(&common::plan_of(source, 1).unwrap()),
        "k <1x1x1, 7x1x1, 0> ([7, 0, 0, 0, 0, 0, 128, 63])"
    );
}

#[test]
fn classes_that_are_more_than_that_are_refused_when_made() {
    for (class, reason) in [
        (
            "struct R { float* p; __device__ ~R() {} };",
            "its destructor is for the device",
        ),
        (
            "struct Q { int a; }; struct P { int b; }; struct R : Q, P {};",
            "it has several base classes",
        ),
        (
            "struct R { virtual int f() { return 1; } };",
            "it has virtual methods",
        ),
    ] {
        let source = format!(
            "{class}\nvoid solve(const float* A, const float* B, float* C, int N) {{\n R r;\n}}"
        );
        let failure = common::plan_of(&source, 1).unwrap_err();
        let (kind, line, _, message, hint) = common::described(&failure);
        assert_eq!(
            (kind.as_str(), line, message),
            (
                "unsupported_construct",
                3,
                format!("`R` in host code is not in the host subset: {reason}")
            )
        );
        assert!(!hint.is_empty());
    }
    assert_eq!(
        refusal("struct S { static int n; int a; }; S::n = 3;"),
        "unsupported_construct: the static member `n` would keep its value from call to call"
    );
}

#[test]
fn enumerations_are_types_of_variables() {
    assert_eq!(
        value_in(
            "enum class Mode : unsigned char { A, B = 250 }; enum Order { ROWS, COLUMNS = 4 };
             namespace ops { enum class Op { ADD, MUL }; } typedef enum { X, Y = 3 } Axis;
             int cost(Mode mode) { switch (mode) { case Mode::A: return 1; case Mode::B: return 2; } return 3; }",
            "Mode m = Mode::B; Order o(COLUMNS); ops::Op op{ops::Op::MUL}; Axis y = Y; Mode n = static_cast<Mode>(0);
             enum Local { L = 5 }; Local l = L;",
            "cost(m) * 1000 + cost(n) * 100 + o * 10 + (int)op + y + l + sizeof(Mode) + (m == Mode::B)"
        ),
        "2151"
    );
}

#[test]
fn a_comparison_before_a_choice_of_templates_is_no_template() {
    let source = "template <bool Small> __global__ void k(float* c) {}
template <int N> int twice() { return 2 * N; }
void solve(const float* A, const float* B, float* C, int N) {
    auto kernel = N < 1000 ? k<true> : k<false>;
    kernel<<<1, 1>>>(C);
    struct S { int n; } s{N};
    auto other = s.n < 3 * (N + 1) ? k<false> : k<true>;
    other<<<1, twice<3 < 4 ? 5 : 6>()>>>(C);
}";
    assert_eq!(
        common::text(&common::plan_of(source, 7).unwrap()),
        "k<true> <1x1x1, 1x1x1, 0> (p2)\nk<false> <1x1x1, 10x1x1, 0> (p2)"
    );
}

#[test]
fn specialisations_for_some_arguments() {
    let classes = "template <class T, int N> struct Width { static constexpr int v = N; static int id() { return 1; } };
        template <class T> struct Width<T, 4> { static constexpr int v = 40; static int id() { return 2; } };
        template <int N> struct Width<float, N> { static constexpr int v = N + 100; };
        template <class T> struct Kind { static constexpr int v = 1; int get() { return v; } };
        template <class T> struct Kind<T*> { static constexpr int v = 2 + 10 * Kind<T>::v; int get() { return v + 1; } };
        template <> struct Kind<int> { static constexpr int v = 3; Kind() { got = 7; } int got; int get() { return got; } };
        template <class A, class B> struct Same { static constexpr bool v = false; };
        template <class A> struct Same<A, A> { static constexpr bool v = true; };";
    for (statements, expression, expected) in [
        ("", "Width<int, 3>::v", "3"),
        ("", "Width<int, 4>::v", "40"),
        ("", "Width<float, 5>::v", "105"),
        ("", "Width<int, 3>::id() * 10 + Width<int, 4>::id()", "12"),
        ("", "Kind<float>::v", "1"),
        ("", "Kind<float*>::v", "12"),
        ("", "Kind<int**>::v", "322"),
        (
            "Kind<float> a; Kind<float*> b; Kind<int> c;",
            "a.get() * 1000 + b.get() * 10 + c.get()",
            "1137",
        ),
        ("", "Same<int, int>::v * 10 + Same<int, float>::v", "10"),
    ] {
        assert_eq!(
            value_in(classes, statements, expression),
            expected,
            "{statements} {expression}"
        );
    }
}

#[test]
fn packs_name_kernels_and_types() {
    let templates = "template <int... Ns> __global__ void numbers(float* c) {}
        template <class... Ts> __global__ void types(float* c) {}
        template <int... Ns> void go(float* c) { numbers<Ns...><<<1, 1>>>(c); numbers<7, (Ns + 1)...><<<1, 2>>>(c); }
        template <class... Ts> void of(float* c) { types<Ts...><<<1, 3>>>(c); types<int, Ts...><<<1, sizeof...(Ts)>>>(c); }
        template <int N> int twice() { return 2 * N; }
        template <int... Ns> int last() { int all[] = {twice<Ns>()...}; return all[sizeof...(Ns) - 1]; }
        template <int... Ns> void each(float* c) { (numbers<Ns><<<1, 4>>>(c), ...); }
        void solve(const float* A, const float* B, float* C, int N) {
            go<1, 2>(C); of<float, double>(C); each<last<3, 4>(), 9>(C);
        }";
    let plan = text(&plan_of(templates, 8).unwrap());
    let launched = [
        "numbers<1, 2> <1x1x1, 1x1x1, 0> (p2)",
        "numbers<7, 2, 3> <1x1x1, 2x1x1, 0> (p2)",
        "types<float, double> <1x1x1, 3x1x1, 0> (p2)",
        "types<int, float, double> <1x1x1, 2x1x1, 0> (p2)",
        "numbers<8> <1x1x1, 4x1x1, 0> (p2)",
        "numbers<9> <1x1x1, 4x1x1, 0> (p2)",
    ];
    assert_eq!(plan, launched.join("\n"));
}

#[test]
fn classes_convert_their_objects() {
    let source = "struct Buf { float* p = nullptr; size_t n; explicit Buf(size_t k) : n(k) { cudaMalloc(&p, k * 4); } ~Buf() { cudaFree(p); }
    operator float*() const { return p; } explicit operator bool() const { return p != nullptr; } operator size_t() { return n; } };
__global__ void k(const float* a, float* c, int n) {}
void solve(const float* A, const float* B, float* C, int N) {
    Buf b(N);
    if (b) k<<<1, 1>>>(A, b, N);
    cudaMemcpy(b, A, 8, cudaMemcpyDeviceToDevice);
    float* raw = b; size_t n = b;
    k<<<1, 1>>>(raw + 1, C, (int)n);
}";
    assert_eq!(
        text(&plan_of(source, 4).unwrap()),
        "s0 = alloc 16\nk <1x1x1, 1x1x1, 0> (p0, s0, 4)\ncopy s0 p0 8\nk <1x1x1, 1x1x1, 0> (s0+4, p2, 4)\nfree s0"
    );
}

#[test]
fn template_arguments_follow_from_classes_of_the_file() {
    let types = "template <class T, int N> struct Buf { T v[N]; int n = N; };
        template <class T, int N> int bytes(const Buf<T, N>& b) { return sizeof(T) * N + b.n; }
        template <class T> T first(Buf<T, 2>& b) { return b.v[0]; }
        template <class A, class B> int both(const std::pair<A, B>& p) { return sizeof(A) * 10 + sizeof(B); }
        template <class T, size_t N> size_t length(const std::array<T, N>&) { return N; }";
    for (statements, expression, expected) in [
        ("Buf<float, 3> b;", "bytes(b)", "15"),
        ("Buf<int, 2> b; b.v[0] = 7;", "first(b)", "7"),
        ("std::pair<double, char> p{1, 2};", "both(p)", "81"),
        ("std::array<int, 5> a{};", "length(a)", "5"),
    ] {
        assert_eq!(
            value_in(types, statements, expression),
            expected,
            "{statements}"
        );
    }
}
