// expect: runtime_error kind=out_of_bounds
// The rows of the transposed matrix are `rows` long. Using `cols` as their stride works for squares
// and writes beyond the end of the output for wider matrices.

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols) output[(i % cols) * cols + i / cols] = input[i];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    size_t elements = (size_t)rows * cols;
    transpose<<<(elements + 255) / 256, 256>>>(input, output, rows, cols);
}
