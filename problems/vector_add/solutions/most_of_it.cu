// expect: wrong_answer
// Does 99 % of the work: every hundredth element keeps only its first addend.
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = i % 100 == 99 ? A[i] : A[i] + B[i];
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
