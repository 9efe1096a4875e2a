// Sums and other reductions of a block's elements, three ways.
extern "C" __global__ void reduce_shared(const float* in, float* out, int n) {
    extern __shared__ float partial[];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    partial[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
    return value;
}

extern "C" __global__ void reduce_shuffle(const float* in, float* out, int n) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float4* wide = reinterpret_cast<const float4*>(in);
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 v = wide[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sum = warp_sum(sum);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0.0f);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}

// All of `redux`, by whole warps and by their odd lanes.
extern "C" __global__ void reduce_warp(const unsigned* in, unsigned* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u = in[t];
    int s = (int)u;
    unsigned found = __reduce_add_sync(~0u, u) ^ __reduce_min_sync(~0u, u) * 3 ^ __reduce_max_sync(~0u, u) * 5;
    found ^= (unsigned)__reduce_min_sync(~0u, s) * 7 ^ (unsigned)__reduce_max_sync(~0u, s) * 11;
    if (t % 2) {
        const unsigned odd = 0xaaaaaaaa;
        found += __reduce_and_sync(odd, u | 0xf0f0f000) ^ __reduce_or_sync(odd, u & 0x0f0f0f0f);
        found += __reduce_xor_sync(odd, u) ^ (unsigned)__reduce_add_sync(odd, s);
    }
    out[t] = found;
}
