// Asynchronous copies into shared memory: cp.async in two buffers, and bulk copies that a barrier counts.
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Each block sums rows of 512 words while the next one is on its way.
extern "C" __global__ void double_buffering(const unsigned* in, unsigned* out, int rows) {
    __shared__ alignas(16) unsigned buffer[2][512];
    int t = threadIdx.x;
    const unsigned* base = in + blockIdx.x * rows * 512;
    auto fetch = [&](int row) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&buffer[row & 1][4 * t])),
                     "l"(base + row * 512 + 4 * t)
                     : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0);
    unsigned sum = 0;
    for (int row = 0; row < rows; row++) {
        if (row + 1 < rows) {
            fetch(row + 1);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        for (int i = 0; i < 4; i++) sum = sum * 31 + buffer[row & 1][i * 128 + (t ^ row)];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}

// Reverses tiles of 256 words, which go in and out in one piece.
extern "C" __global__ void bulk_copy(const unsigned* in, unsigned* out, int tiles) {
    __shared__ alignas(128) unsigned tile[256], turned[256];
    __shared__ alignas(8) unsigned long long full;
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    for (int i = blockIdx.x, phase = 0; i < tiles; i += gridDim.x, phase ^= 1) {
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                         "r"((unsigned)sizeof tile)
                         : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                    shared_address(tile)),
                "l"(in + 256 * i), "r"((unsigned)sizeof tile), "r"(shared_address(&full))
                : "memory");
        }
        unsigned done = 0;
        while (!done)
            asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p;\n}"
                         : "=r"(done)
                         : "r"(shared_address(&full)), "r"(phase)
                         : "memory");
        turned[t] = tile[255 - t];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 256 * i),
                         "r"(shared_address(turned)), "r"((unsigned)sizeof turned)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
        __syncthreads();
    }
}
