// Blocks of one warp: half of the warps that fit.
__global__ void add(const float* A, const float* B, float* C, int N) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<(N + 31) / 32, 32>>>(A, B, C, N); }
