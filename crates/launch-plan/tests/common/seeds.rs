//! Programs that fuzzing starts from: constructs that no package of the repository uses.

/// Each has a plan for `solve(A, B, C, N)`.
pub const SEEDS: &[&str] = &[
    "\
#include <cuda_runtime.h>
#define TILE 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf(\"%d\", e); } } while (0)
__constant__ float w[4];
__global__ void k(const float* a, float* c, int n) { int i = blockIdx.x; if (i < n) c[i] = a[i] * w[0]; }
extern \"C\" void solve(const float* A, const float* B, float* C, int N) {
    dim3 block(TILE, TILE), grid(CEIL_DIV(N, TILE));
    float* d = nullptr; CHECK(cudaMalloc((void**)&d, N * sizeof(float)));
    float h[4] = {1, 2.5f, -3}; cudaMemcpyToSymbol(w, h, sizeof(h));
    for (int i = 0; i < 3; i++) { k<<<grid, block>>>(A, d + i, N); if (i % 2) continue; }
    cudaMemcpy(C, d, N * sizeof(float), cudaMemcpyDeviceToDevice); cudaFree(d);
}
",
    "\
template <int B, typename T = float> __global__ void tk(const T* a, T* c, int n) {}
template <typename T> __global__ void d(T* c, T s) {}
static int ceil_div(int a, int b = 32) { return (a + b - 1) / b; }
template <int B> void launch(const float* a, float*& c, int n) { tk<B><<<ceil_div(n), B>>>(a, c, n); }
struct S { int x; float y = 2; };
enum { DEPTH = 3, NEXT };
void solution(const float* A, const float* B, float* C, int N) {
    S s{1}; s.x += NEXT; launch<64>(A, C, N); d<<<1, s.x>>>(C, 1.0f);
    int n = N; while (n > 1) { n = n / 2 + (n & 1 ? 1 : 0); if (n < 5) break; }
    switch (n) { case 1: d<<<n, 1>>>(C, s.y); break; default: std::swap(n, s.x); }
    auto f = tk<8>; f<<<1, {2, 2}, n << 2>>>(A, C, n); int* p = &n; *p -= 1;
}
",
    "\
namespace ops {
__global__ void k(float* c, long n) {}
}
#if defined(X) && X > 3
#define N2 2
#else
#define N2 4 /* four */
#endif
void solve(const float* A, const float* B, float* C, int N) {
    unsigned g((unsigned)N), b = 0x20u; size_t bytes = sizeof(float) * N;
    do { ops::k<<<g % 7 + 1, b>>>(&C[g], -N2); g >>= 1; } while (g);
    cudaMemset(C, 0, bytes); cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
    double x = std::max(sqrt(2.0 * N), (double)p.warpSize); ops::k<<<(int)ceil(x), 1>>>(C, x);
}
",
    "struct S { int x; float y = 2; void host() { std::vector<int> q; } __device__ int f() { return x; } };
template <int B, typename T = float> __global__ void tk(const T* a, T* c, int n) {}
template <typename... A> void all(A... a) { tk<8><<<1, 2>>>(a...); }
void solve(const float* A, const float* B, float* C, int N) {
    std::vector<int> v(3, 1); int sum = 0; for (auto x : v) sum += x; S s{1}; s.x += 2;
    auto f = [&](int i) { return i + sum; }; auto k = tk<8>; k<<<f(1), {2, 2}, N << 2>>>(A, C, N);
    switch (N % 3) { case 1: all(A, C, N); break; default: std::swap(sum, s.x); }
    void* args[] = {&A, &C, &N}; cudaLaunchKernel((void*)k, dim3(1), dim3(2), args, 0, 0);
}
",
    "__constant__ float w[4];
