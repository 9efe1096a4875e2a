// expect: runtime_error kind=out_of_bounds device=emulated
// A matrix that is no multiple of 32 needs a guard: the threads beyond its edge must not write.

constexpr int TILE = 32;

__global__ void transpose_tile(const float* input, float* output, int rows, int cols, int tiles_x) {
    __shared__ float tile[TILE][TILE + 1];
    int col = (blockIdx.x % tiles_x) * TILE + threadIdx.x;
    int row = (blockIdx.x / tiles_x) * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = input[(size_t)row * cols + col];
    __syncthreads();
    int out_col = (blockIdx.x / tiles_x) * TILE + threadIdx.x;
    int out_row = (blockIdx.x % tiles_x) * TILE + threadIdx.y;
    output[(size_t)out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    int tiles_x = (cols + TILE - 1) / TILE;
    int tiles_y = (rows + TILE - 1) / TILE;
    dim3 block(TILE, TILE);
    transpose_tile<<<tiles_x * tiles_y, block>>>(input, output, rows, cols, tiles_x);
}
