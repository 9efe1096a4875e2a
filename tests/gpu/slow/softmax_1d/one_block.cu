// All three passes by one block.
__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float values[1024];
    float most = -3.402823466e38f, sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 1024) most = fmaxf(most, input[i]);
    values[threadIdx.x] = most;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    most = values[0];
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += 1024) sum += expf(input[i] - most);
    values[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    sum = values[0];
    for (int i = threadIdx.x; i < N; i += 1024) output[i] = expf(input[i] - most) / sum;
}

extern "C" void solve(const float* input, float* output, int N) { softmax<<<1, 1024>>>(input, output, N); }
