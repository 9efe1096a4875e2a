// expect: plan_error kind=signature
extern "C" void solve(const float* A, float* C, int N) {
    cudaMemset(C, 0, N * sizeof(float));
}
