// expect: wrong_answer
// Accumulates in half precision: eleven significant bits are used up after a few thousand terms.

#include <cuda_fp16.h>

__global__ void sum(const float* input, float* output, int N) {
    __shared__ __half values[256];
    __half value = __float2half(0.0f);
    for (int i = threadIdx.x; i < N; i += 256) value = __hadd(value, __float2half(input[i]));
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] = __hadd(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) output[0] = __half2float(values[0]);
}

extern "C" void solve(const float* input, float* output, int N) {
    sum<<<1, 256>>>(input, output, N);
}
