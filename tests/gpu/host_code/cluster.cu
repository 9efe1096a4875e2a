// on: h200 accepted, emulated accepted
// A launch with clusters: every block adds what the block beside it in the cluster has loaded.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int THREADS = 256;
constexpr int CLUSTER = 4;

__global__ void add(const float* A, const float* B, float* C, int N)
{
    __shared__ float sum[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank(), blocks = cluster.num_blocks();
    const int base = (blockIdx.x - rank) * THREADS;
    const int mine = base + rank * THREADS + threadIdx.x;
    sum[threadIdx.x] = mine < N ? A[mine] + B[mine] : 0.0f;
    cluster.sync();
    const int beside = (rank + 1) % blocks;
    const int other = base + beside * THREADS + threadIdx.x;
    const float* far = cluster.map_shared_rank(sum, beside);
    if (other < N) C[other] = far[threadIdx.x];
    cluster.sync();  // nobody leaves while its memory is read
}

extern "C" void solve(const float* A, const float* B, float* C, int N)
{
    const int blocks = (N + THREADS - 1) / THREADS;
    cudaLaunchConfig_t config = {};
    config.gridDim = (blocks + CLUSTER - 1) / CLUSTER * CLUSTER;
    config.blockDim = THREADS;
    cudaLaunchAttribute attributes[2];
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = CLUSTER;
    attributes[0].val.clusterDim.y = 1;
    attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 2;
    int resident = 0;
    cudaOccupancyMaxActiveClusters(&resident, add, &config);
    if (resident < 1) return;
    cudaLaunchKernelEx(&config, add, A, B, C, N);
}
