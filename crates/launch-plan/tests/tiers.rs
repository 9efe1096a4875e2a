//! Answers of each tier of the host subset, by the plan they come to.
#![allow(missing_docs)]

mod common;

use common::{plan_of, plan_text, text, with_body};

/// The plan of a whole file.
fn file_text(source: &str, n: i64) -> String {
    match plan_of(source, n) {
        Ok(plan) => text(&plan),
        Err(failure) => panic!("{}: {failure}", failure.kind),
    }
}

/// The grid of `one<<<{expression}, 1>>>`, after some statements.
fn grid_of(statements: &str, expression: &str, n: i64) -> String {
    let plan = plan_text(&format!("{statements} one<<<{expression}, 1>>>(C, N);"), n);
    let start = plan.find('<').expect("a launch") + 1;
    plan[start..]
        .split('x')
        .next()
        .expect("an extent")
        .to_owned()
}

#[test]
fn t0_arithmetic_and_launches() {
    let plan = plan_text(
        "int threads = 256; int blocks = (N + threads - 1) / threads;
         k<<<blocks, threads>>>(A, B, C, N);
         cudaDeviceSynchronize();",
        1000,
    );
    assert_eq!(plan, "k <4x1x1, 256x1x1, 0> (p0, p1, p2, 1000)");
}

#[test]
fn t0_dim3_in_all_its_forms() {
    let grid = |declaration: &str| {
        let body = format!("const int TILE = 16; {declaration} one<<<g, 1>>>(C, N);");
        plan_text(&body, 33)
    };
    let expected = |g: &str| format!("one <{g}, 1x1x1, 0> (p2, 33)");
    for (declaration, g) in [
        ("dim3 g(TILE, TILE);", "16x16x1"),
        ("dim3 g(TILE);", "16x1x1"),
        ("dim3 g(N * TILE);", "528x1x1"),
        ("dim3 g(N & TILE | 1);", "1x1x1"),
        ("dim3 g(CEIL_DIV(N, TILE), TILE, 2);", "3x16x2"),
        ("dim3 g((N + 15) / 16, N);", "3x33x1"),
        ("dim3 g = {2, 3};", "2x3x1"),
        ("dim3 g{2, 3, 4};", "2x3x4"),
        ("dim3 g{(unsigned)N, 3u, 4};", "33x3x4"),
        ("dim3 g = dim3(TILE / 2);", "8x1x1"),
        ("dim3 g; g.x = 5; g.y = TILE;", "5x16x1"),
        ("dim3 g{};", "1x1x1"),
        ("dim3 g = 7;", "7x1x1"),
        ("auto g = dim3(2, 2); g.z += 3;", "2x2x4"),
        ("dim3 h(3, 4); dim3 g(h.y, h.x); g.x++;", "5x3x1"),
        ("dim3 h(3, 4); dim3 g = h;", "3x4x1"),
        ("dim3 a(4), g(2, 2);", "2x2x1"),
        ("unsigned g(TILE);", "16x1x1"),
        ("size_t g(TILE);", "16x1x1"),
        ("float b = 32; dim3 g(ceil(N / b), 1);", "2x1x1"),
        ("float blockSize = 256; dim3 g(blockSize, 1, 1);", "256x1x1"),
    ] {
        assert_eq!(grid(declaration), expected(g), "{declaration}");
    }
    let inline = "k<<<{2, 3}, dim3(4, 5), 64>>>(A, B, C, N);";
    assert_eq!(plan_text(inline, 7), "k <2x3x1, 4x5x1, 64> (p0, p1, p2, 7)");
}

