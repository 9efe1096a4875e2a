// on: h200 accepted, emulated accepted
// Both vectors are fetched by the tensor memory accelerator, box by box.
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>

constexpr int BOX = 256;

__device__ void fetch(uint32_t to, const CUtensorMap& map, int first, uint32_t full)
{
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2}], [%3];"
                 ::"r"(to), "l"(&map), "r"(first), "r"(full) : "memory");
}

__global__ void add_boxes(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                          float* C, int N)
{
    __shared__ alignas(128) float boxes[2][BOX];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t full = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
    const int first = blockIdx.x * BOX;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     ::"r"(full), "r"(static_cast<uint32_t>(sizeof boxes)) : "memory");
        fetch(static_cast<uint32_t>(__cvta_generic_to_shared(boxes[0])), a, first, full);
        fetch(static_cast<uint32_t>(__cvta_generic_to_shared(boxes[1])), b, first, full);
    }
    uint32_t done = 0;
    while (done == 0)
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(full) : "memory");
    const int i = first + threadIdx.x;
    if (i < N) C[i] = boxes[0][threadIdx.x] + boxes[1][threadIdx.x];
}

__global__ void add_few(const float* A, const float* B, float* C, int N)
{
    if (threadIdx.x < N) C[threadIdx.x] = A[threadIdx.x] + B[threadIdx.x];
}

extern "C" void solve(const float* A, const float* B, float* C, int N)
{
    if (N < BOX) {
        add_few<<<1, BOX>>>(A, B, C, N);
        return;
    }
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found);
    if (found != cudaDriverEntryPointSuccess) return;
    auto encode = (PFN_cuTensorMapEncodeTiled_v12000)entry;
    CUtensorMap maps[2];
    const float* vectors[2] = {A, B};
    for (int i = 0; i < 2; ++i) {
        cuuint64_t size[1] = {(cuuint64_t)N};
        cuuint64_t strides[1] = {0};  // of one dimension there is none
        cuuint32_t box[1] = {BOX}, steps[1] = {1};
        encode(&maps[i], CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, (void*)vectors[i], size, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
    add_boxes<<<(N + BOX - 1) / BOX, BOX>>>(maps[0], maps[1], C, N);
}
