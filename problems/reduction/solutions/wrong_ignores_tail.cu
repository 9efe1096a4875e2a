// expect: wrong_answer
// Loads four elements at a time and forgets the N % 4 that are left over.

__global__ void sum(const float4* input, float* output, int quads) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 v = i < quads ? input[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    values[threadIdx.x] = v.x + v.y + v.z + v.w;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(output, values[0]);
}

extern "C" void solve(const float* input, float* output, int N) {
    int quads = N / 4;
    cudaMemset(output, 0, sizeof(float));
    sum<<<(quads + 256) / 256, 256>>>((const float4*)input, output, quads);
}
