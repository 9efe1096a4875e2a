// Arithmetic of pairs of small floats, by the toolkit's own functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half2_math(const half2* a, const half2* b, half2* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half2 x = a[i], y = b[i];
    half2 sum = __hfma2(x, y, __hadd2(x, __hmul2(y, __float2half2_rn(0.5f))));
    sum = __hadd2_sat(__h2div(sum, __hadd2(__habs2(y), __float2half2_rn(1.0f))), __hneg2(x));
    if (__hgt(__low2half(x), __high2half(y))) sum = __lowhigh2highlow(sum);
    out[4 * i] = sum;
    out[4 * i + 1] = __hmax2(__hmin2(x, y), h2rint(__hsub2(x, y)));
    out[4 * i + 2] = __hge2(x, y);
    out[4 * i + 3] = __floats2half2_rn(__low2float(x) * 3 + __half2float(hceil(y.y)), (float)__half2int_rz(x.x));
}

extern "C" __global__ void bfloat162_math(const __nv_bfloat162* a, const __nv_bfloat162* b, __nv_bfloat162* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_bfloat162 x = a[i], y = b[i];
    out[4 * i] = __hfma2(x, y, __hadd2(x, __hmul2(y, __float2bfloat162_rn(0.5f))));
    out[4 * i + 1] = __hmax2(__hmin2(x, __hneg2(y)), __habs2(__hsub2(x, y)));
    out[4 * i + 2] = __hfma2_relu(x, y, __float2bfloat162_rn(-1.0f));
    out[4 * i + 3] = __floats2bfloat162_rn(__low2float(x) * 3 + __bfloat162float(hfloor(y.y)), __high2float(x) / 3);
}
