//! Base classes, tuples and texts.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::values::{refusal, value_in};
use common::{described, plan_of, text};

#[test]
fn fields_methods_and_constants_of_a_base_class() {
    let classes = "struct Base { int t = 4; static constexpr int K = 7; Base() {} Base(int x) : t(x) {} int get() const { return t; }
            int twice() { return 2 * get(); } int hidden() { return 1; } void set(int x) { t = x; } };
        struct Impl : public Base { int n = 3; Impl() {} Impl(int x, int y) : Base(x), n(y) {} int sum() { return t + n + twice(); }
            int hidden() { return 2 + K; } };
        struct Same : Base { int t = 100; int both() { return t + get(); } };
        template <class T> struct Sized { T size; int bytes() const { return size * sizeof(T); } };
        struct Leaf : Sized<long> { long more; Leaf(int s) : Sized<long>{s}, more(1) {} };
        struct Deep : Impl { int d = 1; };
        void change(Base& b) { b.set(50); } int read(const Base* b) { return b->get(); }
        struct End { int* t; int id; End(int* p, int i) : t(p), id(i) {} ~End() { *t = *t * 10 + id; } };
        struct Wide { int* t; long id; Wide(int* p, long i) : t(p), id(i) {} ~Wide() { *t = *t * 10 + id; } };
        struct Ends : Wide { Wide own; Ends(int* p) : Wide(p, 1), own(p, 2) {} ~Ends() { *t = *t * 10 + 3; } };";
    for (statements, expression, expected) in [
        ("Impl i;", "i.t * 10 + i.n", "43"),
        ("Impl i(5, 6);", "i.sum()", "21"),
        ("Impl i;", "i.hidden() * 10 + Impl::K", "97"),
        ("Same s;", "s.both() * 1000 + s.t", "104100"),
        ("Leaf l(3);", "l.bytes() + l.more", "25"),
        ("Deep d; d.set(9);", "d.get() * 100 + d.t * 10 + d.d", "991"),
        ("Impl i; change(i);", "i.t", "50"),
        (
            "Deep d; Base& b = d; b.t = 8;",
            "read(&d) * 10 + d.get()",
            "88",
        ),
        ("Deep d; Base b = d;", "b.t", "4"),
        ("Impl i;", "sizeof(Impl) * 10 + sizeof(Deep)", "92"),
        ("int t = 0; { Ends e(&t); }", "t", "321"),
    ] {
        assert_eq!(
            value_in(classes, statements, expression),
            expected,
            "{statements}"
        );
    }
    let source = "struct B { int a; float b; }; struct D : B { int c; };
        __global__ void k(D d) {}
        void solve(const float* A, const float* B, float* C, int N) { D d; d.a = 1; d.b = 1; d.c = 2; k<<<1, 1>>>(d); }";
    assert_eq!(
        text(&plan_of(source, 1).unwrap()),
        "k <1x1x1, 1x1x1, 0> ([1, 0, 0, 0, 0, 0, 128, 63, 2, 0, 0, 0])"
    );
}

#[test]
fn base_classes_whose_layout_is_not_known_are_refused() {
    for (class, reason) in [
        (
            "struct E { double d; int i; }; struct R : E { int a; };",
            "its base class has no fields, ends in padding or is none that the host can make",
        ),
        (
            "struct E { int i; }; struct R : virtual E { int a; };",
            "it has a virtual base class",
        ),
    ] {
        let source = format!(
            "{class}\nvoid solve(const float* A, const float* B, float* C, int N) {{\n R r;\n}}"
        );
        let (kind, line, _, message, hint) = described(&plan_of(&source, 1).unwrap_err());
        let expected = format!("`R` in host code is not in the host subset: {reason}");
        assert_eq!(
            (kind.as_str(), line, message),
            ("unsupported_construct", 3, expected)
        );
        assert!(!hint.is_empty());
    }
}

