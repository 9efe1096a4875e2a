// Kernels that the experiments time. Their names are what the profiler's output is matched by.

using u32 = unsigned int;
using u64 = unsigned long long;

// `times` copies one after the other, so that a copy can take longer than memory is large.
extern "C" __global__ void measured_copy(uint4* to, const uint4* from, u64 count, u32 times) {
    const u64 threads = (u64)gridDim.x * blockDim.x;
    for (u32 time = 0; time < times; ++time)
        for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
            to[i] = __ldcg(from + i);
}

// A chain of dependent multiply-adds: as long as one likes, whatever the caches hold.
extern "C" __global__ void measured_chain(float* out, u32 steps, float by) {
    float x = by;
    for (u32 i = 0; i < steps; ++i) x = __fmaf_rn(x, by, 0.5f);
    if (x == -1.0f) *out = x;
}

// c = a * b, square, by tiles of 32 x 32; blocks of 32 x 8 threads, `n` a multiple of 32.
extern "C" __global__ void measured_gemm(const float* a, const float* b, float* c, u32 n) {
    __shared__ float left[32][33], right[32][33];
    const u32 x = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 32;
    float sum[4] = {};
    for (u32 k = 0; k < n; k += 32) {
        for (u32 i = 0; i < 4; ++i) {
            const u32 y = threadIdx.y + 8 * i;
            left[y][x] = a[(u64)(row + y) * n + k + x];
            right[y][x] = b[(u64)(k + y) * n + column + x];
        }
        __syncthreads();
#pragma unroll 8
        for (u32 j = 0; j < 32; ++j)
            for (u32 i = 0; i < 4; ++i) sum[i] += left[threadIdx.y + 8 * i][j] * right[j][x];
        __syncthreads();
    }
    for (u32 i = 0; i < 4; ++i) c[(u64)(row + threadIdx.y + 8 * i) * n + column + x] = sum[i];
}

// The readers read all of `from`. The honest one leaves it at that.
extern "C" __global__ void measured_read(const uint4* from, u64 count, const uint4*, u32* sink) {
    const u64 threads = (u64)gridDim.x * blockDim.x;
    u32 sum = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        const uint4 v = __ldcg(from + i);
        sum ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x9e3779b9u) *sink = sum;
}

#if __CUDA_ARCH__ >= 800
// Asks the L2 to evict what it reads after everything else.
extern "C" __global__ void measured_read_evict_last(
    const uint4* from, u64 count, const uint4*, u32* sink) {
    const u64 threads = (u64)gridDim.x * blockDim.x;
    u64 policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    u32 sum = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        uint4 v;
        asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from + i), "l"(policy));
        sum ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x9e3779b9u) *sink = sum;
}

// Also fetches what the next run will read, to stay: a cheat that knows the next address.
extern "C" __global__ void measured_read_prefetch(
    const uint4* from, u64 count, const uint4* next, u32* sink) {
    const u64 threads = (u64)gridDim.x * blockDim.x;
    u32 sum = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        const uint4 v = __ldcg(from + i);
        sum ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    for (u64 i = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * 8; i < count; i += threads * 8)
        asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(next + i));
    if (sum == 0x9e3779b9u) *sink = sum;
}
#endif
