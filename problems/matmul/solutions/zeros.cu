// expect: wrong_answer
extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    cudaMemset(C, 0, (size_t)M * K * sizeof(float));
}
