// expect: wrong_answer
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaMemset(C, 0, N * sizeof(float));
}
