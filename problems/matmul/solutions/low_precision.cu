// expect: wrong_answer
// Keeps only the 10 fraction bits of TF32 of each factor.
__device__ float truncated(float x) {
    return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && column < K) {
        float sum = 0.0f;
        for (int j = 0; j < N; ++j) {
            sum += truncated(A[row * N + j]) * truncated(B[j * K + column]);
        }
        C[row * K + column] = sum;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 threads(16, 16);
    dim3 blocks((K + 15) / 16, (M + 15) / 16);
    matmul<<<blocks, threads>>>(A, B, C, M, N, K);
}
