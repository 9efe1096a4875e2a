// One block a row. On entry `residual` holds the row's input values, exactly.
//
// Residual: the exact sum h = x + residual; the comparison allows its rounding to bf16. S is |x| +
// |residual|, the magnitudes of the two terms.
// Out: made from the sum as it is stored, rounded to bf16, because that is what the next layer reads.
// One product, so S = |out|.

#include <cuda_bf16.h>

constexpr int THREADS = 256;

__global__ void add_rms_norm(const __nv_bfloat16* x, double* residual, double* residual_scale,
                             const __nv_bfloat16* weight, double* out, double* out_scale,
                             int hidden, float eps) {
    __shared__ double partial[THREADS];
    __shared__ double inverse_rms;
    long long row = (long long)blockIdx.x * hidden;

    double sum_of_squares = 0.0;
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        double a = __bfloat162float(x[row + i]);
        double b = residual[row + i];
        residual[row + i] = a + b;
        residual_scale[row + i] = fabs(a) + fabs(b);
        double stored = __bfloat162float(__double2bfloat16(a + b));
        sum_of_squares += stored * stored;
    }
    partial[threadIdx.x] = sum_of_squares;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum_of_squares = 0.0;
        for (int t = 0; t < THREADS; ++t) sum_of_squares += partial[t];
        inverse_rms = 1.0 / sqrt(sum_of_squares / hidden + (double)eps);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        double stored = __bfloat162float(__double2bfloat16(residual[row + i]));
        double value = stored * inverse_rms * (double)__bfloat162float(weight[i]);
        out[row + i] = value;
        out_scale[row + i] = fabs(value);
    }
}

extern "C" void solve(const __nv_bfloat16* x, double* residual, double* residual_scale,
                      const __nv_bfloat16* weight, double* out, double* out_scale,
                      int rows, int hidden, float eps) {
    add_rms_norm<<<rows, THREADS>>>(x, residual, residual_scale, weight, out, out_scale, hidden, eps);
}
