//! Objects that do something when they end: device buffers that free themselves.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::values::value_in;
use common::{described, plan_of, text};

const BUFFER: &str = "template <class T> class DeviceBuffer {
    T* p_ = nullptr; size_t n_ = 0;
public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(size_t n) : n_(n) { cudaMalloc(&p_, n * sizeof(T)); }
    ~DeviceBuffer() { if (p_) cudaFree(p_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    DeviceBuffer(DeviceBuffer&& o) noexcept : p_(o.p_), n_(o.n_) { o.p_ = nullptr; o.n_ = 0; }
    DeviceBuffer& operator=(DeviceBuffer&& o) noexcept {
        if (this != &o) { if (p_) cudaFree(p_); p_ = o.p_; n_ = o.n_; o.p_ = nullptr; o.n_ = 0; }
        return *this;
    }
    T* get() const { return p_; } size_t size() const { return n_; }
};
__global__ void k(const float* a, float* c, int n) {}
";

/// Writes the letters of the objects that end, as digits of a number.
const LOG: &str = "struct Log { int* to; int id; Log(int* t, int i) : to(t), id(i) {} ~Log() { *to = *to * 10 + id; } };
    int early(int* t, int n) { Log a(t, 1); if (n > 50) { Log b(t, 2); return *t; } Log c(t, 3); return -1; }
    Log made(int* t) { Log a(t, 7); Log b(t, 8); return a; }
    void takes(Log& l, const Log& m) { *l.to = *l.to * 10 + m.id; }
    struct Pair { Log a; Log b; Pair(int* t) : b(t, 2), a(t, 1) { Log c(t, 3); } };
    struct Plain { Log a; Log b; };";

#[test]
fn device_buffers_free_themselves() {
    let source = format!(
        "{BUFFER}void fill(DeviceBuffer<float>& b, const float* A) {{ k<<<1, 1>>>(A, b.get(), b.size()); }}
DeviceBuffer<float> make(const float* A, int n) {{ DeviceBuffer<float> b(n); fill(b, A); return b; }}
void solve(const float* A, const float* B, float* C, int N) {{
    DeviceBuffer<float> first(N);
    DeviceBuffer<float> second = make(B, 2 * N);
    DeviceBuffer<float> third;
    third = std::move(second);
    DeviceBuffer<float> fourth(std::move(third));
    k<<<2, 2>>>(first.get(), C, fourth.size());
    if (second.get() || third.size()) k<<<9, 9>>>(A, C, N);
}}"
    );
    let plan = plan_of(&source, 100).unwrap();
    assert_eq!(
        text(&plan),
        "s0 = alloc 400\ns1 = alloc 800\nk <1x1x1, 1x1x1, 0> (p1, s1, 200)\n\
         k <2x1x1, 2x1x1, 0> (s0, p2, 200)\nfree s1\nfree s0"
    );
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
}

#[test]
fn objects_end_in_reverse_order_wherever_the_block_is_left() {
    for (statements, expected) in [
        ("{ Log a(&t, 1); Log b(&t, 2); }", "21"),
        ("{ Log a(&t, 1); { Log b(&t, 2); } Log c(&t, 3); }", "231"),
        (
            "for (int i = 1; i < 9; ++i) { Log a(&t, i); if (i == 2) continue; if (i == 4) break; Log b(&t, 5); }",
            "512534",
        ),
        ("int r = early(&t, N); t = t * 10 + r;", "210"),
        ("early(&t, 3);", "31"),
        ("{ Log l[2] = {Log(&t, 1), Log(&t, 2)}; }", "21"),
        ("{ Log a = made(&t); t = t * 10 + 1; }", "817"),
        ("made(&t); t = t * 10 + 9;", "879"),
        ("int id = made(&t).id; t = t * 10 + id;", "877"),
        ("{ const Log& l = made(&t); t = t * 10 + 1; }", "817"),
        ("{ Log l(&t, 1); takes(l, Log(&t, 2)); }", "221"),
        ("{ Pair p(&t); }", "321"),
        ("{ Plain p{Log(&t, 1), Log(&t, 2)}; }", "21"),
        ("Log* p = new Log(&t, 4); delete p;", "4"),
        (
            "{ auto f = [&t](int i) { Log l(&t, i); return i; }; f(6); }",
            "6",
        ),
        ("if (Log l(&t, 5); N > 1) { t = 1; }", "15"),
        (
            "switch (N) { case 100: { Log l(&t, 5); break; } default: t = 9; }",
            "5",
        ),
        ("{ std::pair<int, int> q{1, 2}; Log l{&t, q.second}; }", "2"),
    ] {
        let statements = format!("int t = 0; {statements}");
        assert_eq!(value_in(LOG, &statements, "t"), expected, "{statements}");
    }
}

#[test]
fn what_would_make_a_second_object_is_refused() {
    for (statements, line) in [
        ("Log a(&t, 1); Log b = a;", 5),
        ("Log a(&t, 1); auto b = a;", 5),
        ("Log a(&t, 1); auto f = [=]() { return a.id; };", 5),
        ("Log a(&t, 1); Log b(&t, 2); a = b;", 5),
        ("Log a(&t, 1); Plain p{a, Log(&t, 2)};", 5),
    ] {
        let log = LOG.replace('\n', " ");
        let source = format!(
            "{log}\n\n\nvoid solve(const float* A, const float* B, float* C, int N) {{\nint t = 0; {statements}\n}}"
        );
        let (kind, at, _, message, hint) = described(&plan_of(&source, 1).unwrap_err());
        assert_eq!(
            (kind.as_str(), at, message.as_str()),
            (
                "unsupported_construct",
                line,
                "this makes a second `Log`, which has a destructor, without a constructor or operator= of the class"
            ),
            "{statements}"
        );
        assert!(!hint.is_empty());
    }
    let vector = format!(
        "{LOG}\nvoid solve(const float* A, const float* B, float* C, int N) {{ std::vector<Log> v; }}"
    );
    assert!(plan_of(&vector, 1).is_err());
}

#[test]
fn constructors_of_the_class_copy_and_move() {
    let class = "struct Box { int* to; int v; Box(int* t, int i) : to(t), v(i) {} Box(const Box& o) : to(o.to), v(o.v + 1) {}
        Box(Box&& o) : to(o.to), v(o.v) { o.v = 0; } Box& operator=(const Box& o) { v = o.v * 2; return *this; }
        ~Box() { *to = *to * 10 + v; } };
        int sum(Box a, const Box& b) { return a.v + b.v; }
        struct Twice { int v; Twice& operator=(const Twice& o) { v = 2 * o.v; return *this; } };
        struct Del { int a, b; Del(int x, int y) : a(x), b(y) {} Del(int x) : Del(x, x + 1) {} };
        struct In { int v; In(int x) : v(x) {} }; struct Out { In a; int n = 4; In b; Out(int x) : b(n + x), a(x) {} };";
    for (statements, expected) in [
        ("{ Box a(&t, 3); Box b = a; }", "43"),
        ("{ Box a(&t, 3); Box b(std::move(a)); }", "30"),
        ("{ Box a(&t, 3); Box b(&t, 1); b = a; }", "63"),
        (
            "int s; { Box a(&t, 3); s = sum(a, a); } t = t * 10 + s;",
            "437",
        ),
        (
            "int s; { Box a(&t, 3); s = sum(std::move(a), Box(&t, 5)); } t = t * 10 + s % 10;",
            "5308",
        ),
        ("Twice a{3}, b{0}; b = a; t = b.v;", "6"),
        ("Del d(3); t = d.a * 10 + d.b;", "34"),
        ("Out o(3); t = o.a.v * 10 + o.b.v;", "37"),
    ] {
        let statements = format!("int t = 0; {statements}");
        assert_eq!(value_in(class, &statements, "t"), expected, "{statements}");
    }
}

#[test]
fn objects_end_wherever_they_are_returned_from() {
    for (statements, expected) in [
        ("{ Log a = inner(&t, N); t = t * 10 + 9; }", "297"),
        (
            "t = file_log.id; static Log s(&t, 4); t = t * 10 + s.id;",
            "54",
        ),
        (
            "for (int i = 0; i < 2; ++i, made(&t)) {} t = t * 10;",
            "87870",
        ),
        ("switch (made(&t).id) { case 7: t = t * 10 + 1; }", "871"),
        ("(void)made(&t); t = t * 10 + 5;", "875"),
    ] {
        let statements = format!("int t = 0; {statements}");
        let log = format!(
            "{LOG} int unused; Log file_log(&unused, 5);
            Log inner(int* t, int n) {{ Log b(t, 7); if (n > 1) {{ Log d(t, 2); return b; }} return b; }}"
        );
        assert_eq!(value_in(&log, &statements, "t"), expected, "{statements}");
    }
}
