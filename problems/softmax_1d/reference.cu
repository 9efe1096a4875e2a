// One block, three passes: maximum, sum of exponentials, quotient; all in double precision.
//
// S: an element r_i = e_i / sum_j e_j is wrong for two reasons. The sum has N terms of one sign, which
// costs sqrt(N) * eps. The exponent x_i - max is rounded to eps * |x_i - max|, and an error in the
// exponent is the same relative error of r_i. So |error| <= c * eps * |r_i| * (sqrt(N) + |x_i - max|),
// which is c * sqrt(N) * eps * S with S = |r_i| * (1 + |x_i - max| / sqrt(N)).

constexpr int THREADS = 1024;

__global__ void softmax(const float* input, double* output, double* output_scale, int N) {
    __shared__ double partial[THREADS];
    __shared__ double maximum;
    __shared__ double sum;

    double mine = input[0];
    for (int i = threadIdx.x; i < N; i += THREADS) mine = fmax(mine, (double)input[i]);
    partial[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        maximum = partial[0];
        for (int t = 1; t < THREADS; ++t) maximum = fmax(maximum, partial[t]);
    }
    __syncthreads();

    mine = 0.0;
    for (int i = threadIdx.x; i < N; i += THREADS) mine += exp((double)input[i] - maximum);
    partial[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0.0;
        for (int t = 0; t < THREADS; ++t) sum += partial[t];
    }
    __syncthreads();

    for (int i = threadIdx.x; i < N; i += THREADS) {
        double distance = maximum - (double)input[i];
        double value = exp(-distance) / sum;
        output[i] = value;
        output_scale[i] = value * (1.0 + distance / sqrt((double)N));
    }
}

extern "C" void solve(const float* input, double* output, double* output_scale, int N) {
    softmax<<<1, THREADS>>>(input, output, output_scale, N);
}
