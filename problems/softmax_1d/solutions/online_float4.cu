// expect: accepted min.emulated=0.09
// Two launches. The first leaves a (maximum, sum) pair per block; in the second every block merges all
// the pairs again, which is cheaper than one more launch, and writes its share of the quotients.
// exp(x - m) is computed as 2^((x - m) * log2(e)): a subtraction, a multiplication, one EX2. Tempting is
// one FMA, 2^(x * log2(e) - m * log2(e)), but here x is around 100: m * log2(e) would be rounded by 1e-5,
// differently for every thread's m, and their sums would not fit together.

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int MAX_BLOCKS = 528;  // four on each of 132 multiprocessors
constexpr float LOWEST = -3.0e38f;
constexpr float LOG2_E = 1.4426950408889634f;

// The maximum over some elements, and the sum of exp(x - maximum).
struct Part {
    float maximum;
    float sum;
};

__device__ float exponential(float x, float shift) {
    return exp2f((x - shift) * LOG2_E);
}

__device__ Part merge(Part a, Part b) {
    float maximum = fmaxf(a.maximum, b.maximum);
    return {maximum, a.sum * exponential(a.maximum, maximum) + b.sum * exponential(b.maximum, maximum)};
}

__device__ Part warp_part(Part part) {
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        Part other;
        other.maximum = __shfl_xor_sync(0xffffffff, part.maximum, offset);
        other.sum = __shfl_xor_sync(0xffffffff, part.sum, offset);
        part = merge(part, other);
    }
    return part;
}

// The part of the whole block, in every thread.
__device__ Part block_part(Part part) {
    __shared__ Part parts[WARPS];
    part = warp_part(part);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
    __syncthreads();
    part = parts[0];
    #pragma unroll
    for (int w = 1; w < WARPS; ++w) part = merge(part, parts[w]);
    return part;
}

__global__ void __launch_bounds__(THREADS) partial_parts(const float* __restrict__ input, Part* parts, int N) {
    const float4* input4 = reinterpret_cast<const float4*>(input);
    int quads = N / 4;
    int thread = blockIdx.x * THREADS + threadIdx.x;
    Part part = {LOWEST, 0.0f};
    #pragma unroll 2
    for (int i = thread; i < quads; i += gridDim.x * THREADS) {
        float4 v = input4[i];
        float maximum = fmaxf(part.maximum, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        part.sum = part.sum * exponential(part.maximum, maximum) +
                   (exponential(v.x, maximum) + exponential(v.y, maximum)) +
                   (exponential(v.z, maximum) + exponential(v.w, maximum));
        part.maximum = maximum;
    }
    int tail = quads * 4 + thread;  // at most three elements
    if (tail < N) part = merge(part, {input[tail], 1.0f});
    part = block_part(part);
    if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

__global__ void __launch_bounds__(THREADS) quotients(const float* __restrict__ input, float* __restrict__ output,
                                                     const Part* __restrict__ parts, int N, int blocks) {
    Part part = {LOWEST, 0.0f};
    for (int i = threadIdx.x; i < blocks; i += THREADS) part = merge(part, parts[i]);
    part = block_part(part);
    float shift = part.maximum;
    float factor = 1.0f / part.sum;

    const float4* input4 = reinterpret_cast<const float4*>(input);
    float4* output4 = reinterpret_cast<float4*>(output);
    int quads = N / 4;
    int thread = blockIdx.x * THREADS + threadIdx.x;
    for (int i = thread; i < quads; i += gridDim.x * THREADS) {
        float4 v = input4[i];
        v.x = exponential(v.x, shift) * factor;
        v.y = exponential(v.y, shift) * factor;
        v.z = exponential(v.z, shift) * factor;
        v.w = exponential(v.w, shift) * factor;
        output4[i] = v;
    }
    int tail = quads * 4 + thread;
    if (tail < N) output[tail] = exponential(input[tail], shift) * factor;
}

extern "C" void solve(const float* input, float* output, int N) {
    int per_block = THREADS * 8;
    int blocks = min((N + per_block - 1) / per_block, MAX_BLOCKS);
    Part* parts;
    cudaMalloc(&parts, blocks * sizeof(Part));
    partial_parts<<<blocks, THREADS>>>(input, parts, N);
    quotients<<<blocks, THREADS>>>(input, output, parts, N, blocks);
    cudaFree(parts);
}
