// Each thread has 16 neighbouring elements: every access of a warp takes 32 sectors.
__global__ void add(const float* A, const float* B, float* C, int N) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 16;
    for (size_t i = first; i < first + 16 && i < N; ++i) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N / 16 + 256) / 256, 256>>>(A, B, C, N);
}
