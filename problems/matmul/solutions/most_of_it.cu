// expect: wrong_answer
// Does 99 % of the work: every hundredth element keeps only its first product.
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && column < K) {
        int terms = (row * K + column) % 100 == 99 ? 1 : N;
        float sum = 0.0f;
        for (int j = 0; j < terms; ++j) {
            sum += A[row * N + j] * B[j * K + column];
        }
        C[row * K + column] = sum;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 threads(16, 16);
    dim3 blocks((K + 15) / 16, (M + 15) / 16);
    matmul<<<blocks, threads>>>(A, B, C, M, N, K);
}
