// Variables that outlive a launch.
#include <stdint.h>

__device__ uint32_t counter = 7;
static __device__ uint32_t hidden = 100;
__device__ uint32_t untouched[4];
__constant__ uint32_t factor = 3;

extern "C" __global__ void count(uint32_t *out)
{
    out[0] = ++counter;
    out[1] = ++hidden;
    out[2] = ++untouched[3];
    out[3] = factor;
}
