// expect: wrong_answer
// Adds up the squares in bf16. With eight significant bits a sum stops growing once it is 256 times
// larger than its terms.

#include <cuda_bf16.h>

constexpr int THREADS = 256;

__global__ void add_rms_norm(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                             __nv_bfloat16* out, int hidden, float eps) {
    __shared__ __nv_bfloat16 sum_of_squares;
    size_t row = (size_t)blockIdx.x * hidden;
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float h = __bfloat162float(x[row + i]) + __bfloat162float(residual[row + i]);
        residual[row + i] = __float2bfloat16(h);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        sum_of_squares = __float2bfloat16(0.0f);
        for (int i = 0; i < hidden; ++i) {
            __nv_bfloat16 h = residual[row + i];
            sum_of_squares = __hadd(sum_of_squares, __hmul(h, h));
        }
    }
    __syncthreads();
    float inverse_rms = rsqrtf(__bfloat162float(sum_of_squares) / hidden + eps);
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float normalised = __bfloat162float(residual[row + i]) * inverse_rms;
        out[row + i] = __float2bfloat16(normalised * __bfloat162float(weight[i]));
    }
}

extern "C" void solve(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                      __nv_bfloat16* out, int rows, int hidden, float eps) {
    add_rms_norm<<<rows, THREADS>>>(x, residual, weight, out, hidden, eps);
}
