// expect: wrong_answer
// Keeps the large elements and writes zeros for all the others. A tolerance relative to the whole matrix
// would have let it pass.

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols) output[(i % cols) * rows + i / cols] = input[i] > 10.0f ? input[i] : 0.0f;
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    size_t elements = (size_t)rows * cols;
    transpose<<<(elements + 255) / 256, 256>>>(input, output, rows, cols);
}
