// expect: runtime_error kind=input_modified
// Gives the right answer and clears the input behind itself. Inputs belong to the caller.

__global__ void transpose(float* input, float* output, int rows, int cols) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols) {
        output[(i % cols) * rows + i / cols] = input[i];
        input[i] = 0.0f;
    }
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    size_t elements = (size_t)rows * cols;
    transpose<<<(elements + 255) / 256, 256>>>((float*)input, output, rows, cols);
}
