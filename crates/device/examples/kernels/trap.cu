// A trap in a module of its own: whether a module has one decides how a failure is told.
#include <stdint.h>

extern "C" __global__ void trap(uint32_t *out)
{
    out[0] = 1;
    __trap();
}