#[test]
fn a_class_template_s_own_name_means_the_class() {
    let class = "template <class T> struct V { T x; V plus(const V& o) const { V r{x + o.x}; return r; } V& add(const V& o) { x += o.x; return *this; } };";
    assert_eq!(
        value_in(
            class,
            "V<int> a{3}, b{4}; a.add(b); V<int> c = a.plus(b);",
            "a.x * 100 + c.x"
        ),
        "711"
    );
}

#[test]
fn tuples_and_tie() {
    let function = "std::tuple<int, float, bool> parts(int n) { return {n / 4, 2.5f, n > 4}; }
        std::pair<int, int> split(int n) { return {n / 8, n % 8}; }";
    for (statements, expression, expected) in [
        (
            "std::tuple<int, long> t{3, 4};",
            "std::get<0>(t) * 10 + std::get<1>(t)",
            "34",
        ),
        (
            "auto [g, t] = std::make_tuple((N + 31) / 32, 32);",
            "g * 100 + t",
            "432",
        ),
        (
            "auto [a, b, c] = parts(N);",
            "a * 100 + (int)(b * 4) + c",
            "2511",
        ),
        (
            "int a; float b; bool c; std::tie(a, b, c) = parts(N);",
            "a * 100 + (int)(b * 4) + c",
            "2511",
        ),
        ("int a, b; std::tie(a, b) = split(N);", "a * 10 + b", "124"),
        ("int b; std::tie(std::ignore, b) = split(N);", "b", "4"),
        (
            "int a = 1, b = 2; std::tie(a, b) = std::make_tuple(b, a);",
            "a * 10 + b",
            "21",
        ),
    ] {
        assert_eq!(
            value_in(function, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn texts_are_made_joined_and_compared() {
    let function = "static void check(int e, const std::string& what) { if (e) throw std::runtime_error(what + \": \" + cudaGetErrorString((cudaError_t)e)); }
        std::string name(int n) { return \"tile\" + std::to_string(n); }";
    for (statements, expression, expected) in [
        (
            "std::string s = \"add\"; if (s == \"add\") s += \"ed\";",
            "s.size() * 10 + s.empty()",
            "50",
        ),
        (
            "std::string s; bool e = s.empty(); s = name(N);",
            "(s == \"tile100\") * 10 + e",
            "11",
        ),
        ("check(cudaSuccess, \"sync\");", "1", "1"),
        (
            "std::string a(\"ab\"), b{\"b\"};",
            "(a < b) * 10 + (a != b)",
            "11",
        ),
        (
            "std::vector<std::string> v{\"a\", \"bcd\"}; size_t t = 0; for (const auto& s : v) t += s.length();",
            "t",
            "4",
        ),
    ] {
        assert_eq!(
            value_in(function, statements, expression),
            expected,
            "{statements}"
        );
    }
    let endless = "__global__ void k() {}\nvoid solve(const float* A, const float* B, float* C, int N) {\n std::string s = \"ab\"; while (true) s += s; }";
    let (kind, _, _, message, _) = described(&plan_of(endless, 1).unwrap_err());
    assert_eq!(
        (kind.as_str(), message.as_str()),
        (
            "fuel",
            "a text of 8192 characters in host code; the limit is 4096"
        )
    );
}

#[test]
fn holders_of_values_are_refused_by_name() {
    for (body, message) in [
        (
            "auto p = std::make_shared<int>(3);",
            "`std::shared_ptr` in host code",
        ),
        (
            "std::shared_ptr<int> p(new int(3));",
            "`std::shared_ptr<int>` in host code",
        ),
        (
            "namespace r = cub;",
            "a second name for a namespace in host code",
        ),
    ] {
        assert_eq!(
            refusal(body),
            format!("unsupported_construct: {message} is not in the host subset")
        );
    }
}

#[test]
fn a_base_class_without_fields_takes_no_room() {
    let classes = "struct Tag {}; struct Big : Tag { static constexpr int TILE = 64; int n = 2; static int blocks(int n) { return (n + TILE - 1) / TILE; } };
        template <int T> struct Traits { static constexpr int TILE = T; static int twice() { return 2 * T; } int own() const { return T + 1; } };
        struct Small : Traits<16> { int a; double b; };
        template <class D> struct Crtp { int get() { return static_cast<D*>(this)->value(); } };
        struct User : Crtp<User> { int v = 5; int value() { return v * 2; } };
        struct True : std::integral_constant<bool, true> { static constexpr int K = 3; };";
    for (statements, expression, expected) in [
        ("Big b;", "Big::blocks(N) * 100 + Big::TILE + b.n", "266"),
        (
            "Small s{};",
            "Small::TILE * 1000 + Small::twice() * 10 + s.own() + sizeof(Small)",
            "16353",
        ),
        ("User u; u.v = 6;", "u.get()", "12"),
        ("", "True::K", "3"),
    ] {
        assert_eq!(
            value_in(classes, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn methods_of_the_base_class_by_its_name() {
    let classes = "struct B { int n = 2; int size() { return n; } static int make(int k) { return k + 1; } virtual_free() };
        struct D : B { int size() { return 2 * B::size(); } };
        struct S { int kind; S(int k) : kind(k) {} }; struct Q : S { int side; Q(int k, int s) : S(k), side(s) {} };
        int area(const S& s) { return s.kind; } int area(int n) { return n; } int both(S* s) { return 10; } int both(int* s) { return 20; }
        struct P { int n; void set(int x, int m = 1); static int tiles(int n); }; void P::set(int x, int m) { n = x * 10 + m; }
        int P::tiles(int n) { return n / 4; }
        int later(int n, int block = 25);
        struct M { int v; M(int x) : v(x) {} M(const M& o) : v(o.v + 1) {} M(M&& o) : v(o.v + 2) {}
            M& operator=(const M& o) { v = o.v + 10; return *this; } M& operator=(M&& o) { v = o.v + 20; return *this; } };
        M make(int n) { return M(n); }
        int which(const M& m) { return 1; } int which(M&& m) { return 2; }
        struct Z { int n; int m = 4; Z() = default; Z(int x) : n(x) {} };";
    let classes = classes.replace(" virtual_free()", "");
    let after = "int later(int n, int block) { return n / block; }";
    for (statements, expression, expected) in [
        ("D d;", "d.size() * 10 + d.B::size()", "42"),
        ("", "D::make(3)", "4"),
        (
            "Q q(7, 3); S* s = &q;",
            "area(q) * 100 + area(4) * 10 + both(&q) + static_cast<Q*>(s)->side",
            "753",
        ),
        ("P p; p.set(3);", "p.n * 100 + P::tiles(N)", "3125"),
        ("", "later(N)", "4"),
        (
            "M a(0); a = make(5); M b(0); b = a;",
            "a.v * 100 + b.v",
            "2535",
        ),
        (
            "M a(0);",
            "which(a) * 100 + which(std::move(a)) * 10 + which(M(1))",
            "122",
        ),
        (
            "Z z{}; Z* p = new Z(); auto q = Z();",
            "z.n * 100 + p->n * 10 + q.n + z.m",
            "4",
        ),
    ] {
        let classes = format!("{classes}\n{after}");
        assert_eq!(
            value_in(&classes, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn base_classes_of_base_classes_are_few() {
    let chain = |count: u32| {
        let classes = (1..=count).map(|i| format!("struct A{i} : A{} {{}};", i - 1));
        let uses = (1..=count).map(|i| format!("A{i} a{i};"));
        format!(
            "struct A0 {{ static int k() {{ return 3; }} }};\n{}\nvoid solve(const float* A, const float* B, float* C, int N) {{ {} }}",
            classes.collect::<String>(),
            uses.collect::<String>()
        )
    };
    assert!(plan_of(&chain(60), 1).is_ok());
    assert!(plan_of(&chain(3000), 1).is_err());
}