__global__ void k(const float* a, float* c, int n) {}
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf(\"%d\", e); } } while (0)
extern \"C\" void solve(const float* A, const float* B, float* C, int N) {
    float* d = nullptr; CHECK(cudaMalloc((void**)&d, N * sizeof(float))); float h[4] = {1, 2.5f, -3};
    CHECK(cudaMemcpyToSymbol(w, h, sizeof(h))); int flag = 1; cudaStream_t s; cudaStreamCreate(&s);
    while (flag) { k<<<1, 32, 0, s>>>(A, d, N); cudaMemcpy(&flag, d, 4, cudaMemcpyDeviceToHost); }
    int* p = new int[N]; for (int i = 0; i < N; i++) p[i] = i; delete[] p; cudaFree(d);
}
",
    "namespace ops { enum { DEPTH = 3, NEXT }; struct V { float x[DEPTH]; }; __global__ void k(float* c, long n) {} }
#if defined(X) && X > 3
#define N2 2
#else
#define N2 4
#endif
void solve(const float* A, const float* B, float* C, int N) {
    dim3 g(N2, ops::NEXT); unsigned u = 0x20u; do { ops::k<<<g, u>>>(&C[N % 7], -N2); u >>= 1; } while (u);
    int dev; cudaGetDevice(&dev); cudaDeviceProp p; cudaGetDeviceProperties(&p, dev); double x = sqrt(2.0 * N);
    ops::k<<<(int)ceil(x) % p.multiProcessorCount + 1, p.warpSize>>>(C, x);
}
",
    // Values that come back from the device.
    "\
__global__ void step(const float* a, float* c, int* changed, int n) {}
__device__ int total; __constant__ float w[8];
struct Stats { int count; float mean; double sum; };
void solve(const float* A, const float* B, float* C, int N) {
    int* flag; cudaMalloc(&flag, sizeof(int)); Stats* stats; cudaMalloc(&stats, 4 * sizeof(Stats));
    int changed = 1, rounds = 0; Stats host[4]; float* copy = new float[N];
    do {
        cudaMemset(flag, 0, sizeof(int)); step<<<(N + 255) / 256, 256>>>(A, C, flag, N);
        cudaMemcpy(&changed, flag, sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(host, stats, sizeof(host), cudaMemcpyDeviceToHost);
        if (host[1].count > N) break;
        std::vector<float> row(host[0].count & 15, host[2].mean); for (auto& x : row) x *= 2;
    } while (changed && ++rounds < 10);
    cudaMemcpy(copy, C, N * sizeof(float), cudaMemcpyDeviceToHost); int last; cudaMemcpyFromSymbol(&last, total, sizeof(int));
    float best = copy[0]; for (int i = 1; i < 5 && i < N; ++i) if (copy[i] > best) best = copy[i];
    step<<<1, (int)best % 32 + 1, (size_t)host[3].sum>>>(A, C + last, flag, changed); delete[] copy; cudaFree(flag); cudaFree(stats);
}
",
    // Containers and the algorithms over them.
    "\
#include <vector>
__global__ void k(const float* a, float* c, int n, int x) {}
struct Tile { int m, n; };
void solve(const float* A, const float* B, float* C, int N) {
    std::vector<int> sizes; std::vector<Tile> tiles = {{1, 2}, {3, 4}}; std::array<int, 4> a{4, 3, 2, 1};
    for (int n = N; n > 1; n /= 2) sizes.push_back(n); std::sort(a.begin(), a.end()); std::reverse(sizes.begin(), sizes.end());
    std::pair<int, float> p = {3, 2.5f}; auto [x, y] = p; std::vector<std::vector<int>> grid(3, std::vector<int>(2, 7));
    int s = std::accumulate(sizes.begin(), sizes.end(), 0); s += *std::max_element(a.begin(), a.end());
    for (const auto& row : grid) for (int v : row) s += v; sizes.resize(4, 9); sizes.insert(sizes.end(), 2); sizes.erase(sizes.begin());
    float* d; cudaMalloc(&d, sizes.size() * sizeof(int)); cudaMemcpy(d, sizes.data(), sizes.size() * sizeof(int), cudaMemcpyHostToDevice);
    for (size_t i = 0; i < tiles.size(); ++i) k<<<tiles[i].m, tiles[i].n * 32>>>(d, C, x, s % 1000); cudaFree(d);
}
",
    // Lambdas, functions as values, packs.
    "\
template <int... Ns> __global__ void many(float* c, int n) {}
template <typename T, int B> __global__ void one(const T* a, T* c, int n) {}
template <typename... Ts> int count(Ts... ts) { return sizeof...(Ts) + (int(ts) + ... + 0); }
template <class F> void repeat(int times, F&& f) { for (int i = 0; i < times; ++i) f(i); }
template <int... Ns> void each(float* c, int n) { (one<float, Ns><<<1, Ns>>>(c, c, n), ...); }
void solve(const float* A, const float* B, float* C, int N) {
    int s = 1; auto add = [&s, N](int x) { s += x; return s + N; }; auto cdiv = [](auto a, auto b) { return (a + b - 1) / b; };
    std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
    repeat(3, [&](int i) { one<float, 64><<<cdiv(N, 64), 64>>>(A, C + i, add(i)); }); each<8, 16, 32>(C, count(1, 2.5f, true));
    void (*kernel)(const float*, float*, int) = N > 100 ? one<float, 128> : one<float, 32>; kernel<<<1, fib(9)>>>(A, C, s);
    if constexpr (sizeof(int) == 4) { [=] { many<1, 2><<<1, 1>>>(C, N); }(); }
}
",
    // Classes and class templates.
    "\
template <int M, int N = 4> struct Tile { static constexpr int SIZE = M * N; using type = float; type data[M]; int bytes() const { return sizeof(type) * SIZE; } };
template <> struct Tile<3, 3> { static constexpr int SIZE = 77; };
class Grid { int w_, h_; public: Grid(int w, int h) : w_(w), h_{h} {} int blocks() const { return (w_ * h_ + 3) / 4; } Grid operator+(const Grid& o) const { return {w_ + o.w_, h_ + o.h_}; } };
struct Counter { int n = 0; Counter& add(int k) { n += k; return *this; } int operator()(int x) { return n * x; } };
template <class C> __global__ void t(float* c, int n) { c[0] = C::SIZE; }
template <typename T> struct Buffer { T* p = nullptr; Buffer(int n) { cudaMalloc(&p, n * sizeof(T)); } void done() { cudaFree(p); } };
namespace cfg { enum { A = 1, B }; constexpr int pick(int k) { return k == A ? 32 : 64; } }
void solve(const float* A, const float* B, float* C, int N) {
    Grid g = Grid(N, 2) + Grid{1, 1}; Counter c; c.add(2).add(3); Buffer<float> b(N); Tile<8> tile;
    t<Tile<8>><<<g.blocks(), cfg::pick(cfg::B)>>>(b.p, tile.bytes()); t<Tile<3, 3>><<<1, c(4)>>>(C, Tile<3, 3>::SIZE); b.done();
}
",
    // Tensor maps, configured launches, queries.
    "\
#include <cuda.h>
__global__ void move(const __grid_constant__ CUtensorMap map, float* c, int n) {}
__global__ void k(const float* a, float* c, int n) { extern __shared__ float s[]; c[0] = s[n]; }
void solve(const float* A, const float* B, float* C, int N) {
    void* entry = nullptr; cudaDriverEntryPointQueryResult found; cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", &entry, cudaEnableDefault, &found);
    auto encode = (PFN_cuTensorMapEncodeTiled_v12000)entry; CUtensorMap map{}; cuuint64_t dims[2] = {64, (cuuint64_t)N}, strides[1] = {256}; cuuint32_t box[2] = {32, 16}, steps[2] = {1, 1};
    encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void*)A, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024); int blocks; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 256, 1024);
    cudaLaunchConfig_t config = {}; config.gridDim = dim3(4); config.blockDim = dim3(128); config.dynamicSmemBytes = 1024; cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension; attribute[0].val.clusterDim.x = 2; attribute[0].val.clusterDim.y = 1; attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute; config.numAttrs = 1; cudaLaunchKernelEx(&config, k, A, C, N); move<<<1, 128>>>(map, C, N);
    void* args[] = {(void*)&A, (void*)&C, (void*)&N}; cudaLaunchCooperativeKernel((void*)k, dim3(blocks), dim3(32), args, 0, 0);
}
",
    // All of it at once.
    "\
#include <vector>
__global__ void k(const float* a, float* c, int n) {}
template <int X> struct Cfg { static constexpr int T = X, U = T + 1; using type = float; };
struct P { int t = 3; float w[2][2]; P(int x) : t(x) {} int g(int n) const { return (n + t - 1) / t; } };
struct Mul { int k; int operator()(int x) const { return k * x; } };
template <typename T, int N> struct Buf { T data[N]; T& at(int i) { return data[i]; } };
template <class F, class... Ts> auto call(F f, Ts&&... ts) { return f(std::forward<Ts>(ts)...); }
template <class... Ts> int sum(Ts... ts) { return (ts + ... + sizeof...(ts)); }
std::vector<int> upto(int n) { std::vector<int> r; for (int i = 0; i < n; i++) r.push_back(i); return r; }
void solve(const float* A, const float* B, float* C, int N) {
  struct Q { int a; P p = 4; } q{1}; enum { E = 2, F };
  std::vector<std::vector<int>> vv(2, std::vector<int>(3, 1)); vv[1][2] = Cfg<5>::U;
  for (auto& row : vv) for (int x : row) q.a += x;
  std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
  auto [x, y] = std::make_pair(fib(6), F); std::array<int, 3> a = {1, 2, 3};
  std::sort(a.begin(), a.end(), [](int p, int q) { return p > q; }); Mul m{2}; Buf<Cfg<1>::type, 4> b; b.data[1] = m(3);
  if (int kk = sum(x, y, a[0])) k<<<kk, 1>>>(A, C, N);
  while (int z = N - 100) { break; }
  decltype(N) w = call([=](auto u, int v) { return u * v + N; }, 2, q.p.g(N)); std::cout << w << std::endl;
  int* h = (int*)calloc(4, sizeof(int)); memset(h, 1, 16); auto u4 = upto(4); h[0] = std::accumulate(u4.begin(), u4.end(), 0); free(h);
  k<<<dim3(q.p.g(N), std::numeric_limits<short>::max()), Cfg<64>::T>>>(A, C, w);
}
",
    // Objects that end, base classes, tuples, texts.
    "\
__global__ void k(const float* a, float* c, int n) {}
template <class T> class Buf { T* p_ = nullptr; size_t n_ = 0; public: Buf() = default; explicit Buf(size_t n) : n_(n) { cudaMalloc(&p_, n * sizeof(T)); } ~Buf() { if (p_) cudaFree(p_); }
  Buf(const Buf&) = delete; Buf(Buf&& o) : p_(o.p_), n_(o.n_) { o.p_ = nullptr; } Buf& operator=(Buf&& o) { std::swap(p_, o.p_); return *this; } T* get() const { return p_; } };
struct Base { int t = 4; static constexpr int K = 7; Base(int x) : t(x) {} int get() const { return t; } }; struct Impl : Base { int n; Impl(int x) : Base(x), n(2) {} int sum() { return get() + n + K; } };
Buf<float> make(int n) { Buf<float> b(n); return b; } void change(Base& b) { b.t += 1; }
struct Two { Buf<int> a; Buf<int> b; Two(int n) : b(n), a(2 * n) {} };
void solve(const float* A, const float* B, float* C, int N) {
    Buf<float> b = make(N), c; c = std::move(b); Two two(N); Impl i(N % 5); change(i); auto* p = new Buf<int>(3); delete p;
    for (int j = 0; j < 3; ++j) { Buf<float> l(N); if (j == 1) continue; k<<<i.sum(), 32>>>(A, l.get(), j); make(4).get(); }
    int g; float f; std::tie(g, f) = std::make_tuple(N / 32, 2.5f); std::string s = \"a\"; s += std::to_string(g); if (s != \"a\") k<<<g + 1, (int)f>>>(c.get(), C, s.size());
}
",
];
