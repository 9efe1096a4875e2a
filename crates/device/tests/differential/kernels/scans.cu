// Inclusive sums: after Hillis and Steele, by shuffles, and over blocks by a decoupled look-back.
extern "C" __global__ void scan_hillis_steele(const unsigned* in, unsigned* out) {
    __shared__ unsigned buffer[2][256];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        unsigned value = buffer[from][t];
        if (t >= offset) value += buffer[from][t - offset];
        buffer[from ^ 1][t] = value;
        from ^= 1;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = buffer[from][t];
}

__device__ unsigned warp_scan(unsigned value) {
    int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        unsigned other = __shfl_up_sync(~0u, value, offset);
        if (lane >= offset) value += other;
    }
    return value;
}

__device__ unsigned block_scan(unsigned value) {
    __shared__ unsigned totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = warp_scan(value);
    if (lane == 31) totals[warp] = value;
    __syncthreads();
    if (warp == 0) totals[lane] = warp_scan(lane < blockDim.x / 32 ? totals[lane] : 0);
    __syncthreads();
    return warp ? value + totals[warp - 1] : value;
}

extern "C" __global__ void scan_warps(const unsigned* in, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = block_scan(in[i]);
}

// `state` holds, for each block, what is known in the upper word (0 nothing, 1 its own sum, 2 the sum up to it)
// and the sum in the lower; the last word of it hands out blocks' places.
extern "C" __global__ void scan_look_back(const unsigned* in, unsigned long long* state, unsigned* out) {
    __shared__ unsigned place, before;
    if (threadIdx.x == 0) place = (unsigned)atomicAdd(&state[gridDim.x], 1ull);
    __syncthreads();
    unsigned i = place * blockDim.x + threadIdx.x;
    unsigned value = block_scan(in[i]);
    if (threadIdx.x == blockDim.x - 1) {
        volatile unsigned long long* seen = state;
        unsigned sum = 0;
        __threadfence();
        seen[place] = (place ? 1ull : 2ull) << 32 | value;
        for (int at = (int)place - 1; at >= 0;) {
            unsigned long long word = seen[at];
            if (word >> 32 == 0) continue;
            sum += (unsigned)word;
            if (word >> 32 == 2) break;
            at--;
        }
        __threadfence();
        seen[place] = 2ull << 32 | (value + sum);
        before = sum;
    }
    __syncthreads();
    out[i] = value + before;
}
