// Kernels that end badly, one each process.
#include <assert.h>
#include <stdint.h>

extern "C" __global__ void illegal_address(uint32_t *out) { out[1ull << 40] = 1; }

extern "C" __global__ void misaligned(uint32_t *out)
{
    *reinterpret_cast<volatile uint32_t *>(reinterpret_cast<uint64_t>(out) + 1) = 1;
}

extern "C" __global__ void assertion(uint32_t *out) { assert(out == nullptr); }

extern "C" __global__ void endless(volatile uint32_t *out)
{
    while (out[0] == 0) {}
}
