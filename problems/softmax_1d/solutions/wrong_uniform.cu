// expect: wrong_answer
// Positive, adds up to one, and has nothing to do with the input.

__global__ void uniform(float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) output[i] = 1.0f / N;
}

extern "C" void solve(const float* input, float* output, int N) {
    uniform<<<(N + 255) / 256, 256>>>(output, N);
}
