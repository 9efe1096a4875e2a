// expect: accepted
// One thread an element, reading along rows. Neighbouring threads write `rows` elements apart: each
// 4-byte write touches a 32-byte sector of its own.

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols) {
        size_t row = i / cols;
        size_t col = i % cols;
        output[col * rows + row] = input[i];
    }
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    size_t elements = (size_t)rows * cols;
    int threads = 256;
    transpose<<<(elements + threads - 1) / threads, threads>>>(input, output, rows, cols);
}
