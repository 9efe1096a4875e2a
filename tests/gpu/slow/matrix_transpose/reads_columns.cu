// Writes along rows and reads down columns.
__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) output[(size_t)col * rows + row] = input[(size_t)row * cols + col];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    dim3 block(32, 8);
    transpose<<<dim3((rows + 31) / 32, (cols + 7) / 8), block>>>(input, output, rows, cols);
}
