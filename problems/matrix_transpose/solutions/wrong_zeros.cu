// expect: wrong_answer
// Writes the whole output, with nothing in it.

__global__ void zeros(float* output, size_t elements) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) output[i] = 0.0f;
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    size_t elements = (size_t)rows * cols;
    zeros<<<(elements + 255) / 256, 256>>>(output, elements);
}
