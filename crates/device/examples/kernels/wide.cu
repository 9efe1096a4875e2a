// What only a GPU runs: clusters, a grid that meets, much shared memory.
#include <cooperative_groups.h>
#include <stdint.h>

extern "C" __global__ void shared_sum(uint32_t *out, uint32_t words)
{
    extern __shared__ uint32_t words_of_block[];
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) words_of_block[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < words; ++i) sum += words_of_block[i];
        out[blockIdx.x] = sum;
    }
}

// The rank in the cluster, its size, and a word of the other block's shared memory.
extern "C" __global__ void cluster(uint32_t *out)
{
    __shared__ uint32_t word;
    uint32_t rank, blocks, here, there, theirs;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    word = 40 + rank;
    here = static_cast<uint32_t>(__cvta_generic_to_shared(&word));
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank ^ 1));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(theirs) : "r"(there));
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = blocks;
        out[2 * blockIdx.x + 1] = theirs;
    }
}

// Every block writes, all meet, every block reads what the last one wrote.
extern "C" __global__ void meet(uint32_t *words, uint32_t *out)
{
    if (threadIdx.x == 0) words[blockIdx.x] = blockIdx.x + 1;
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = words[gridDim.x - 1 - blockIdx.x];
}
