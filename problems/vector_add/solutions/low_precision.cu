// expect: wrong_answer
// Keeps only the 16 upper bits of each addend, as bfloat16 would.
__device__ float truncated(float x) {
    return __uint_as_float(__float_as_uint(x) & 0xffff0000u);
}

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = truncated(A[i]) + truncated(B[i]);
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
