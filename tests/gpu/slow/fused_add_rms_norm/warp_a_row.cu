// One warp a row, in blocks of one warp.
#include <cuda_bf16.h>

__global__ void row_norm(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                     __nv_bfloat16* out, int hidden, float eps) {
    size_t row = (size_t)blockIdx.x * hidden;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += 32) {
        __nv_bfloat16 h = __float2bfloat16(__bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]));
        residual[row + i] = h;
        sum += __bfloat162float(h) * __bfloat162float(h);
    }
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    float factor = 1.0f / sqrtf(sum / hidden + eps);
    for (int i = threadIdx.x; i < hidden; i += 32)
        out[row + i] = __float2bfloat16(__bfloat162float(residual[row + i]) * factor * __bfloat162float(weight[i]));
}

extern "C" void solve(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                      __nv_bfloat16* out, int rows, int hidden, float eps) {
    row_norm<<<rows, 32>>>(x, residual, weight, out, hidden, eps);
}