#[test]
fn t0_types_convert_as_in_cpp() {
    for (statements, expression, expected) in [
        ("", "(N + 255) / 256", "4"),
        ("unsigned u = 3;", "(u - 4) >> 30", "3"),
        ("long long big = 1LL << 33;", "big >> 32", "2"),
        (
            "size_t bytes = (size_t)N * 4000000;",
            "bytes / 1000000000",
            "4",
        ),
        ("int a = 7, b = 2;", "a / b + a % b", "4"),
        ("int a = -7;", "-(a / 2)", "3"),
        ("", "N > 10 ? 5 : 6", "5"),
        ("", "N > 10 && !(N == 3) || false ? 5 : 6", "5"),
        ("double d = 2.5;", "(int)d + int(1.9)", "3"),
        ("float f = 0.1f;", "(int)(f * 30)", "3"),
        ("float f = 16777217;", "f - 16777215", "1"),
        ("", "static_cast<int>(ceilf(N / 256.0f))", "4"),
        ("", "std::min(N, 17)", "17"),
        ("", "max(min(N, 5), 3)", "5"),
        ("", "std::max({1, 9, 4})", "9"),
        ("", "(int)log2((double)1024)", "10"),
        ("", "(int)sqrt(N * 1.0 - 39)", "31"),
        ("", "sizeof(float) + sizeof(double) + sizeof(N)", "16"),
        (
            "",
            "sizeof(float4) + sizeof(half) + sizeof(__nv_bfloat16)",
            "20",
        ),
        ("int a[5];", "sizeof(a) / sizeof(a[0])", "5"),
        ("short s = 300; char c = 'a';", "s + c", "397"),
        ("unsigned char c = 300;", "c", "44"),
        ("bool b = N;", "b + 1", "2"),
        ("int x = 5; x <<= 2; x ^= 1; x |= 8; x %= 16;", "x", "13"),
        ("int x = 1; int y = x++ + ++x;", "y", "4"),
        ("int x = 0x10, y = 0b11, z = 010;", "x + y + z", "27"),
        (
            "const auto n = N / 2; constexpr int T = 4 * 2;",
            "n + T",
            "508",
        ),
        (
            "using Index = long; typedef unsigned Count; Index i = 3; Count c = 4;",
            "i * c",
            "12",
        ),
        (
            "int32_t a = 1; uint64_t b = 2; std::size_t c = 3;",
            "a + b + c",
            "6",
        ),
        ("", "INT_MAX / 1000000", "2147"),
        ("int a = 1, b = 2; (void)a; a = (b, 3);", "a", "3"),
    ] {
        assert_eq!(
            grid_of(statements, expression, 1000),
            expected,
            "{statements} {expression}"
        );
    }
}

#[test]
fn t0_macros_and_file_constants() {
    let source = "\
#define TILE 16
#define BLOCKS(n) (((n) + TILE - 1) / TILE)
#ifdef USE_BIG
#define SCALE 4
#elif TILE > 8
#define SCALE 2
#endif
#define LAUNCH(kernel, grid, ...) kernel<<<grid, TILE>>>(__VA_ARGS__)
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \\
    fprintf(stderr, \"%s\", cudaGetErrorString(e)); exit(1); } } while (0)
constexpr int WIDTH = TILE * SCALE;
const int ROWS = WIDTH + 1;
enum { DEPTH = 3, NEXT };
enum class Mode : int { A = 5, B };
__global__ void k(float* c, int n) {}
extern \"C\" void solve(const float* A, const float* B, float* C, int N) {
    LAUNCH(k, BLOCKS(N), C, N);
    CHECK(cudaGetLastError());
    k<<<WIDTH, ROWS>>>(C, NEXT);
#if SCALE == 2
    k<<<1, DEPTH>>>(C, (int)Mode::B);
#else
    k<<<0, 0>>>(C, N);
#endif
}
";
    assert_eq!(
        file_text(source, 100),
        "k <7x1x1, 16x1x1, 0> (p2, 100)\nk <32x1x1, 33x1x1, 0> (p2, 4)\nk <1x1x1, 3x1x1, 0> (p2, 6)"
    );
}

#[test]
fn t1_scratch_memory() {
    let plan = plan_text(
        "float *d_tmp, *d_sum;
         size_t bytes = N * sizeof(float);
         cudaMalloc(&d_tmp, bytes);
         cudaMalloc((void**)&d_sum, sizeof(float));
         cudaMemset(d_sum, 0, sizeof(float));
         cudaMemcpy(d_tmp, A, bytes, cudaMemcpyDeviceToDevice);
         k<<<1, 256>>>(d_tmp, B, C, N);
         one<<<1, 256>>>(d_sum + 1, N);
         cudaFree(d_tmp); cudaFree(d_sum);",
        100,
    );
    assert_eq!(
        plan,
        "s0 = alloc 400\ns1 = alloc 4\nmemset s1 0 4\ncopy s0 p0 400\n\
         k <1x1x1, 256x1x1, 0> (s0, p1, p2, 100)\none <1x1x1, 256x1x1, 0> (s1+4, 100)\n\
         free s0\nfree s1"
    );
    let plan = plan_text(
        "float size = N * sizeof(float); void* d; cudaMallocAsync(&d, size, 0);
         cudaMemsetAsync(d, 0xff, size, 0); one<<<1, 1, 0, 0>>>((float*)d, N); cudaFreeAsync(d, 0);",
        3,
    );
    assert_eq!(
        plan,
        "s0 = alloc 12\nmemset s0 255 12\none <1x1x1, 1x1x1, 0> (s0, 3)\nfree s0"
    );
}

