// expect: runtime_error kind=out_of_bounds
// Writes one element behind the end.
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
    if (i == N) {
        C[i] = 0.0f;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<N / 256 + 1, 256>>>(A, B, C, N);
}
