// The driver's type that kernels take as a parameter. The host side of it is planned, not compiled.
#ifndef LIGHTSPEED_SHIM_CUDA_H
#define LIGHTSPEED_SHIM_CUDA_H

struct alignas(64) CUtensorMap_st {
    unsigned long long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;

#endif
