//! `std::unique_ptr` and `std::optional`.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::values::{refusal, value_in};
use common::{described, plan_of, text};

/// Writes the letters of the objects that end, as digits of a number.
const LOG: &str = "struct Log { int* to; int id; Log(int* t, int i) : to(t), id(i) {} ~Log() { *to = *to * 10 + id; }
        int twice() const { return 2 * id; } };
    struct End { int* to; void operator()(Log* l) const { *to = *to * 10 + 9; delete l; } };
    std::unique_ptr<Log> made(int* t, int i) { return std::make_unique<Log>(t, i); }
    std::unique_ptr<Log> local(int* t) { auto p = std::make_unique<Log>(t, 3); p->id += 1; return p; }
    void take(std::unique_ptr<Log> p) { *p->to = *p->to * 10 + 8; }
    int look(const std::unique_ptr<Log>& p) { return p ? p->id : 0; }
    struct Owner { std::unique_ptr<Log> log; int n; };";

#[test]
fn what_a_unique_ptr_holds_ends_with_it() {
    for (statements, expected) in [
        ("{ std::unique_ptr<Log> p(new Log(&t, 1)); t = 5; }", "51"),
        ("{ auto p = std::make_unique<Log>(&t, 2); t = 5; }", "52"),
        (
            "{ std::unique_ptr<Log> p; p.reset(new Log(&t, 1)); p.reset(new Log(&t, 2)); t = t * 10 + 5; }",
            "152",
        ),
        (
            "{ auto p = made(&t, 1); auto q = std::move(p); if (!p && q) t = 7; }",
            "71",
        ),
        (
            "{ auto p = made(&t, 1); p = made(&t, 2); t = t * 10 + 5; }",
            "152",
        ),
        (
            "{ auto p = made(&t, 1); p = nullptr; t = t * 10 + 5; }",
            "15",
        ),
        (
            "{ auto p = made(&t, 1); auto q = made(&t, 2); p = std::move(q); t = t * 10 + 5; }",
            "152",
        ),
        ("{ auto p = made(&t, 1); p = std::move(p); t = 5; }", "51"),
        (
            "{ auto p = made(&t, 1), q = made(&t, 2); std::swap(p, q); t = p->id * 10 + q->id; p.swap(q); }",
            "2121",
        ),
        ("{ auto p = local(&t); t = p->id; }", "44"),
        (
            "{ auto p = made(&t, 6); take(std::move(p)); t = t * 10 + look(p); }",
            "860",
        ),
        ("take(made(&t, 3));", "83"),
        (
            "{ auto p = made(&t, 3); int i = look(p) + (*p).id + p->twice(); t = i; }",
            "123",
        ),
        (
            "{ auto p = made(&t, 1); Log* raw = p.release(); t = p == nullptr; delete raw; }",
            "11",
        ),
        (
            "{ std::unique_ptr<Log, End> p(new Log(&t, 1), End{&t}); t = 5; }",
            "591",
        ),
        (
            "{ auto end = [&t](Log* l) { t = t * 10 + 7; delete l; };
            std::unique_ptr<Log, decltype(end)> p(new Log(&t, 1), end); }",
            "71",
        ),
        (
            "{ std::unique_ptr<Log, void (*)(Log*)> p(new Log(&t, 1), [](Log* l) { delete l; }); t = 2; }",
            "21",
        ),
        (
            "{ std::unique_ptr<Log, std::function<void(Log*)>> p(new Log(&t, 1), [&](Log* l) { t = 4; delete l; }); }",
            "41",
        ),
        (
            "{ Owner a{made(&t, 1), 5}; Owner b = std::move(a); if (!a.log) t = b.n; }",
            "51",
        ),
        (
            "{ Owner a{made(&t, 1), 5}; Owner b{made(&t, 2), 6}; a = std::move(b); t = t * 10 + a.n; }",
            "162",
        ),
        (
            "{ std::unique_ptr<Log> p[2] = {made(&t, 1), made(&t, 2)}; t = p[1]->id; }",
            "221",
        ),
        ("made(&t, 4); t = t * 10 + 5;", "45"),
        ("if (auto p = made(&t, 4)) { t = p->id + 1; }", "54"),
        ("t = made(&t, 4)->twice();", "84"),
        ("while (made(&t, 4)->id < 4) { } t = t * 10 + 1;", "41"),
    ] {
        let statements = format!("int t = 0; {statements}");
        assert_eq!(value_in(LOG, &statements, "t"), expected, "{statements}");
    }
}

