//! std::vector, std::array, std::pair, structured bindings, and the algorithms over them.
#![allow(missing_docs)]

mod common;

use common::values::{refusal, value, value_in};

#[test]
fn vectors_hold_elements() {
    for (statements, expression, expected) in [
        (
            "std::vector<int> v(10); v.push_back(3); for (size_t i = 0; i < v.size(); ++i) v[i] += i;",
            "v[10] * 100 + v[9]",
            "1309",
        ),
        (
            "std::vector<int> v = {1, 2, 3};",
            "v.size() * 10 + v.back()",
            "33",
        ),
        ("std::vector<int> v{5};", "v.size() * 10 + v[0]", "15"),
        ("std::vector<int> v(5);", "v.size() * 10 + v[0]", "50"),
        (
            "std::vector<int> v(5, 2);",
            "v.size() * 10 + v.front()",
            "52",
        ),
        (
            "std::vector<int> v(3, 1); auto w = v; w[0] = 9;",
            "v[0] * 10 + w[0]",
            "19",
        ),
        (
            "std::vector<int> v; v.resize(4, 7); v.resize(2); v.emplace_back(8); v.pop_back();",
            "v.size() * 10 + v.back()",
            "27",
        ),
        (
            "std::vector<int> v(3); int* p = v.data(); p[2] = 5; *p = 4;",
            "v[0] * 10 + v[2]",
            "45",
        ),
        (
            "std::vector<int> v = {3, 1}; v.assign(4, 6); v.back() = 1;",
            "v[2] * 10 + v[3]",
            "61",
        ),
        (
            "std::vector<int> v = {1, 2, 3}; v.erase(v.begin() + 1); v.insert(v.end(), 9);",
            "v[1] * 10 + v[2]",
            "39",
        ),
        (
            "std::vector<int> v = {1, 2, 3}; int s = 0; for (auto it = v.begin(); it != v.end(); ++it) s += *it;",
            "s",
            "6",
        ),
        (
            "std::vector<int> v = {1, 2, 3}; int s = 0; for (int& x : v) { x *= 2; s += x; }",
            "s + v[0]",
            "14",
        ),
        (
            "std::vector<std::vector<int>> v(2, std::vector<int>(3, 1)); v[1][2] = 5;",
            "v[0][2] * 10 + v[1][2]",
            "15",
        ),
        (
            "struct P { int a; float b; }; std::vector<P> v; v.push_back({1, 2}); v.push_back(P{3, 4}); v[0].a = 7;",
            "v[0].a * 10 + v[1].a",
            "73",
        ),
        (
            "int raw[4] = {1, 2, 3, 4}; std::vector<int> v(raw, raw + 3);",
            "v.size() * 10 + v[2]",
            "33",
        ),
        (
            "std::vector<int> v; bool e = v.empty(); v.clear();",
            "e + v.size()",
            "1",
        ),
        (
            "std::vector<int> a = {1}, b = {2, 3}; std::swap(a, b);",
            "a.size() * 10 + b.size()",
            "21",
        ),
        (
            "std::vector<float> v(N);",
            "v.size() * sizeof(float)",
            "400",
        ),
    ] {
        assert_eq!(value(statements, expression), expected, "{statements}");
    }
}

#[test]
fn vectors_go_to_functions_and_to_the_device() {
    let helpers = "void add(std::vector<int>& v, int x) { v.push_back(x); }
                   int first(const std::vector<int>& v) { return v[0]; }
                   int changed(std::vector<int> v) { v[0] = 100; return v[0]; }
                   template <typename T> int count(const std::vector<T>& v) { return v.size() * sizeof(T); }
                   std::vector<int> upto(int n) { std::vector<int> r; for (int i = 0; i < n; i++) r.push_back(i); return r; }";
    for (statements, expression, expected) in [
        (
            "std::vector<int> v = {4}; add(v, 5);",
            "v.size() * 10 + v[1]",
            "25",
        ),
        ("std::vector<int> v = {4};", "changed(v) + first(v)", "104"),
        ("std::vector<double> v(3);", "count(v)", "24"),
        ("auto v = upto(5);", "v.back() + upto(3).size()", "7"),
        ("", "upto(4)[2]", "2"),
        ("int s = 0; for (int x : upto(4)) s += x;", "s", "6"),
    ] {
        assert_eq!(
            value_in(helpers, statements, expression),
            expected,
            "{statements}"
        );
    }
    let body = "std::vector<int> h = {1, 2}; int* d; cudaMalloc(&d, h.size() * sizeof(int));
                cudaMemcpy(d, h.data(), h.size() * sizeof(int), cudaMemcpyHostToDevice); cudaFree(d);";
    assert_eq!(
        common::plan_text(body, 1),
        "s0 = alloc 8\nupload s0 [1, 0, 0, 0, 2, 0, 0, 0]\nfree s0"
    );
}

