// CUB's block reductions name `cuda::atomic_ref` in one algorithm that nobody asked for here. What is
// behind <cuda/atomic> (every PTX form of every operation, clocks, threads) is a quarter of what the
// compiler reads for such a source; a source with words of it gets the toolkit's header (`headers.rs`).
#ifndef LIGHTSPEED_SHIM_CUDA_ATOMIC_H
#define LIGHTSPEED_SHIM_CUDA_ATOMIC_H

#include <cuda/std/__atomic/order.h>
#include <cuda/std/__atomic/scopes.h>

#include <cuda/std/__cccl/prologue.h>

_CCCL_BEGIN_NAMESPACE_CUDA
template <class T, thread_scope Scope> struct atomic_ref;
_CCCL_END_NAMESPACE_CUDA

#include <cuda/std/__cccl/epilogue.h>

#endif
