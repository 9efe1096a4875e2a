// expect: wrong_answer
// The right number of elements, none of the work.

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemset(output, 0, sizeof(float));
}
