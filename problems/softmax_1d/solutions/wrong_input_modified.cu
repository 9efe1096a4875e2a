// expect: runtime_error kind=input_modified
// Keeps the exponentials where the input was, to save computing them twice.

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
    float* scratch = (float*)input;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) {
        scratch[i] = expf(input[i] - maximum);
        sum += scratch[i];
    }
    values[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    sum = values[0];
    for (int i = threadIdx.x; i < N; i += 256) output[i] = scratch[i] / sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<1, 256>>>(input, output, N);
}
