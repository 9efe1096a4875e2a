// expect: wrong_answer
// Does 99 % of the work: every hundredth element is set to zero without looking at it.

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols) output[(i % cols) * rows + i / cols] = i % 100 == 99 ? 0.0f : input[i];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    size_t elements = (size_t)rows * cols;
    transpose<<<(elements + 255) / 256, 256>>>(input, output, rows, cols);
}
