// expect: wrong_answer
// Tries to do everything in one launch: each block adds its sum to a global one and reads the global
// sum right away. There is no barrier between blocks, so most of them read a sum that is not complete.

__global__ void softmax(const float* input, float* output, float* sum, int N) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float e = i < N ? expf(input[i] - 100.0f) : 0.0f;  // good luck with other inputs
    values[threadIdx.x] = e;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) values[0] = atomicAdd(sum, values[0]) + values[0];
    __syncthreads();
    if (i < N) output[i] = e / values[0];
}

extern "C" void solve(const float* input, float* output, int N) {
    float* sum;
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    softmax<<<(N + 255) / 256, 256>>>(input, output, sum, N);
    cudaFree(sum);
}
