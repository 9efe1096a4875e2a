// Add A and B, element by element, into C. A, B and C are device pointers to N floats each.

__global__ void vector_add(const float* A, const float* B, float* C, int N) {
    // Which element belongs to this thread? Is it inside the vector?
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    vector_add<<<blocks, threads>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
