// input:  rows x cols matrix in device memory, row-major: element (r, c) is input[r * cols + c]
// output: cols x rows matrix in device memory, row-major

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    // Matrices are rarely multiples of the block: threads beyond the edge must not write.
    if (row < rows && col < cols) {
        // TODO: where does element (row, col) belong in the transposed matrix?
        // This line writes every element's negative, and keeps it where it was.
        output[row * cols + col] = -input[row * cols + col];
    }
}

// Runs on the host. Both pointers point to device memory.
extern "C" void solve(const float* input, float* output, int rows, int cols) {
    dim3 block(32, 8);  // x runs along a row, so that a warp reads 32 neighbouring elements
    dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    transpose<<<grid, block>>>(input, output, rows, cols);
}
