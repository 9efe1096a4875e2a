// expect: wrong_answer
// The formula as it stands in the book. exp(100) is 2.7e43, a float ends at 3.4e38: infinity over
// infinity is not a number.

__global__ void exp_sum(const float* input, float* sum, int N) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    values[threadIdx.x] = i < N ? expf(input[i]) : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, values[0]);
}

__global__ void quotients(const float* input, float* output, const float* sum, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) output[i] = expf(input[i]) / *sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = (N + 255) / 256;
    float* sum;
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    exp_sum<<<blocks, 256>>>(input, sum, N);
    quotients<<<blocks, 256>>>(input, output, sum, N);
    cudaFree(sum);
}
