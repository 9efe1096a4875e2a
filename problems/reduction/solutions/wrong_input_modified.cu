// expect: runtime_error kind=input_modified
// Folds the input onto itself until one element is left. A fine algorithm on a copy; the input belongs
// to the caller.

__global__ void fold(float* values, int half, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + half < n) values[i] += values[i + half];
}

__global__ void take_first(const float* values, float* output) {
    output[0] = values[0];
}

extern "C" void solve(const float* input, float* output, int N) {
    float* values = (float*)input;
    for (int n = N; n > 1;) {
        int half = (n + 1) / 2;
        fold<<<(half + 255) / 256, 256>>>(values, half, n);
        n = half;
    }
    take_first<<<1, 1>>>(values, output);
}
