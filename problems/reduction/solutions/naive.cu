// expect: accepted min.emulated=0.13
// The textbook tree: one element a thread, halves of the block added to each other in shared memory,
// one atomic a block. Half of the threads idle after the first step, three quarters after the second.

constexpr int THREADS = 256;

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float values[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    values[threadIdx.x] = i < N ? input[i] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, values[0]);
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, sizeof(float));
    sum<<<(N + THREADS - 1) / THREADS, THREADS>>>(input, output, N);
}
