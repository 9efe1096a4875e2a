// One thread an element, but neighbouring threads have neighbouring rows.
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= K) return;
    float sum = 0.0f;
    for (int j = 0; j < N; ++j) sum += A[(size_t)row * N + j] * B[(size_t)j * K + column];
    C[(size_t)row * K + column] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 threads(16, 16);
    matmul<<<dim3((M + 15) / 16, (K + 15) / 16), threads>>>(A, B, C, M, N, K);
}