#[test]
fn a_vector_is_watched_like_an_array() {
    for (body, expected) in [
        (
            "std::vector<int> v(3); v[3] = 1;",
            "host_fault: element 3 of a `std::vector<int>` of 3 is accessed",
        ),
        (
            "std::vector<int> v; v.pop_back();",
            "host_fault: `pop_back()` of an empty `std::vector<int>`",
        ),
        (
            "std::vector<int> v; int x = v.back();",
            "host_fault: `back()` of an empty `std::vector<int>`",
        ),
        (
            "std::vector<int> v(2); int* p = v.data(); v.clear(); *p = 1;",
            "host_fault: element 0 of a `std::vector<int>` of 0 is accessed",
        ),
        (
            "std::vector<int> v(1 << 30);",
            "fuel: host memory of 1073741824 elements in all; the limit is 1048576",
        ),
        (
            "std::vector<int> v; v.frobnicate();",
            "unsupported_construct: `.frobnicate()` of a `std::vector<int>` is not in the host subset",
        ),
        (
            "std::vector<std::set<int>> v;",
            "unsupported_construct: the container `std::set<int>` in host code is not in the host subset",
        ),
        (
            "std::vector<int> v(3); k<<<1, 1>>>(v.data(), B, C, N);",
            "launch_config: argument 1 of `k` is a `int*` where `const float*` is expected",
        ),
    ] {
        assert_eq!(refusal(body), expected, "{body}");
    }
}

#[test]
fn arrays_pairs_and_bindings() {
    for (statements, expression, expected) in [
        (
            "std::array<int, 3> a = {1, 2, 3}; auto b = a; b[0] = 9;",
            "a[0] * 100 + b[0] * 10 + a.size()",
            "193",
        ),
        (
            "std::array<int, 4> a{}; a.fill(2); int s = 0; for (int x : a) s += x;",
            "s",
            "8",
        ),
        (
            "std::array<int, 2> a = {{4, 5}};",
            "std::get<1>(a) * 10 + *a.data()",
            "54",
        ),
        (
            "std::pair<int, float> p{1, 2.5f}; p.first = 3;",
            "p.first + (int)(p.second * 2)",
            "8",
        ),
        (
            "auto p = std::make_pair(4, 5L);",
            "p.first * 10 + std::get<1>(p)",
            "45",
        ),
        (
            "std::pair<int, int> p = std::make_pair(1, 2);",
            "p.second",
            "2",
        ),
        ("auto [x, y] = std::make_pair(6, 7);", "x * 10 + y", "67"),
        (
            "struct P { int a, b; }; auto [x, y] = P{1, 2}; x = 5;",
            "x * 10 + y",
            "52",
        ),
        (
            "struct P { int a, b; }; P p{1, 2}; auto& [x, y] = p; x = 5;",
            "p.a * 10 + y",
            "52",
        ),
        ("int a[2] = {3, 4}; auto [x, y] = a;", "x * 10 + y", "34"),
        (
            "std::vector<std::pair<int, int>> v = {{1, 2}, {3, 4}}; int s = 0; for (auto& [a, b] : v) s += a * b;",
            "s",
            "14",
        ),
    ] {
        assert_eq!(value(statements, expression), expected, "{statements}");
    }
    assert_eq!(
        refusal("struct P { int a, b; }; auto [x] = P{1, 2};"),
        "unsupported_construct: 1 names for the parts of a `P`"
    );
}

