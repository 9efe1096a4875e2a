// on: h200 accepted, emulated accepted
// All blocks wait for each other: what one writes before, another reads after.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void add(const float* A, const float* B, float* C, int N)
{
    cg::grid_group grid = cg::this_grid();
    const int stride = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < N; i += stride) C[N - 1 - i] = A[N - 1 - i];
    grid.sync();
    for (int i = first; i < N; i += stride) C[i] += B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N)
{
    int resident = 0, device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, add, 256, 0);
    int blocks = (N + 255) / 256;
    if (blocks > resident * multiprocessors) blocks = resident * multiprocessors;
    void* arguments[] = {&A, &B, &C, &N};
    cudaLaunchCooperativeKernel((void*)add, dim3(blocks), dim3(256), arguments, 0, 0);
}
