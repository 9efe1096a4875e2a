// expect: wrong_answer
// An online softmax that takes the larger maximum when it merges two sums, and forgets that both sums
// were relative to their own.

struct Part {
    float maximum;
    float sum;
};

__device__ Part merge(Part a, Part b) {
    return {fmaxf(a.maximum, b.maximum), a.sum + b.sum};
}

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ Part parts[256];
    Part part = {-3.0e38f, 0.0f};
    for (int i = threadIdx.x; i < N; i += 256) {
        float maximum = fmaxf(part.maximum, input[i]);
        part = {maximum, part.sum * expf(part.maximum - maximum) + expf(input[i] - maximum)};
    }
    parts[threadIdx.x] = part;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = merge(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    part = parts[0];
    for (int i = threadIdx.x; i < N; i += 256) output[i] = expf(input[i] - part.maximum) / part.sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<1, 256>>>(input, output, N);
}
