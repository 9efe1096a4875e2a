// Maximum and sum in one pass: a running sum is rescaled whenever the maximum grows ("online"
// softmax). Three launches: a (maximum, sum) pair per block, one pair for all, then the quotients. The
// input is read twice. What is left to gain: wider loads, fewer exponentials, one launch less.

constexpr int THREADS = 256;
constexpr float LOWEST = -3.402823466e38f;

// What a set of elements contributes: its maximum, and the sum of exp(x - maximum) over it.
struct Part {
    float maximum;
    float sum;
};

__device__ Part merge(Part a, Part b) {
    float maximum = fmaxf(a.maximum, b.maximum);
    return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

// The part of the whole block, in thread 0.
__device__ Part block_part(Part part) {
    __shared__ Part parts[THREADS];
    parts[threadIdx.x] = part;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = merge(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    return parts[0];
}

__global__ void partial_parts(const float* input, Part* parts, int N) {
    Part part = {LOWEST, 0.0f};
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS) {
        part = merge(part, {input[i], 1.0f});
    }
    part = block_part(part);
    if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

__global__ void total_part(Part* parts, int blocks) {
    Part part = {LOWEST, 0.0f};
    for (int i = threadIdx.x; i < blocks; i += THREADS) part = merge(part, parts[i]);
    part = block_part(part);
    if (threadIdx.x == 0) parts[blocks] = part;
}

__global__ void quotients(const float* input, float* output, const Part* total, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) output[i] = expf(input[i] - total->maximum) / total->sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = min((N + THREADS - 1) / THREADS, 512);
    Part* parts;
    cudaMalloc(&parts, (blocks + 1) * sizeof(Part));
    partial_parts<<<blocks, THREADS>>>(input, parts, N);
    total_part<<<1, THREADS>>>(parts, blocks);
    quotients<<<(N + THREADS - 1) / THREADS, THREADS>>>(input, output, parts + blocks, N);
    cudaFree(parts);
}
