// expect: accepted min.emulated=0.36
// A padded 32 x 32 tile in shared memory: 128-byte reads and writes without bank conflicts, four
// elements a thread, so that four loads are in flight before the first one is waited for.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void transpose_tile(const float* __restrict__ input, float* __restrict__ output,
                               int rows, int cols, int tiles_x) {
    __shared__ float tile[TILE][TILE + 1];  // one column more: a column's elements lie in 32 banks
    int first_col = (blockIdx.x % tiles_x) * TILE;
    int first_row = (blockIdx.x / tiles_x) * TILE;

    int col = first_col + threadIdx.x;
    #pragma unroll
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        int row = first_row + threadIdx.y + i;
        if (row < rows && col < cols) {
            tile[threadIdx.y + i][threadIdx.x] = input[(size_t)row * cols + col];
        }
    }
    __syncthreads();

    int out_col = first_row + threadIdx.x;
    #pragma unroll
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        int out_row = first_col + threadIdx.y + i;
        if (out_row < cols && out_col < rows) {
            output[(size_t)out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    int tiles_x = (cols + TILE - 1) / TILE;
    int tiles_y = (rows + TILE - 1) / TILE;
    dim3 block(TILE, BLOCK_ROWS);
    transpose_tile<<<tiles_x * tiles_y, block>>>(input, output, rows, cols, tiles_x);
}
