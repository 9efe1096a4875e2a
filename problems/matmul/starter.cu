// C = A B, where A is M x N, B is N x K and C is M x K, all stored row by row in device memory.

__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    // Which element of C belongs to this thread? Is it inside the matrix?
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 threads(16, 16);
    dim3 blocks((K + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y);
    matmul<<<blocks, threads>>>(A, B, C, M, N, K);
    cudaDeviceSynchronize();
}
