// expect: wrong_answer
// Moving data is exact. Staging the tile in half precision saves shared memory and loses bits.

#include <cuda_fp16.h>

constexpr int TILE = 32;

__global__ void transpose_tile(const float* input, float* output, int rows, int cols, int tiles_x) {
    __shared__ __half tile[TILE][TILE + 2];
    int col = (blockIdx.x % tiles_x) * TILE + threadIdx.x;
    int row = (blockIdx.x / tiles_x) * TILE + threadIdx.y;
    if (row < rows && col < cols) {
        tile[threadIdx.y][threadIdx.x] = __float2half(input[(size_t)row * cols + col]);
    }
    __syncthreads();
    int out_col = (blockIdx.x / tiles_x) * TILE + threadIdx.x;
    int out_row = (blockIdx.x % tiles_x) * TILE + threadIdx.y;
    if (out_row < cols && out_col < rows) {
        output[(size_t)out_row * rows + out_col] = __half2float(tile[threadIdx.x][threadIdx.y]);
    }
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    int tiles_x = (cols + TILE - 1) / TILE;
    int tiles_y = (rows + TILE - 1) / TILE;
    dim3 block(TILE, TILE);
    transpose_tile<<<tiles_x * tiles_y, block>>>(input, output, rows, cols, tiles_x);
}
