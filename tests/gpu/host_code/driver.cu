// on: h200 accepted, emulated accepted
// A template's instance, launched by the driver's call with scratch of the driver's.
#include <cuda.h>
#include <cuda_runtime.h>

template <int THREADS>
__global__ void add(const float* A, const float* B, float* C, int N)
{
    extern __shared__ float tile[];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    tile[threadIdx.x] = i < N ? A[i] : 0.0f;
    __syncthreads();
    if (i < N) C[i] = tile[threadIdx.x] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N)
{
    CUdeviceptr sum;
    cuMemAlloc(&sum, N * sizeof(float));
    CUfunction kernel;
    cudaGetFuncBySymbol(&kernel, (const void*)add<256>);
    void* arguments[] = {&A, &B, &sum, &N};
    cuLaunchKernel(kernel, (N + 255) / 256, 1, 1, 256, 1, 1, 256 * sizeof(float), nullptr, arguments, nullptr);
    cuMemcpyDtoD((CUdeviceptr)C, sum, N * sizeof(float));
    cuMemFree(sum);
}
