// expect: accepted min.emulated=0.06
// The definition, step by step: maximum, sum, quotient, each reduction in two launches. The input is
// read three times.

constexpr int THREADS = 256;
constexpr float LOWEST = -3.402823466e38f;

__device__ float block_max(float value) {
    __shared__ float values[THREADS];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    return values[0];
}

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

__global__ void max_stage(const float* values, float* result, int n) {
    float value = LOWEST;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) value = fmaxf(value, values[i]);
    value = block_max(value);
    if (threadIdx.x == 0) result[blockIdx.x] = value;
}

__global__ void exp_sum_stage(const float* input, const float* maximum, float* result, int n) {
    float value = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) value += expf(input[i] - *maximum);
    value = block_sum(value);
    if (threadIdx.x == 0) result[blockIdx.x] = value;
}

__global__ void sum_stage(const float* values, float* result, int n) {
    float value = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS) value += values[i];
    value = block_sum(value);
    if (threadIdx.x == 0) *result = value;
}

__global__ void quotients(const float* input, float* output, const float* maximum, const float* sum, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) output[i] = expf(input[i] - *maximum) / *sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = min((N + THREADS - 1) / THREADS, 512);
    float *partial, *maximum, *sum;
    cudaMalloc(&partial, blocks * sizeof(float));
    cudaMalloc(&maximum, sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    max_stage<<<blocks, THREADS>>>(input, partial, N);
    max_stage<<<1, THREADS>>>(partial, maximum, blocks);
    exp_sum_stage<<<blocks, THREADS>>>(input, maximum, partial, N);
    sum_stage<<<1, THREADS>>>(partial, sum, blocks);
    quotients<<<(N + THREADS - 1) / THREADS, THREADS>>>(input, output, maximum, sum, N);
    cudaFree(partial);
    cudaFree(maximum);
    cudaFree(sum);
}
