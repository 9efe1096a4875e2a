// expect: wrong_answer
// Adds up every second element and doubles the result. Good enough for a poll, not for a sum.

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float values[256];
    int i = (blockIdx.x * 256 + threadIdx.x) * 2;
    values[threadIdx.x] = i < N ? input[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, values[0] * (float)N / (float)((N + 1) / 2));
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, sizeof(float));
    sum<<<(N + 511) / 512, 256>>>(input, output, N);
}
