// What moves bytes as fast as it can be moved: device memory, L2, shared memory. `memory.rs` launches
// these and counts the bytes.

using u32 = unsigned int;
using u64 = unsigned long long;

// From the L2 or beyond, never from the L1; the compiler neither drops nor merges such loads.
__device__ inline uint4 load(const uint4* from) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    return v;
}

__device__ inline u32 fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

extern "C" __global__ void calibration_empty() {}

// Four loads are under way in each thread before the first store.
extern "C" __global__ void calibration_copy(uint4* to, const uint4* from, u64 count) {
    const u64 threads = (u64)gridDim.x * blockDim.x;
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * threads < count; i += 4 * threads) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = load(from + i + k * threads);
#pragma unroll
        for (int k = 0; k < 4; ++k) to[i + k * threads] = v[k];
    }
    for (; i < count; i += threads) to[i] = load(from + i);
}

// Reads the same vectors `passes` times over: out of the L2, where they fit. The sink is written where
// the sum is the one in 2^32 that nobody expects.
extern "C" __global__ void calibration_read(const uint4* from, u64 count, u32 passes, u32* sink) {
    const u64 threads = (u64)gridDim.x * blockDim.x;
    u32 sum = 0;
    for (u32 pass = 0; pass < passes; ++pass) {
        u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
        for (; i + 3 * threads < count; i += 4 * threads) {
            uint4 v[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) v[k] = load(from + i + k * threads);
#pragma unroll
            for (int k = 0; k < 4; ++k) sum ^= fold(v[k]);
        }
        for (; i < count; i += threads) sum ^= fold(load(from + i));
    }
    if (sum == 0x9e3779b9u) *sink = sum;
}

// Each thread reads four vectors a pass, a warp 512 bytes in a row: no two lanes meet in a bank. The loads
// are volatile for the assembler too, which otherwise unrolls passes and reads once for four of them.
// Blocks of 256 threads.
extern "C" __global__ void calibration_shared_read(u32 passes, u32* sink) {
    __shared__ uint4 words[4 * 256];
    for (int k = 0; k < 4; ++k) {
        const u32 mixed = (threadIdx.x + 256 * k + 1) * 2654435761u;
        words[threadIdx.x + 256 * k] = make_uint4(mixed, mixed * 5, mixed * 7, mixed * 11);
    }
    __syncthreads();
    const u32 mine = (u32)__cvta_generic_to_shared(words + threadIdx.x);
    u32 sum = 0;
    for (u32 pass = 0; pass < passes; ++pass) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k)
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                         : "r"(mine + 4096 * k));
#pragma unroll
        for (int k = 0; k < 4; ++k) sum ^= fold(v[k]);
    }
    if (sum == 0x9e3779b9u) *sink = sum;
}
