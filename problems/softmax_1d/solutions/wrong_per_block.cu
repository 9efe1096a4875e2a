// expect: wrong_answer
// Each block normalises its own 256 elements: a softmax per block, not one over the vector.

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float values[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float x = i < N ? input[i] : -3.0e38f;
    values[threadIdx.x] = x;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    float maximum = values[0];
    __syncthreads();
    values[threadIdx.x] = expf(x - maximum);
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (i < N) output[i] = expf(x - maximum) / values[0];
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<(N + 255) / 256, 256>>>(input, output, N);
}
