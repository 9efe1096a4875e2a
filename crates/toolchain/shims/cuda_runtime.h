// NVRTC knows the device side of the runtime by itself. These are the names of the host side that
// may be left in declarations.
#ifndef LIGHTSPEED_SHIM_CUDA_RUNTIME_H
#define LIGHTSPEED_SHIM_CUDA_RUNTIME_H

#endif
