// expect: wrong_answer
// Does 99 % of the work: every hundredth element is left out.

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    values[threadIdx.x] = i < N && i % 100 != 99 ? input[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, values[0]);
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, sizeof(float));
    sum<<<(N + 255) / 256, 256>>>(input, output, N);
}