#[test]
fn algorithms_over_ranges() {
    for (statements, expression, expected) in [
        ("int v[4]; std::fill(v, v + 4, 3);", "v[0] + v[3]", "6"),
        (
            "std::vector<int> v(4); std::iota(v.begin(), v.end(), 5);",
            "v[0] * 10 + v[3]",
            "58",
        ),
        (
            "int v[3] = {1, 2, 3};",
            "std::accumulate(v, v + 3, 10)",
            "16",
        ),
        (
            "float v[2] = {0.5f, 0.75f};",
            "std::accumulate(v, v + 2, 0) * 100",
            "0",
        ),
        (
            "int v[3] = {2, 3, 4};",
            "std::accumulate(v, v + 3, 1, [](int a, int b) { return a * b; })",
            "24",
        ),
        (
            "int v[4] = {3, 1, 2, 1};",
            "(std::min_element(v, v + 4) - v) * 10 + *std::max_element(v, v + 4)",
            "13",
        ),
        (
            "std::vector<int> v = {3, 1, 2}; std::sort(v.begin(), v.end());",
            "v[0] * 100 + v[1] * 10 + v[2]",
            "123",
        ),
        (
            "int v[3] = {3, 1, 2}; std::sort(v, v + 3, [](int a, int b) { return a > b; });",
            "v[0] * 100 + v[1] * 10 + v[2]",
            "321",
        ),
        ("int v[3] = {1, 2, 3}; std::reverse(v, v + 3);", "v[0]", "3"),
        (
            "int v[3] = {1, 2, 3}, w[3]; std::copy(v, v + 3, w);",
            "w[2]",
            "3",
        ),
        (
            "std::vector<int> v = {1, 2}; std::transform(v.begin(), v.end(), v.begin(), [](int x) { return x * x + 1; });",
            "v[1]",
            "5",
        ),
        (
            "int v[3] = {1, 2, 2};",
            "std::count(std::begin(v), std::end(v), 2) * 10 + std::size(v)",
            "23",
        ),
        (
            "int v[3] = {1, 2, 3}; std::for_each(v, v + 3, [](int& x) { x += 1; });",
            "v[2]",
            "4",
        ),
        (
            "int v[3] = {1, 2, 3};",
            "std::any_of(v, v + 3, [](int x) { return x > 2; })",
            "1",
        ),
        ("int v[2]; memset(v, 0, sizeof v);", "v[1]", "0"),
        ("int v[2]; memset(v, 0xff, sizeof v);", "v[1]", "-1"),
        (
            "int v[2] = {1, 2}, w[2]; std::memcpy(w, v, sizeof v);",
            "w[1]",
            "2",
        ),
        (
            "int* h = (int*)calloc(4, sizeof(int)); h[1] = 2; int s = h[0] + h[1]; free(h);",
            "s",
            "2",
        ),
        ("", "std::clamp(N, 1, 32) + std::gcd(12, 18)", "38"),
    ] {
        assert_eq!(value(statements, expression), expected, "{statements}");
    }
    for (body, expected) in [
        (
            "std::fill(C, C + N, 0.0f);",
            "unsupported_construct: host code works on device memory: the range points to the device",
        ),
        (
            "memset(C, 0, 4);",
            "unsupported_construct: `memset` of device memory in host code",
        ),
        (
            "int v[3] = {1, 2, 3}; std::sort(v, v + 4);",
            "host_fault: a range of 4 elements of which 3 exist",
        ),
        (
            "int v[3]; std::sort(v, v + 3);",
            "host_fault: an element is read before it has a value",
        ),
        (
            "int v[2]; memset(v, 0, 12);",
            "host_fault: memset of 12 bytes of host memory that has 8",
        ),
    ] {
        assert_eq!(refusal(body), expected, "{body}");
    }
}

#[test]
fn work_on_host_elements_costs_steps() {
    let body = "std::vector<int> v(200000); for (;;) std::fill(v.begin(), v.end(), 1);";
    assert!(refusal(body).starts_with("fuel: "));
    let body = "std::vector<int> v(200000); std::vector<int> w; for (;;) w = v;";
    assert!(refusal(body).starts_with("fuel: "));
    let body = "std::vector<int> v(1000000, 1); std::sort(v.begin(), v.end());";
    assert!(refusal(body).starts_with("fuel: "));
}

#[test]
fn what_host_code_prints_is_left_out_with_one_warning() {
    let body = "int n = N;\nprintf(\"%d\\n\", n++);\nstd::cout << n++ << \" x\" << std::endl;
                fprintf(stderr, \"done\"); puts(\"bye\"); one<<<1, 1>>>(C, n);";
    let plan = common::plan_of(&common::with_body(body), 3).unwrap();
    assert_eq!(common::text(&plan), "one <1x1x1, 1x1x1, 0> (p2, 5)");
    let warnings: Vec<(u32, &str)> = plan
        .warnings
        .iter()
        .map(|warning| {
            (
                warning.line.unwrap() + 1 - common::BODY_LINE,
                warning.message.as_str(),
            )
        })
        .collect();
    assert_eq!(warnings, [(2, "host output (`printf`) is left out")]);
}
