// C = A B by mma.sync, its factors brought by ldmatrix (the right one transposed). One warp, 16 x 8 x 64.
#include <cuda_fp16.h>

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void mma_ldmatrix(const half* a, const half* b, float* c) {
    __shared__ alignas(16) half left[16][64], right[64][8];
    int lane = threadIdx.x;
    for (int i = lane; i < 16 * 64 / 8; i += 32) ((uint4*)left)[i] = ((const uint4*)a)[i];
    for (int i = lane; i < 64 * 8 / 8; i += 32) ((uint4*)right)[i] = ((const uint4*)b)[i];
    __syncwarp();
    float d[4] = {};
    for (int at = 0; at < 64; at += 16) {
        unsigned f[4], g[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                     : "r"(shared_address(&left[lane % 16][at + lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(g[0]), "=r"(g[1])
                     : "r"(shared_address(&right[at + lane % 16][0])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                     "{%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(g[0]), "r"(g[1]));
    }
    int row = lane / 4, column = lane % 4 * 2;
    *(float2*)&c[row * 8 + column] = make_float2(d[0], d[1]);
    *(float2*)&c[(row + 8) * 8 + column] = make_float2(d[2], d[3]);
}
