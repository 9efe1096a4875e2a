// expect: accepted min.emulated=0.25
#define TILE 16

// A block computes a 16 x 16 tile of C. It walks along N, one tile of A and of B at a time, both
// held in shared memory, so that each element comes from global memory once a block.
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < N; start += TILE) {
        int j = start + threadIdx.x;
        int i = start + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < M && j < N ? A[row * N + j] : 0.0f;
        b[threadIdx.y][threadIdx.x] = i < N && column < K ? B[i * K + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < M && column < K) {
        C[row * K + column] = sum;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 threads(TILE, TILE);
    dim3 blocks((K + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul<<<blocks, threads>>>(A, B, C, M, N, K);
}
