// One block: each thread adds every 1024th element, then thread 0 adds the 1024 partial sums. All in
// double precision; S is the sum of the magnitudes of the same terms.

constexpr int THREADS = 1024;

__global__ void sum(const float* input, double* output, double* output_scale, int N) {
    __shared__ double partial[THREADS];
    __shared__ double partial_scale[THREADS];
    double total = 0.0;
    double scale = 0.0;
    for (int i = threadIdx.x; i < N; i += THREADS) {
        double value = input[i];
        total += value;
        scale += fabs(value);
    }
    partial[threadIdx.x] = total;
    partial_scale[threadIdx.x] = scale;
    __syncthreads();
    if (threadIdx.x == 0) {
        total = 0.0;
        scale = 0.0;
        for (int t = 0; t < THREADS; ++t) {
            total += partial[t];
            scale += partial_scale[t];
        }
        output[0] = total;
        output_scale[0] = scale;
    }
}

extern "C" void solve(const float* input, double* output, double* output_scale, int N) {
    sum<<<1, THREADS>>>(input, output, output_scale, N);
}
