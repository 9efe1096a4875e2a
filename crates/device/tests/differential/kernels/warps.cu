// Votes and matches of diverged lanes; barriers for some of a block's warps; blocks that wait for each other.
extern "C" __global__ void votes(const unsigned* in, unsigned* out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned value = in[t], found = 0;
    found += __all_sync(~0u, value > 10) + 2 * __any_sync(~0u, value > 250) + 4 * __ballot_sync(~0u, value & 1);
    unsigned same = __match_any_sync(~0u, value & 7);
    found ^= same * 3;
    int all;
    found ^= __match_all_sync(same, value & 7, &all) * 5 + all;
    if (lane % 3 == 0) {
        const unsigned third = 0x49249249;
        found += __ballot_sync(third, value & 2) * 7 + __popc(__match_any_sync(third, (unsigned long long)value % 5));
        __syncwarp(third);
        if (value & 4) found += 0x10000 * __popc(__activemask());
    } else {
        found -= __shfl_sync(0xb6db6db6, value, lane % 2 ? 1 : 4) + __any_sync(0xb6db6db6, value == 77);
    }
    for (int i = 0; i < lane % 5; i++) found = found * 33 + i;
    __syncwarp();
    out[t] = found + __shfl_down_sync(~0u, found, 1, 16);
}

// Two warps make numbers, two others use them; each pair of buffers has a barrier for full and one for empty.
extern "C" __global__ void named_barriers(const unsigned* in, unsigned* out, int rounds) {
    __shared__ unsigned buffer[2][64];
    int t = threadIdx.x % 64;
    unsigned sum = 0;
    for (int i = 0; i < rounds; i++) {
        int at = i & 1;
        if (threadIdx.x < 64) {
            if (i >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + at) : "memory");
            buffer[at][t] = in[i * 64 + t] * 3;
            asm volatile("bar.arrive %0, 128;" ::"r"(1 + at) : "memory");
        } else {
            asm volatile("bar.sync %0, 128;" ::"r"(1 + at) : "memory");
            sum = sum * 5 + buffer[at][63 - t];
            if (i + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + at) : "memory");
        }
    }
    // The makers' own barrier, and then everyone's reductions.
    if (threadIdx.x < 64) asm volatile("bar.sync 7, 64;" ::: "memory");
    unsigned odd = __syncthreads_count(sum & 1) * 4 + __syncthreads_or(sum == 0) * 2 + __syncthreads_and(sum != 1);
    if (threadIdx.x >= 64) out[t] = sum + odd;
}

// A word goes from block to block, in their order, whichever starts first.
extern "C" __global__ void relay(unsigned* baton, unsigned* out) {
    __shared__ unsigned word;
    if (threadIdx.x == 0) {
        volatile unsigned* turn = baton;
        while (*turn != blockIdx.x) __nanosleep(50);
        __threadfence();
        word = baton[1];
    }
    __syncthreads();
    unsigned value = word * 1664525u + threadIdx.x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
    if (threadIdx.x == blockDim.x - 1) {
        baton[1] = value;
        __threadfence();
        atomicAdd(&baton[0], 1u);
    }
}
