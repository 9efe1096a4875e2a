// The first optimisation everybody should know: a 32 x 32 tile goes through shared memory, so that
// both the reads and the writes of a warp are 128 consecutive bytes. The tile is not padded, so the
// column accesses still run into bank conflicts: that, and more work per thread, is left to you.

constexpr int TILE = 32;
constexpr int BLOCK_ROWS = 8;

__global__ void transpose_tile(const float* input, float* output, int rows, int cols, int tiles_x) {
    __shared__ float tile[TILE][TILE];
    int first_col = (blockIdx.x % tiles_x) * TILE;
    int first_row = (blockIdx.x / tiles_x) * TILE;

    int col = first_col + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += BLOCK_ROWS) {
        int row = first_row + i;
        if (row < rows && col < cols) tile[i][threadIdx.x] = input[(size_t)row * cols + col];
    }
    __syncthreads();

    int out_col = first_row + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += BLOCK_ROWS) {
        int out_row = first_col + i;
        if (out_row < cols && out_col < rows) output[(size_t)out_row * rows + out_col] = tile[threadIdx.x][i];
    }
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    int tiles_x = (cols + TILE - 1) / TILE;
    int tiles_y = (rows + TILE - 1) / TILE;
    dim3 block(TILE, BLOCK_ROWS);
    transpose_tile<<<tiles_x * tiles_y, block>>>(input, output, rows, cols, tiles_x);
}
