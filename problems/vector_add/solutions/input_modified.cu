// expect: runtime_error kind=input_modified
// Uses the first addend as scratch space.
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float sum = A[i] + B[i];
        const_cast<float*>(A)[i] = sum;
        C[i] = sum;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
