// expect: wrong_answer
// Thinks of the matrix as a square: whatever lies beyond the leading square is never written.

__global__ void transpose_square(const float* input, float* output, int rows, int cols, int side) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)side * side) {
        size_t row = i / side;
        size_t col = i % side;
        output[col * rows + row] = input[row * cols + col];
    }
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    int side = rows < cols ? rows : cols;
    size_t elements = (size_t)side * side;
    transpose_square<<<(elements + 255) / 256, 256>>>(input, output, rows, cols, side);
}
