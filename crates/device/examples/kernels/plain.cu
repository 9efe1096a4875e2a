// Kernels without variables of module scope.
#include <stdint.h>

extern "C" __global__ void empty() {}

extern "C" __global__ void fill(uint32_t *out, uint32_t n, uint32_t value)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value + i;
}

extern "C" __global__ void past_end(uint8_t *out, uint32_t bytes)
{
    if (threadIdx.x < 16) out[bytes + threadIdx.x] = 0x11;
}

struct Mixed {
    float x;
    double y;
    int16_t z[3];
};

extern "C" __global__ void mixed(int8_t a, Mixed m, int16_t b, uint64_t c, double *out, uint8_t d)
{
    out[0] = a;
    out[1] = m.x;
    out[2] = m.y;
    out[3] = m.z[0] + m.z[1] * 10 + m.z[2] * 100;
    out[4] = b;
    out[5] = static_cast<double>(c);
    out[6] = d;
}

extern "C" __global__ void copy(float4 *out, const float4 *in, uint64_t n)
{
    uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
        out[i] = in[i];
}
