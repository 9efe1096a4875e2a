// expect: wrong_answer device=emulated
// Each warp adds up its own part and reads the others' without waiting for them.

#include <cuda_bf16.h>

constexpr int THREADS = 256;

__device__ float block_sum(float value) {
    __shared__ float values[THREADS];
    values[threadIdx.x] = value;
    float sum = 0.0f;
    for (int t = 0; t < THREADS; ++t) sum += values[t];
    return sum;
}

__global__ void add_rms_norm(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                             __nv_bfloat16* out, int hidden, float eps) {
    size_t row = (size_t)blockIdx.x * hidden;
    float sum_of_squares = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float h = __bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]);
        residual[row + i] = __float2bfloat16(h);
        sum_of_squares += h * h;
    }
    float inverse_rms = rsqrtf(block_sum(sum_of_squares) / hidden + eps);
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float normalised = __bfloat162float(residual[row + i]) * inverse_rms;
        out[row + i] = __float2bfloat16(normalised * __bfloat162float(weight[i]));
    }
}

extern "C" void solve(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                      __nv_bfloat16* out, int rows, int hidden, float eps) {
    add_rms_norm<<<rows, THREADS>>>(x, residual, weight, out, hidden, eps);
}
