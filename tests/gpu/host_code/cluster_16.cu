// on: h200 accepted, emulated accepted
// Clusters of 16 blocks, which a kernel has to allow, launched by the driver's call.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void add(const float* A, const float* B, float* C, int N)
{
    __shared__ int first;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) first = blockIdx.x * blockDim.x;
    cluster.sync();
    // Where the last block of the cluster begins, as that block says.
    const int last = *cluster.map_shared_rank(&first, cluster.num_blocks() - 1);
    const int behind = (cluster.num_blocks() - 1 - cluster.block_rank()) * blockDim.x;
    const int i = last - behind + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
    cluster.sync();
}

extern "C" void solve(const float* A, const float* B, float* C, int N)
{
    cudaFuncSetAttribute(add, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    CUlaunchAttribute attribute;
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = 16;
    attribute.value.clusterDim.y = 1;
    attribute.value.clusterDim.z = 1;
    CUlaunchConfig config = {};
    config.gridDimX = (N + 16 * 256 - 1) / (16 * 256) * 16;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 256;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void* arguments[] = {&A, &B, &C, &N};
    cuLaunchKernelEx(&config, (CUfunction)add, arguments, nullptr);
}
