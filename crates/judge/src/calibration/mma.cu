// Tensor cores by `mma.sync`, operands in registers: eight independent products a warp and step, of two
// left and four right fragments. A kernel exists where the architecture has its instruction; `tensor.rs`
// knows where, and counts the FLOP.

using u32 = unsigned int;

__device__ inline u32 mixed(u32 x) {
    x ^= x >> 16; x *= 0x7feb352du;
    x ^= x >> 15; x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// Random signs and mantissas, exponents over two bits: real data, which draws real power. Small
// enough that sums of half precision do not overflow.
__device__ inline u32 halves(u32 x) { return (x & 0x8fff8fffu) | 0x28002800u; }
__device__ inline u32 brains(u32 x) { return (x & 0x81ff81ffu) | 0x3e003e00u; }
__device__ inline u32 singles(u32 x) { return (x & 0x81ffffffu) | 0x3e000000u; }
__device__ inline u32 eighths(u32 x) { return (x & 0x9f9f9f9fu) | 0x20202020u; }
__device__ inline u32 bytes(u32 x) { return x; }

// One product of A registers by B registers into D registers of type `Sum`.
#define PRODUCT(Name, Sum_, A_, B_, D_, WORD, ...)                                          \
    struct Name {                                                                           \
        using Sum = Sum_;                                                                   \
        static constexpr int A = A_, B = B_, D = D_;                                        \
        static __device__ inline u32 word(u32 x) { return WORD(x); }                        \
        static __device__ inline void step(Sum* d, const u32* a, const u32* b) {            \
            asm volatile(__VA_ARGS__);                                                      \
        }                                                                                   \
    };

#define F4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define R4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define A4B2 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define FOUR(what) what " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define TWO(what) what " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"

template <class P>
__device__ inline void multiply(u32 passes, u32* sink) {
    typename P::Sum d[2][4][P::D] = {};
    u32 a[2][P::A], b[4][P::B], seed = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    for (auto& fragment : a)
        for (u32& word : fragment) word = P::word(mixed(++seed));
    for (auto& fragment : b)
        for (u32& word : fragment) word = P::word(mixed(++seed));
    for (u32 pass = 0; pass < passes; ++pass)
#pragma unroll
        for (int step = 0; step < 4; ++step)
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) P::step(d[i][j], a[i], b[j]);
    bool is_strange = false;
    for (auto& row : d)
        for (auto& product : row)
            for (auto& sum : product) is_strange |= sum == (typename P::Sum)0x7654321;
    if (is_strange) *sink = 1;
}

#define KERNEL(name, P)                                                                     \
    extern "C" __global__ void __launch_bounds__(256) name(u32 passes, u32* sink) {         \
        multiply<P>(passes, sink);                                                          \
    }

#if __CUDA_ARCH__ >= 800
PRODUCT(Fp16, float, 4, 2, 4, halves,
        FOUR("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") : F4 : A4B2)
PRODUCT(Fp16Acc16, u32, 4, 2, 2, halves,
        TWO("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
        : "+r"(d[0]), "+r"(d[1]) : A4B2)
PRODUCT(Bf16, float, 4, 2, 4, brains,
        FOUR("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") : F4 : A4B2)
PRODUCT(Tf32, float, 4, 2, 4, singles,
        FOUR("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32") : F4 : A4B2)
PRODUCT(Int8, int, 4, 2, 4, bytes,
        FOUR("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32") : R4 : A4B2)
KERNEL(calibration_mma_bf16, Bf16)
KERNEL(calibration_mma_tf32, Tf32)
#else
PRODUCT(Fp16, float, 2, 1, 4, halves,
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : F4 : "r"(a[0]), "r"(a[1]), "r"(b[0]))
PRODUCT(Fp16Acc16, u32, 2, 1, 2, halves,
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]))
PRODUCT(Int8, int, 1, 1, 2, bytes,
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]))
#endif
KERNEL(calibration_mma_fp16, Fp16)
KERNEL(calibration_mma_fp16_acc16, Fp16Acc16)
KERNEL(calibration_mma_int8, Int8)

#if __CUDA_ARCH__ >= 890
PRODUCT(Fp8, float, 4, 2, 4, eighths,
        FOUR("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32") : F4 : A4B2)
KERNEL(calibration_mma_fp8, Fp8)
#endif

#if __CUDA_ARCH__ >= 800
// Doubles between 1 and 2 with random mantissas and signs.
__device__ inline double real(u32 x) {
    return __hiloint2double((int)((mixed(x) & 0x800fffffu) | 0x3ff00000u), (int)mixed(~x));
}

#if __CUDA_ARCH__ >= 900
constexpr int LEFT = 8, RIGHT = 4, SUMS = 4;  // m16n8k16
__device__ inline void step(double* d, const double* a, const double* b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                   "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}
#else
constexpr int LEFT = 1, RIGHT = 1, SUMS = 2;  // m8n8k4
__device__ inline void step(double* d, const double* a, const double* b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1]) : "d"(a[0]), "d"(b[0]));
}
#endif

extern "C" __global__ void __launch_bounds__(256) calibration_mma_fp64_tensor(u32 passes, u32* sink) {
    double d[2][4][SUMS] = {}, a[2][LEFT], b[4][RIGHT];
    u32 seed = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    for (auto& fragment : a)
        for (double& number : fragment) number = real(++seed);
    for (auto& fragment : b)
        for (double& number : fragment) number = real(++seed);
    for (u32 pass = 0; pass < passes; ++pass)
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) step(d[i][j], a[i], b[j]);
    bool is_strange = false;
    for (auto& row : d)
        for (auto& product : row)
            for (double sum : product) is_strange |= sum == 123456.0;
    if (is_strange) *sink = 1;
}
#endif
