// expect: wrong_answer device=emulated
// The tree without barriers: one warp adds up numbers that another has not written yet. On a GPU the
// outcome depends on who is first; the emulated device runs warps one after another.

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    values[threadIdx.x] = i < N ? input[i] : 0.0f;
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(output, values[0]);
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, sizeof(float));
    sum<<<(N + 255) / 256, 256>>>(input, output, N);
}
