// expect: accepted device=emulated
// Correct, and the slowest way that is: N atomics queue up at one address. The bytes are right, so the
// emulated device's traffic figure does not show it; its modelled time does, and so does a clock.

__global__ void sum(const float* input, float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(output, input[i]);
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, sizeof(float));
    sum<<<(N + 255) / 256, 256>>>(input, output, N);
}
