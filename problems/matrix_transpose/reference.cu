// Every element moves once and is not computed with: the reference is the definition.
// S of an element-wise operator is |r|; the tolerance is so small that only equal values pass.

__global__ void transpose(const float* input, double* output, double* output_scale, int rows, int cols) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)rows * cols) return;
    long long row = i / cols;
    long long col = i % cols;
    double value = input[i];
    output[col * rows + row] = value;
    output_scale[col * rows + row] = fabs(value);
}

extern "C" void solve(const float* input, double* output, double* output_scale, int rows, int cols) {
    long long elements = (long long)rows * cols;
    int threads = 256;
    int blocks = (int)((elements + threads - 1) / threads);
    transpose<<<blocks, threads>>>(input, output, output_scale, rows, cols);
}
