// expect: accepted min.emulated=0.30 min.h200=0.40
// Four elements a thread in one 16-byte access; the last N % 4 elements go to the first threads.
__global__ void add(const float4* A, const float4* B, float4* C, int quads, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quads) {
        float4 a = A[i];
        float4 b = B[i];
        C[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    int tail = 4 * quads + i;
    if (i < 4 && tail < N) {
        const float* a = reinterpret_cast<const float*>(A);
        const float* b = reinterpret_cast<const float*>(B);
        reinterpret_cast<float*>(C)[tail] = a[tail] + b[tail];
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int quads = N / 4;
    int threads = 256;
    int blocks = quads == 0 ? 1 : (quads + threads - 1) / threads;
    add<<<blocks, threads>>>((const float4*)A, (const float4*)B, (float4*)C, quads, N);
}
