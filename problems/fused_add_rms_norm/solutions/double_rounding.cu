// expect: accepted
// As inference engines commonly do: the sum is rounded before it is squared, and the normalised value
// is rounded to bf16 before it is multiplied by the weight. Two roundings more than needed; legal.

#include <cuda_bf16.h>

constexpr int THREADS = 256;

__device__ float block_sum(float value) {
    __shared__ float values[THREADS];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    return values[0];
}

__global__ void add_rms_norm(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                             __nv_bfloat16* out, int hidden, float eps) {
    size_t row = (size_t)blockIdx.x * hidden;
    float sum_of_squares = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        __nv_bfloat16 sum = __hadd(x[row + i], residual[row + i]);
        residual[row + i] = sum;
        sum_of_squares += __bfloat162float(sum) * __bfloat162float(sum);
    }
    float inverse_rms = rsqrtf(block_sum(sum_of_squares) / hidden + eps);
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        __nv_bfloat16 normalised = __float2bfloat16(__bfloat162float(residual[row + i]) * inverse_rms);
        out[row + i] = __hmul(normalised, weight[i]);
    }
}

extern "C" void solve(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                      __nv_bfloat16* out, int rows, int hidden, float eps) {
    add_rms_norm<<<rows, THREADS>>>(x, residual, weight, out, hidden, eps);
}
