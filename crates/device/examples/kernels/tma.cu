// A box of a matrix, fetched by the tensor memory accelerator. Needs compute capability 9.0.
#include <stdint.h>

struct alignas(64) TensorMap {
    uint64_t opaque[16];
};

static constexpr uint32_t COLUMNS = 32, ROWS = 8;

// Puts the box of 32 x 8 words whose first element is (x, y) into `out`, row after row. One block.
extern "C" __global__ void fetch_box(const __grid_constant__ TensorMap map, uint32_t *out, int x, int y)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) uint32_t box[ROWS * COLUMNS];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(box));
    const uint32_t full = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     ::"r"(full), "r"(static_cast<uint32_t>(sizeof box)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(full) : "memory");
    }
    uint32_t done = 0;
    while (done == 0)
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(full) : "memory");
    for (uint32_t i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x) out[i] = box[i];
#endif
}
