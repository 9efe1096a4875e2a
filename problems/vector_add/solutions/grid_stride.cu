// expect: accepted min.emulated=0.35
// A fixed number of blocks walks the whole vector.
__global__ void add(const float* A, const float* B, float* C, int N) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        C[i] = A[i] + B[i];
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int blocks = (N + 255) / 256;
    if (blocks > 1056) {
        blocks = 1056;
    }
    add<<<blocks, 256>>>(A, B, C, N);
}
