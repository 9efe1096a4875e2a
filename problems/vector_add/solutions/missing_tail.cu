// expect: wrong_answer
// Rounds the number of blocks down: the last N % 256 elements are never written.
__global__ void add(const float* A, const float* B, float* C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (N >= 256) {
        add<<<N / 256, 256>>>(A, B, C);
    }
}
