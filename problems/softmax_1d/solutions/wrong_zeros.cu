// expect: wrong_answer
// A zero is close to most of these small numbers, but not relative to their size.

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, N * sizeof(float));
}
