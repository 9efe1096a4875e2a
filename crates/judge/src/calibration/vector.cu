// Multiply-adds on the vector units: eight independent chains a thread. `rates.rs` counts the FLOP.

using u32 = unsigned int;
using u64 = unsigned long long;

__device__ inline float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }

// x * x + c with c near -1.9 stays within -2 and 2 and never settles, so that the operands are as
// random as real ones and draw as much power. 8 x 16 multiply-adds a pass.
template <class Real>
__device__ inline bool run_chains(u32 passes, const Real* starts) {
    Real x[8], c[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        x[i] = starts[(threadIdx.x + 8 * i) % 64];
        c[i] = starts[64 + i];
    }
    for (u32 pass = 0; pass < passes; ++pass)
#pragma unroll
        for (int step = 0; step < 16; ++step)
#pragma unroll
            for (int i = 0; i < 8; ++i) x[i] = multiply_add(x[i], x[i], c[i]);
    bool is_strange = false;
#pragma unroll
    for (int i = 0; i < 8; ++i) is_strange |= x[i] == (Real)123456;
    return is_strange;
}

// `starts`: 64 numbers between -1 and 1, then 8 near -1.9.
extern "C" __global__ void calibration_fp32(u32 passes, const float* starts, u32* sink) {
    if (run_chains(passes, starts)) *sink = 1;
}

extern "C" __global__ void calibration_fp64(u32 passes, const double* starts, u32* sink) {
    if (run_chains(passes, starts)) *sink = 1;
}
