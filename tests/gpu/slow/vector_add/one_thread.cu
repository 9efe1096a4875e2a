// One thread does it all.
__global__ void add(const float* A, const float* B, float* C, int N) {
    for (int i = 0; i < N; ++i) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<1, 1>>>(A, B, C, N); }
