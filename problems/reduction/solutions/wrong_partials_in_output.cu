// expect: runtime_error kind=out_of_bounds
// Stores one partial sum per block into `output`, which has room for exactly one number.

__global__ void partial_sums(const float* input, float* output, int N) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    values[threadIdx.x] = i < N ? input[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) output[blockIdx.x] = values[0];
}

__global__ void total(float* output, int blocks) {
    float value = 0.0f;
    for (int i = 0; i < blocks; ++i) value += output[i];
    output[0] = value;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = (N + 255) / 256;
    partial_sums<<<blocks, 256>>>(input, output, N);
    total<<<1, 1>>>(output, blocks);
}
