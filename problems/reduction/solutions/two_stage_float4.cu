// expect: accepted min.emulated=0.11
// Two launches and no atomics, so the result is the same every time. Each thread keeps four sums and
// loads 16 bytes at once; the blocks' sums go through scratch memory to a second, single block.

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int MAX_BLOCKS = 1056;  // eight blocks of 256 threads on each of 132 multiprocessors

__device__ float warp_sum(float value) {
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

// The sum over the block, in thread 0.
__device__ float block_sum(float value) {
    __shared__ float warp_sums[WARPS];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < WARPS ? warp_sums[threadIdx.x] : 0.0f;
    return threadIdx.x < 32 ? warp_sum(value) : 0.0f;
}

__global__ void __launch_bounds__(THREADS) partial_sums(const float* __restrict__ input, float* partial, int N) {
    const float4* input4 = reinterpret_cast<const float4*>(input);
    int quads = N / 4;
    int thread = blockIdx.x * THREADS + threadIdx.x;
    float4 sums = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    #pragma unroll 4
    for (int i = thread; i < quads; i += gridDim.x * THREADS) {
        float4 v = input4[i];
        sums.x += v.x;
        sums.y += v.y;
        sums.z += v.z;
        sums.w += v.w;
    }
    float value = (sums.x + sums.y) + (sums.z + sums.w);
    int tail = quads * 4 + thread;  // at most three elements
    if (tail < N) value += input[tail];
    value = block_sum(value);
    if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

__global__ void __launch_bounds__(THREADS) total(const float* __restrict__ partial, float* output, int blocks) {
    float value = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += THREADS) value += partial[i];
    value = block_sum(value);
    if (threadIdx.x == 0) output[0] = value;
}

extern "C" void solve(const float* input, float* output, int N) {
    int per_block = THREADS * 16;
    int blocks = min((N + per_block - 1) / per_block, MAX_BLOCKS);
    float* partial;
    cudaMalloc(&partial, blocks * sizeof(float));
    partial_sums<<<blocks, THREADS>>>(input, partial, N);
    total<<<1, THREADS>>>(partial, output, blocks);
    cudaFree(partial);
}
