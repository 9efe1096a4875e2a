// Hopper's tensor cores by `wgmma`: two warpgroups a block, each m64n256, both operands from shared
// memory through descriptors. `tensor.rs` launches these and counts the FLOP.
//
// Every operand tile has rows of 128 bytes in the layout of the 128-byte swizzle, whatever its type: 64
// rows on the left, one tile a warpgroup, and 256 on the right, shared by both. One instruction takes 32
// bytes of each row, so four take a tile, and four tiles make a pass: 16 instructions.

using u32 = unsigned int;
using u64 = unsigned long long;

constexpr u32 TILES = 4;
constexpr u32 LEFT_BYTES = 64 * 128, RIGHT_BYTES = 256 * 128;
constexpr u32 TILE_BYTES = 2 * LEFT_BYTES + RIGHT_BYTES;

#if __CUDA_ARCH_FEAT_SM90_ALL
__device__ inline u32 mixed(u32 x) {
    x ^= x >> 16; x *= 0x7feb352du;
    x ^= x >> 15; x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// Start, distance of 1024 bytes between groups of eight rows, 128-byte swizzle.
__device__ inline u64 descriptor(u32 address) {
    return (u64)((address & 0x3ffffu) >> 4) | (u64)(1024 >> 4) << 32 | 1ull << 62;
}

#define R8(c, i)                                                                            \
    c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]), c(d[i + 6]),  \
        c(d[i + 7])
#define R64(c, i)                                                                           \
    R8(c, i), R8(c, i + 8), R8(c, i + 16), R8(c, i + 24), R8(c, i + 32), R8(c, i + 40),     \
        R8(c, i + 48), R8(c, i + 56)
#define R128(c) R64(c, 0), R64(c, 64)
#define REAL(x) "+f"(x)
#define WORD(x) "+r"(x)
#define NAMES_128 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
#define NAMES_64 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "

// `word` gives random signs and mantissas and exponents over two bits: real data, which draws real
// power. Small enough that sums of half precision do not overflow.
#define PRODUCT(Name, Sum_, COUNT, KEPT, FIXED, ...)                                        \
    struct Name {                                                                           \
        using Sum = Sum_;                                                                   \
        static constexpr int SUMS = COUNT;                                                  \
        static __device__ inline u32 word(u32 x) { return (x & KEPT) | FIXED; }             \
        static __device__ inline void step(Sum* d, u64 left, u64 right) {                   \
            asm volatile(__VA_ARGS__ : "l"(left), "l"(right));                              \
        }                                                                                   \
    };
#define LONG(what, rest) "wgmma.mma_async.sync.aligned." what " " NAMES_128 "%128, %129" rest ";"
#define SHORT(what, rest) "wgmma.mma_async.sync.aligned." what " " NAMES_64 "%64, %65" rest ";"

PRODUCT(Bf16, float, 128, 0x81ff81ffu, 0x3e003e00u,
        LONG("m64n256k16.f32.bf16.bf16", ", 1, 1, 1, 0, 0") : R128(REAL))
PRODUCT(Fp16, float, 128, 0x8fff8fffu, 0x28002800u,
        LONG("m64n256k16.f32.f16.f16", ", 1, 1, 1, 0, 0") : R128(REAL))
PRODUCT(Fp16Acc16, u32, 64, 0x8fff8fffu, 0x28002800u,
        SHORT("m64n256k16.f16.f16.f16", ", 1, 1, 1, 0, 0") : R64(WORD, 0))
PRODUCT(Tf32, float, 128, 0x81ffffffu, 0x3e000000u,
        LONG("m64n256k8.f32.tf32.tf32", ", 1, 1, 1") : R128(REAL))
PRODUCT(Fp8, float, 128, 0x9f9f9f9fu, 0x20202020u,
        LONG("m64n256k32.f32.e4m3.e4m3", ", 1, 1, 1") : R128(REAL))
PRODUCT(Int8, int, 128, 0xffffffffu, 0u,
        LONG("m64n256k32.s32.s8.s8", ", 1") : R128(WORD))

template <class P>
__device__ inline void multiply(u32 passes, u32* sink) {
    extern __shared__ u32 shared[];
    const u32 base = ((u32)__cvta_generic_to_shared(shared) + 1023) & ~1023u;
    for (u32 at = threadIdx.x * 4; at < TILES * TILE_BYTES; at += blockDim.x * 4)
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + at),
                     "r"(P::word(mixed(at ^ blockIdx.x << 20))) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const u64 left = descriptor(base + threadIdx.x / 128 * LEFT_BYTES);
    const u64 right = descriptor(base + 2 * LEFT_BYTES);
    typename P::Sum d[P::SUMS] = {};
    for (u32 pass = 0; pass < passes; ++pass) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll 2  // all four would take the assembler eight seconds a kernel
        for (u32 tile = 0; tile < TILES; ++tile)
#pragma unroll
            for (u32 part = 0; part < 4; ++part) {
                const u64 to = (tile * TILE_BYTES + part * 32) >> 4;
                P::step(d, left + to, right + to);
            }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    bool is_strange = false;
#pragma unroll
    for (int i = 0; i < P::SUMS; ++i) is_strange |= d[i] == (typename P::Sum)0x7654321;
    if (is_strange) *sink = 1;
}

#define KERNEL(name, P)                                                                     \
    extern "C" __global__ void __launch_bounds__(256, 1) name(u32 passes, u32* sink) {      \
        multiply<P>(passes, sink);                                                          \
    }
KERNEL(calibration_wgmma_bf16, Bf16)
KERNEL(calibration_wgmma_fp16, Fp16)
KERNEL(calibration_wgmma_fp16_acc16, Fp16Acc16)
KERNEL(calibration_wgmma_tf32, Tf32)
KERNEL(calibration_wgmma_fp8, Fp8)
KERNEL(calibration_wgmma_int8, Int8)
#endif
