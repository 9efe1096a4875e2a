// expect: wrong_answer
// Does 99 % of the work: every hundredth result is zero.

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float values[256];
    float maximum = -3.0e38f;
    for (int i = threadIdx.x; i < N; i += 256) maximum = fmaxf(maximum, input[i]);
    values[threadIdx.x] = maximum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    maximum = values[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) sum += expf(input[i] - maximum);
    values[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    sum = values[0];
    for (int i = threadIdx.x; i < N; i += 256) output[i] = i % 100 == 99 ? 0.0f : expf(input[i] - maximum) / sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<1, 256>>>(input, output, N);
}