#[test]
fn t2_branches() {
    let body = "if (N < 32) { one<<<1, 32>>>(C, N); return; }
        else if (N % 2 == 0) one<<<N / 2, 64>>>(C, N);
        else { const int odd = N; one<<<odd, 64>>>(C, odd); }
        if (cudaError_t e = cudaGetLastError(); e != cudaSuccess) { printf(\"no\"); }
        switch (N % 3) { case 0: one<<<3, 1>>>(C, N); break; case 1: one<<<4, 1>>>(C, N);
            case 2: one<<<5, 1>>>(C, N); break; default: break; }";
    assert_eq!(plan_text(body, 31), "one <1x1x1, 32x1x1, 0> (p2, 31)");
    assert_eq!(
        plan_text(body, 34),
        "one <17x1x1, 64x1x1, 0> (p2, 34)\none <4x1x1, 1x1x1, 0> (p2, 34)\n\
         one <5x1x1, 1x1x1, 0> (p2, 34)"
    );
    assert_eq!(
        plan_text(body, 33),
        "one <33x1x1, 64x1x1, 0> (p2, 33)\none <3x1x1, 1x1x1, 0> (p2, 33)"
    );
}

#[test]
fn t3_template_launches() {
    let cases = [
        ("tk<16, float><<<1, 1>>>(A, C, N);", "tk<16, float>"),
        (
            "constexpr int T = 32; tk<T><<<1, 1>>>(A, C, N);",
            "tk<32, float>",
        ),
        ("tk<BLOCK / 2><<<1, 1>>>(A, C, N);", "tk<128, float>"),
        ("tk<-1><<<1, 1>>>(A, C, N);", "tk<-1, float>"),
        (
            "using V = float; tk<(4 > 3), V><<<1, 1>>>(A, C, N);",
            "tk<1, float>",
        ),
        (
            "auto f = tk<8, float>; f<<<1, 1>>>(A, C, N);",
            "tk<8, float>",
        ),
        ("auto f = &tk<8>; f<<<1, 1>>>(A, C, N);", "tk<8, float>"),
        (
            "void (*f)(const float*, float*, int) = tk<8>; f<<<1, 1>>>(A, C, N);",
            "tk<8, float>",
        ),
    ];
    for (body, kernel) in cases {
        let expected = format!("{kernel} <1x1x1, 1x1x1, 0> (p0, p2, 5)");
        assert_eq!(plan_text(body, 5), expected, "{body}");
    }
}

#[test]
fn t3_template_arguments_are_deduced_or_left_to_defaults() {
    let kernels = "\
template <int BM = 64, int BN = BM> __global__ void defaults(float* c, int n) {}
template <typename T> __global__ void deduced(const T* a, T* c, T scale, int n) {}
template <typename T> __global__ void plain(T* a, int n) {}
template <typename T, bool FAST = true> __global__ void mixed(T* c, int n) {}
template <bool FAST, typename T> __global__ void later(const T* a, T* c) {}
template <typename T, typename U> __global__ void two(const T* a, U* c) {}
struct Pair { float a; float b; };
namespace ops { template <typename T> __global__ void inner(T* c) {} __global__ void flat(float* c) {} }
void solve(const float* A, const float* B, float* C, int N) {
    defaults<<<1, 1>>>(C, N);
    defaults<16><<<1, 1>>>(C, N);
    deduced<<<1, 1>>>(A, C, 2, N);
    plain<<<1, 1>>>(A, 3.0f);
    mixed<<<1, 1>>>(C, N);
    later<false><<<1, 1>>>(A, C);
    two<<<1, 1>>>(reinterpret_cast<const float4*>(A), (Pair*)C);
    two<<<1, 1>>>((unsigned char*)A, (half*)C);
    ops::inner<<<1, 1>>>(C);
    ops::flat<<<1, 1>>>(C);
}
";
    let plan = plan_of(kernels, 5).expect("a plan");
    let names: Vec<String> = text(&plan)
        .lines()
        .map(|line| line.split(" <").next().expect("a name").to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "defaults<>",
            "defaults<16>",
            "deduced<float>",
            "plain<const float>",
            "mixed<float>",
            "later<false, float>",
            "two<float4, Pair>",
            "two<unsigned char, __half>",
            "ops::inner<float>",
            "ops::flat",
        ]
    );
    assert_eq!(plan.launch_count(), 10);
    assert_eq!(plan.instantiations().len(), 10);
}

#[test]
fn t3_values_take_the_parameter_s_type() {
    let source = "\
template <typename T> __global__ void t(T a, double b, unsigned char c, long long d, bool e, size_t f) {}
__global__ void v(float4 a, dim3 b, half h, int* p) {}
void solve(const float* A, const float* B, float* C, int N) {
    t<short><<<1, 1>>>(N, 1, 258, -1, N, N);
    v<<<1, 1>>>(make_float4(1, 2, 3, 4), dim3(1, 2), __float2half(1.0f), nullptr);
}
";
    let plan = file_text(source, 3);
    let one = "[0, 0, 128, 63]";
    assert_eq!(one, format!("{:?}", 1.0_f32.to_le_bytes()));
    assert_eq!(
        plan,
        "t<short> <1x1x1, 1x1x1, 0> ([3, 0], [0, 0, 0, 0, 0, 0, 240, 63], [2], \
         [255, 255, 255, 255, 255, 255, 255, 255], [1], [3, 0, 0, 0, 0, 0, 0, 0])\n\
         v <1x1x1, 1x1x1, 0> ([0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64], \
         [1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0], [0, 60], null)"
    );
}

#[test]
fn t4_loops_and_swaps() {
    let plan = plan_text(
        "float* src = const_cast<float*>(A); float* dst = C;
         for (int step = 1; step < N; step *= 2) {
             one<<<1, 1>>>(dst, step); k<<<1, 1>>>(src, B, dst, step);
             std::swap(src, dst);
         }
         if (src != C) cudaMemcpy(C, src, N * sizeof(float), cudaMemcpyDeviceToDevice);",
        5,
    );
    assert_eq!(
        plan,
        "one <1x1x1, 1x1x1, 0> (p2, 1)\nk <1x1x1, 1x1x1, 0> (p0, p1, p2, 1)\n\
         one <1x1x1, 1x1x1, 0> (p0, 2)\nk <1x1x1, 1x1x1, 0> (p2, p1, p0, 2)\n\
         one <1x1x1, 1x1x1, 0> (p2, 4)\nk <1x1x1, 1x1x1, 0> (p0, p1, p2, 4)"
    );
    let plan = plan_text(
        "int n = N; while (n > 1) { n = (n + 1) / 2; if (n == 3) continue; one<<<n, 1>>>(C, n); }
         do { ++n; } while (n < 5); one<<<n, 1>>>(C, n);
         for (;;) { if (--n < 2) break; }
         float* t = C; float* u = (float*)B; float* tmp = t; t = u; u = tmp;
         for (int i = 0, j = 3; i < j; i++, j--) one<<<i + 1, j>>>(u + i * N, j);",
        6,
    );
    assert_eq!(
        plan,
        "one <2x1x1, 1x1x1, 0> (p2, 2)\none <1x1x1, 1x1x1, 0> (p2, 1)\n\
         one <5x1x1, 1x1x1, 0> (p2, 5)\n\
         one <1x1x1, 3x1x1, 0> (p2, 3)\none <2x1x1, 2x1x1, 0> (p2+24, 2)"
    );
}

#[test]
fn t5_helpers_references_and_pointers() {
    let source = "\
__global__ void k(float* c, int n) {}
template <int B> __global__ void tk(float* c, int n) {}
static inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
constexpr int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }
void halve(int& n, int* count) { n /= 2; *count += 1; }
template <int B> void launch(float* c, int n, int extra = 7) { tk<B><<<ceil_div(n, B), B>>>(c, extra); }
template <typename T> T larger(T a, T b) { return a > b ? a : b; }
void make(float** p, size_t n) { cudaMalloc((void**)p, n * sizeof(float)); }
dim3 grid_for(int n) { return {(unsigned)ceil_div(n, 8), 2}; }
float* half_way(float* p, int n) { return p + n / 2; }
struct Tiling { int rows; int columns = 5; };
struct Shape { short sizes[3]; };
void solve(const float* A, const float* B, float* C, int N) {
    int n = N, count = 0;
    while (n > 1) halve(n, &count);
    k<<<count, log2_of(N)>>>(C, n);
    launch<32>(C, N);
    launch<64>(C, N, 9);
    float* d; make(&d, 3);
    k<<<grid_for(N), larger(3, 4)>>>(half_way(d, 2), N);
    int& alias = n; alias = 11;
    const int& same = alias; auto* q = &n; *q += 1;
    Tiling t; t.rows = 2; Tiling u{3, 4}; Tiling* w = &u; w->rows += 1;
    k<<<same, t.columns + u.rows>>>(C, t.rows);
    Shape shape{{7, 8}}; shape.sizes[1] += 1; k<<<shape.sizes[0], shape.sizes[1]>>>(C, sizeof(Shape));
    int sizes[] = {4, 5, 6}; int total = 0;
    for (int i = 0; i < 3; ++i) total += sizes[i];
    k<<<total, 1>>>(&C[total], sizes[1]);
    cudaFree(d);
}
";
    assert_eq!(
        file_text(source, 100),
        "k <6x1x1, 6x1x1, 0> (p2, 1)\ntk<32> <4x1x1, 32x1x1, 0> (p2, 7)\n\
         tk<64> <2x1x1, 64x1x1, 0> (p2, 9)\ns0 = alloc 12\n\
         k <13x2x1, 4x1x1, 0> (s0+4, 100)\nk <12x1x1, 9x1x1, 0> (p2, 2)\nk <7x1x1, 9x1x1, 0> (p2, 6)\n\
         k <15x1x1, 1x1x1, 0> (p2+60, 5)\nfree s0"
    );
}

