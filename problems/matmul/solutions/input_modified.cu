// expect: runtime_error kind=input_modified
// Scales A in place by two and the result by a half.
__global__ void scale(float* A, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        A[i] *= 2.0f;
    }
}

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && column < K) {
        float sum = 0.0f;
        for (int j = 0; j < N; ++j) {
            sum += A[row * N + j] * B[j * K + column];
        }
        C[row * K + column] = 0.5f * sum;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    scale<<<(M * N + 255) / 256, 256>>>((float*)A, M * N);
    dim3 threads(16, 16);
    dim3 blocks((K + 15) / 16, (M + 15) / 16);
    matmul<<<blocks, threads>>>(A, B, C, M, N, K);
}
