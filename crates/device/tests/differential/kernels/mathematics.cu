// Functions of libdevice in double and float, and the fast ones. `out`: eight results an element.
extern "C" __global__ void double_math(const double* in, double* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i], *y = out + 8 * i;
    y[0] = exp(x);
    y[1] = log(x);
    y[2] = sin(x);
    y[3] = cos(x);
    y[4] = pow(x, 1.7);
    y[5] = erf(x);
    y[6] = tanh(x);
    y[7] = cbrt(x) + rsqrt(x);
}

extern "C" __global__ void float_math(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], *y = out + 8 * i;
    y[0] = expf(x);
    y[1] = logf(x);
    y[2] = sinf(x);
    y[3] = cosf(x * 40000);
    y[4] = powf(x, 1.75f);
    y[5] = erff(x);
    y[6] = tanhf(x);
    y[7] = rsqrtf(x);
}

extern "C" __global__ void fast_math(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], *y = out + 8 * i;
    y[0] = __expf(x);
    y[1] = __logf(x);
    y[2] = __sinf(x);
    y[3] = __cosf(x);
    y[4] = __powf(x, 1.75f);
    y[5] = __fdividef(x, x + 3);
    y[6] = __exp10f(x);
    y[7] = __log2f(x) + __log10f(x);
}

// Rounded in every mode, which is exact.
extern "C" __global__ void rounding(const float* a, const float* b, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = b[i];
    unsigned found = __float_as_uint(__fdiv_rd(x, y)) ^ __float_as_uint(__fsqrt_ru(fabsf(x))) * 3;
    found = found * 5 ^ __float_as_uint(__fmaf_rz(x, y, 1.0f)) ^ __float_as_uint(fmodf(x, y));
    found = found * 5 ^ __float_as_uint(__frcp_rd(y)) ^ __float_as_uint(rintf(x * 16) + truncf(y * 16));
    double d = __ddiv_ru((double)x, (double)y) + __dsqrt_rd(fabs((double)y)) * nearbyint((double)x);
    unsigned long long bits = __double_as_longlong(d);
    found = found * 5 ^ (unsigned)bits ^ (unsigned)(bits >> 32) ^ (unsigned)__float2int_ru(x) ^ __float2uint_rd(fabsf(y));
    out[i] = found * 5 ^ __float_as_uint(remainderf(x, y)) ^ __float_as_uint(ldexpf(x, i % 40 - 20)) ^ ilogbf(y);
}
