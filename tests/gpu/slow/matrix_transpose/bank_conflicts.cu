// A tile in shared memory without padding: a column of it lies in one bank.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8)
        if (row + i < rows && col < cols) tile[threadIdx.y + i][threadIdx.x] = input[(size_t)(row + i) * cols + col];
    __syncthreads();
    row = blockIdx.x * 32 + threadIdx.y;
    col = blockIdx.y * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8)
        if (row + i < cols && col < rows) output[(size_t)(row + i) * rows + col] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(input, output, rows, cols);
}