#[test]
fn t6_uploads_and_symbols() {
    let source = "\
__constant__ float weights[4];
__device__ int counter;
__global__ void k(float* c, int* h, int n) {}
void solve(const float* A, const float* B, float* C, int N) {
    int h[3] = {1, 2}; int zero = 0; float w[4] = {1.0f};
    int* d; cudaMalloc(&d, sizeof(h));
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemcpy(d + 1, &N, sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(weights, w, 8);
    cudaMemcpyToSymbol(weights, B, 2 * sizeof(float), 8, cudaMemcpyDeviceToDevice);
    cudaMemcpyToSymbol(counter, &zero, sizeof(int));
    int* list = new int[2]; list[0] = 5; list[1] = N; int* raw = (int*)malloc(4); *raw = 9;
    cudaMemcpyAsync(d, list, 8, cudaMemcpyHostToDevice, 0); cudaMemcpy(d, raw, 4, cudaMemcpyHostToDevice);
    delete[] list; free(raw);
    k<<<1, 1>>>(C, d, N);
    cudaFree(d);
}
";
    assert_eq!(
        file_text(source, 6),
        "s0 = alloc 12\nupload s0 [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]\nupload s0+4 [6, 0, 0, 0]\n\
         symbol weights+0 [0, 0, 128, 63, 0, 0, 0, 0]\nsymbol weights+8 p1 8\n\
         symbol counter+0 [0, 0, 0, 0]\nupload s0 [5, 0, 0, 0, 6, 0, 0, 0]\n\
         upload s0 [9, 0, 0, 0]\nk <1x1x1, 1x1x1, 0> (p2, s0, 6)\nfree s0"
    );
}

#[test]
fn t7_attributes_and_queries() {
    let plan = plan_text(
        "int shared = 96 * 1024;
         cudaFuncSetAttribute(tk<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
         tk<4><<<1, 1, shared>>>(A, C, N);
         cudaFuncSetAttribute((const void*)one, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
         one<<<1, 1, shared>>>(C, N);
         cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
         int sms = 0; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
         one<<<p.multiProcessorCount + sms, p.warpSize>>>(C, N);
         one<<<p.maxGridSize[1] / 1000, p.maxThreadsDim[2]>>>(C, N);
         cudaStream_t s; cudaStreamCreate(&s); one<<<1, 1, 0, s>>>(C, N);
         cudaStreamSynchronize(s); cudaStreamDestroy(s);
         bool aligned = reinterpret_cast<uintptr_t>(A + 4) % 16 == 0; one<<<aligned ? 2 : 1, 1>>>(C, N);",
        5,
    );
    assert_eq!(
        plan,
        "tk<4, float> <1x1x1, 1x1x1, 98304> (p0, p2, 5)\none <1x1x1, 1x1x1, 98304> (p2, 5)\n\
         one <264x1x1, 32x1x1, 0> (p2, 5)\none <65x1x1, 64x1x1, 0> (p2, 5)\none <1x1x1, 1x1x1, 0> (p2, 5)\n\
         one <2x1x1, 1x1x1, 0> (p2, 5)"
    );
}

#[test]
fn byte_order_mark_and_crlf_change_nothing() {
    let body = "int n = N;\n  one<<<CEIL_DIV(n, 8), BLOCK>>>(C, n);";
    let unix = with_body(body);
    let plan = plan_of(&unix, 9).unwrap();
    let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
    assert_eq!(plan_of(&windows, 9).unwrap(), plan);
    let continued = "#define X \\\n  16\n__global__ void k(float* c) {}\n\
        void solve(const float* a, const float* b, float* c, int n) { k<<<X, 1>>>(c); }";
    assert_eq!(
        plan_of(continued, 1).unwrap(),
        plan_of(&continued.replace('\n', "\r\n"), 1).unwrap()
    );
}

#[test]
fn wrong_copy_direction_works_with_a_warning() {
    let body = "float* d; cudaMalloc(&d, 4 * N);\n\
        cudaMemcpy(d, A, 4 * N, cudaMemcpyHostToDevice);\n\
        one<<<1, 1>>>(d, N);\n\
        cudaMemcpy(C, d, 4 * N, cudaMemcpyDeviceToHost);";
    let plan = plan_of(&with_body(body), 2).unwrap();
    assert_eq!(
        text(&plan),
        "s0 = alloc 8\ncopy s0 p0 8\none <1x1x1, 1x1x1, 0> (s0, 2)\ncopy p2 s0 8"
    );
    let warnings: Vec<(u32, &str)> = plan
        .warnings
        .iter()
        .map(|warning| {
            (
                warning.line.unwrap() - common::BODY_LINE,
                warning.message.as_str(),
            )
        })
        .collect();
    assert_eq!(
        warnings,
        [
            (
                1,
                "cudaMemcpy says HostToDevice, but its pointers make it DeviceToDevice; it is done by its pointers"
            ),
            (
                3,
                "cudaMemcpy says DeviceToHost, but its pointers make it DeviceToDevice; it is done by its pointers"
            ),
            (0, "the device memory that is allocated here is never freed"),
        ]
    );
}

#[test]
fn t3_enumerators_name_instances_by_their_type() {
    let source = "enum Order { ROWS, COLUMNS };
namespace ops { enum class Mode { A, B = 4 }; template <Mode M, int N = 2> __global__ void move(float* c) {} }
template <Order O> __global__ void turn(float* c) {}
template <ops::Mode M> void both(float* C) { ops::move<M><<<1, 1>>>(C); }
void solve(const float* A, const float* B, float* C, int N) {
    turn<COLUMNS><<<1, 1>>>(C); turn<Order::ROWS><<<1, 1>>>(C); both<ops::Mode::B>(C);
}";
    assert_eq!(
        file_text(source, 1),
        "turn<static_cast<Order>(1)> <1x1x1, 1x1x1, 0> (p2)\n\
         turn<static_cast<Order>(0)> <1x1x1, 1x1x1, 0> (p2)\n\
         ops::move<static_cast<ops::Mode>(4)> <1x1x1, 1x1x1, 0> (p2)"
    );
}

#[test]
fn t3_a_kernel_named_like_a_library_function_is_told_from_it() {
    let source = "__global__ void tanh(const float* a, float* c, size_t n) {}
void solve(const float* A, const float* B, float* C, int N) { tanh<<<1, 1>>>(A, C, N); }";
    assert_eq!(
        file_text(source, 7),
        "static_cast<void (*)(const float*, float*, unsigned long)>(tanh) <1x1x1, 1x1x1, 0> (p0, p2, [7, 0, 0, 0, 0, 0, 0, 0])"
    );
}

#[test]
fn t6_memory_is_set_to_numbers_of_any_type() {
    assert_eq!(
        plan_text("cudaMemset(C, 1.0f, N * 4); cudaMemset(C, -1.9, 4);", 2),
        "memset p2 1 8\nmemset p2 255 4"
    );
}
