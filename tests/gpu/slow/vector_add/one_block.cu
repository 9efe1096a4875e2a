// One multiprocessor works, 131 do not.
__global__ void add(const float* A, const float* B, float* C, int N) {
    for (int i = threadIdx.x; i < N; i += blockDim.x) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<1, 256>>>(A, B, C, N); }
