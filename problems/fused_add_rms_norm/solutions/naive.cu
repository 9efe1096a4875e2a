// expect: accepted min.emulated=0.08
// Not fused: one launch adds, one computes a factor per row into scratch memory, one normalises. The
// sum travels to memory and back twice.

#include <cuda_bf16.h>

constexpr int THREADS = 256;

__global__ void add(const __nv_bfloat16* x, __nv_bfloat16* residual, size_t elements) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < elements) residual[i] = __float2bfloat16(__bfloat162float(x[i]) + __bfloat162float(residual[i]));
}

__global__ void row_factors(const __nv_bfloat16* residual, float* factors, int hidden, float eps) {
    __shared__ float values[THREADS];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        float h = __bfloat162float(residual[(size_t)blockIdx.x * hidden + i]);
        sum += h * h;
    }
    values[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) factors[blockIdx.x] = 1.0f / sqrtf(values[0] / hidden + eps);
}

__global__ void scale(const __nv_bfloat16* residual, const __nv_bfloat16* weight, const float* factors,
                      __nv_bfloat16* out, int hidden, size_t elements) {
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < elements) {
        float normalised = __bfloat162float(residual[i]) * factors[i / hidden];
        out[i] = __float2bfloat16(normalised * __bfloat162float(weight[i % hidden]));
    }
}

extern "C" void solve(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight,
                      __nv_bfloat16* out, int rows, int hidden, float eps) {
    size_t elements = (size_t)rows * hidden;
    size_t blocks = (elements + THREADS - 1) / THREADS;
    float* factors;
    cudaMalloc(&factors, rows * sizeof(float));
    add<<<blocks, THREADS>>>(x, residual, elements);
    row_factors<<<rows, THREADS>>>(residual, factors, hidden, eps);
    scale<<<blocks, THREADS>>>(residual, weight, factors, out, hidden, elements);
    cudaFree(factors);
}
