// on: h200 accepted, emulated accepted
// The answer captures a graph of its own and launches it; its memory comes from a pool.
#include <cuda_runtime.h>

__global__ void copy(const float* from, float* to, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) to[i] = from[i];
}

__global__ void add(const float* A, const float* B, float* C, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N)
{
    const int blocks = (N + 255) / 256;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    float* scratch;
    cudaMallocFromPoolAsync(&scratch, N * sizeof(float), pool, stream);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    copy<<<blocks, 256, 0, stream>>>(A, scratch, N);
    add<<<blocks, 256, 0, stream>>>(scratch, B, C, N);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    cudaGraphLaunch(executable, stream);
    cudaFreeAsync(scratch, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