#[test]
fn arrays_and_numbers_are_held_too() {
    let alias =
        "template <class T> using Host = std::unique_ptr<T[]>; using Ints = std::unique_ptr<int[]>;
        struct P { int x, y; };";
    for (statements, expression, expected) in [
        (
            "std::unique_ptr<int[]> v(new int[3]{1, 2, 3}); v[1] += 5;",
            "v[0] + v[1] * 10",
            "71",
        ),
        (
            "auto v = std::make_unique<int[]>(4); v[3] = 2;",
            "v[0] * 10 + v[3]",
            "2",
        ),
        (
            "Ints v = std::make_unique<int[]>(2); v.get()[1] = 3; int* p = &v[1];",
            "*p",
            "3",
        ),
        (
            "Host<float> v(new float[2]); v[0] = 1.5f;",
            "(int)(v[0] * 4)",
            "6",
        ),
        (
            "std::unique_ptr<int> n(new int(4)); *n += 2; ++*n;",
            "*n",
            "7",
        ),
        (
            "std::unique_ptr<const int> n = std::make_unique<const int>(4);",
            "*n",
            "4",
        ),
        (
            "auto p = std::make_unique<P>(P{3, 4}); p->y = 5; auto& q = *p; q.x = 1;",
            "p->x * 10 + (*p).y",
            "15",
        ),
        (
            "auto v = std::make_unique<std::vector<int>>(3); v->push_back(7); (*v)[0] = 2;",
            "v->size() * 10 + v->back() + (*v)[0]",
            "49",
        ),
        (
            "std::unique_ptr<int> n; bool held = static_cast<bool>(n); bool is = n != nullptr;",
            "held * 2 + is",
            "0",
        ),
        (
            "std::unique_ptr<int> n{nullptr};",
            "n.get() == nullptr && !n",
            "1",
        ),
        ("", "sizeof(std::unique_ptr<int[]>)", "8"),
    ] {
        assert_eq!(
            value_in(alias, statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn a_unique_ptr_frees_device_memory_by_its_deleter() {
    let source = "struct CudaFree { void operator()(void* p) const { cudaFree(p); } };
template <class T> using DevicePtr = std::unique_ptr<T, CudaFree>;
template <class T> DevicePtr<T> device(size_t n) { T* p = nullptr; cudaMalloc(&p, n * sizeof(T)); return DevicePtr<T>(p); }
__global__ void k(const float* a, float* c, int n) {}
void solve(const float* A, const float* B, float* C, int N) {
    std::unique_ptr<float, CudaFree> first;
    float* raw; cudaMalloc(&raw, N * 4); first.reset(raw);
    auto second = device<float>(2 * N);
    std::unique_ptr<float, decltype(&cudaFree)> third(nullptr, &cudaFree);
    cudaMalloc(&raw, 8); third.reset(raw);
    k<<<1, 1>>>(first.get(), second.get() + 4, N);
    second.reset();
    k<<<2, 1>>>(third.get(), C, N);
}";
    assert_eq!(
        text(&plan_of(source, 4).unwrap()),
        "s0 = alloc 16\ns1 = alloc 32\ns2 = alloc 8\nk <1x1x1, 1x1x1, 0> (s0, s1+16, 4)\nfree s1\n\
         k <2x1x1, 1x1x1, 0> (s2, p2, 4)\nfree s2\nfree s0"
    );
}

#[test]
fn a_second_owner_is_refused() {
    for statement in [
        "auto r = p;",
        "std::unique_ptr<int> r(p);",
        "q = p;",
        "auto f = [=]() { return *p; };",
    ] {
        let source = format!(
            "void solve(const float* A, const float* B, float* C, int N) {{
std::unique_ptr<int> p(new int(3)), q;
{statement}
}}"
        );
        let (kind, line, _, message, _) = described(&plan_of(&source, 1).unwrap_err());
        assert_eq!(
            (kind.as_str(), line),
            ("unsupported_construct", 3),
            "{statement}: {message}"
        );
    }
    assert_eq!(
        refusal("std::unique_ptr<int> p; *p = 3;"),
        "host_fault: host code follows a null pointer"
    );
    assert_eq!(
        refusal("float* d; cudaMalloc(&d, 4); std::unique_ptr<float> p(d);"),
        "host_fault: device memory is freed as host memory"
    );
}

#[test]
fn optionals() {
    let functions = "struct P { int x, y; };
        std::optional<int> half(int n) { if (n % 2) return std::nullopt; return n / 2; }
        std::optional<P> at(int n) { if (n > 9) return {}; return P{n, n + 1}; }";
    for (statements, expression, expected) in [
        ("auto h = half(8);", "h.has_value() * 100 + *h", "104"),
        ("auto h = half(7);", "h.value_or(-1)", "-1"),
        (
            "std::optional<int> o; if (!o) o = 5; *o += 1;",
            "o.value()",
            "6",
        ),
        ("std::optional<int> o = 3; o.reset();", "o ? 1 : 2", "2"),
        (
            "std::optional<int> o = 3; o = std::nullopt;",
            "o == std::nullopt",
            "1",
        ),
        (
            "std::optional<int> o = 3;",
            "(o == 3) * 100 + (o != std::nullopt) * 10 + (o < 3)",
            "110",
        ),
        ("auto p = at(3); p->y *= 2;", "p->x * 10 + p->y", "38"),
        ("auto p = at(10);", "p.has_value()", "0"),
        ("if (auto h = half(6); h) N = *h;", "N", "3"),
        (
            "std::optional<P> p; p.emplace(P{4, 5}); auto q = p; q->x = 9;",
            "p->x * 100 + q->x * 10 + q->y",
            "495",
        ),
        (
            "auto o = std::make_optional(2.5f); std::optional<double> d = o;",
            "(int)(*d * 2)",
            "5",
        ),
        (
            "",
            "sizeof(std::optional<int>) * 100 + sizeof(std::optional<double>)",
            "816",
        ),
    ] {
        assert_eq!(
            value_in(functions, statements, expression),
            expected,
            "{statements}"
        );
    }
    assert_eq!(
        refusal("std::optional<int> o; int n = *o;"),
        "host_fault: the value of an empty `std::optional<int>` is used"
    );
}

#[test]
fn arguments_of_standard_templates_follow_from_values() {
    for (statements, expression, expected) in [
        (
            "std::tuple t{1, 2.5f, N};",
            "std::get<0>(t) + (int)(std::get<1>(t) * 2) + std::get<2>(t)",
            "106",
        ),
        (
            "std::pair p(3, 4L);",
            "p.first * 10 + p.second + sizeof(p) * 100",
            "1634",
        ),
        ("std::vector v{1, 2, 3};", "v.size() * 10 + v[2]", "33"),
        (
            "std::vector v(4, 2.5f);",
            "v.size() * 10 + (int)(v[3] * 2)",
            "45",
        ),
        ("std::array a{5, 6};", "a.size() * 10 + a[1]", "26"),
        (
            "std::pair p{1, 2}; std::pair q = p; q.first = 7;",
            "p.first * 10 + q.first",
            "17",
        ),
        ("auto t = std::tuple(1, 2);", "std::get<1>(t)", "2"),
        ("auto p = std::pair{1, 2};", "p.second", "2"),
    ] {
        assert_eq!(
            value_in("", statements, expression),
            expected,
            "{statements}"
        );
    }
}

#[test]
fn tuples_and_containers_are_compared_part_by_part() {
    for (statements, expression, expected) in [
        (
            "auto a = std::make_tuple(1, 2), b = std::make_tuple(1, 3);",
            "(a < b) * 1000 + (a == b) * 100 + (a != b) * 10 + (a >= b)",
            "1010",
        ),
        (
            "std::pair<int, float> a{2, 1.0f}, b{1, 9.0f};",
            "(a < b) * 100 + (a > b) * 10 + (a <= a)",
            "11",
        ),
        (
            "std::vector<int> a{1, 2}, b{1, 2, 0};",
            "(a < b) * 100 + (a == b) * 10 + (a != b)",
            "101",
        ),
        (
            "std::array<int, 2> a{1, 2}, b{1, 2};",
            "(a == b) * 10 + (a < b)",
            "10",
        ),
        (
            "std::vector<std::pair<int, int>> v{{2, 1}, {1, 5}, {1, 3}}; std::sort(v.begin(), v.end());",
            "v[0].second * 100 + v[1].second * 10 + v[2].first",
            "352",
        ),
        (
            "int a = 3, b = 4, c = 3, d = 5;",
            "(std::tie(a, b) < std::tie(c, d)) * 10 + (std::tie(a, b) == std::tie(c, d))",
            "10",
        ),
    ] {
        assert_eq!(
            value_in("", statements, expression),
            expected,
            "{statements}"
        );
    }
}
