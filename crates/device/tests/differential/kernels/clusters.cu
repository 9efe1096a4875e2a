// Blocks of a cluster read and update each other's shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sums(const unsigned* in, unsigned* out) {
    __shared__ unsigned own[128], bins[16];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t < 16) bins[t] = 0;
    own[t] = in[blockIdx.x * 128 + t];
    cluster.sync();
    unsigned sum = 0;
    for (int block = 0; block < 4; block++) sum = sum * 17 + cluster.map_shared_rank(own, (rank + block) % 4)[t];
    // A quarter of the bins lies with each block.
    unsigned bin = own[t] % 64;
    atomicAdd(&cluster.map_shared_rank(bins, bin / 16)[bin % 16], 1u);
    cluster.sync();
    out[blockIdx.x * 144 + t] = sum;
    if (t < 16) out[blockIdx.x * 144 + 128 + t] = bins[t];
}
