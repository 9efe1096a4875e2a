//! Names that are nearly right.

use domain::misspelling::meant;

use super::{blanked_comments, words};
use crate::source::text::SourceText;

/// Calls and constants of the CUDA runtime, and functions, that host code may know.
const HOST_NAMES: &[&str] = &[
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaFree",
    "cudaFreeAsync",
    "cudaMemset",
    "cudaMemsetAsync",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpyToSymbol",
    "cudaMemcpyHostToDevice",
    "cudaMemcpyDeviceToHost",
    "cudaMemcpyDeviceToDevice",
    "cudaMemcpyDefault",
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaStreamCreate",
    "cudaStreamDestroy",
    "cudaEventCreate",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEventDestroy",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaGetErrorString",
    "cudaGetDevice",
    "cudaGetDeviceProperties",
    "cudaDeviceGetAttribute",
    "cudaFuncSetAttribute",
    "cudaFuncAttributeMaxDynamicSharedMemorySize",
    "cudaLaunchKernel",
    "cudaSuccess",
    "cudaError_t",
    "cudaStream_t",
    "cudaEvent_t",
    "cudaDeviceProp",
    "dim3",
    "size_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "float",
    "double",
    "unsigned",
    "min",
    "max",
    "ceil",
    "ceilf",
    "floor",
    "sqrt",
    "sqrtf",
    "log2",
    "pow",
    "sizeof",
    "static_cast",
    "reinterpret_cast",
    "nullptr",
];

/// Calls that exist, so that their names are no slips of others, whether or not they can be used here.
const REAL_CALLS: &[&str] = &[
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMallocArray",
    "cudaHostAlloc",
    "cudaHostRegister",
    "cudaFreeHost",
    "cudaFreeArray",
    "cudaMemcpyPeer",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaMemcpyPeerAsync",
    "cudaMemGetInfo",
    "cudaGetDeviceCount",
    "cudaSetDevice",
    "cudaDeviceReset",
    "cudaDeviceSetLimit",
    "cudaDeviceGetLimit",
    "cudaGetErrorName",
    "cudaGetSymbolAddress",
    "cudaGetSymbolSize",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamWaitEvent",
    "cudaStreamQuery",
    "cudaStreamBeginCapture",
    "cudaStreamEndCapture",
    "cudaEventCreateWithFlags",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaFuncGetAttributes",
    "cudaLaunchKernelEx",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cudaGraphCreate",
    "cudaGraphLaunch",
    "cudaGraphDestroy",
    "cudaGraphInstantiate",
];

/// A name that is unknown, where a known one is near.
pub(super) fn misspelt(message: &str, source: &SourceText) -> Option<String> {
    let unknown = message.ends_with("is not known to the host interpreter")
        || message.starts_with("the call `cuda")
        || message.starts_with("values of type `")
        || message.ends_with("and no kernel of that name is in the file");
    let name = message.split('`').nth(1).filter(|_| unknown)?;
    // Real names, which the host interpreter does not know, are spelt well. Those with a dimension in
    // them are too many to list.
    let is_real = HOST_NAMES.contains(&name) || REAL_CALLS.contains(&name) || name.contains("2D");
    let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_real || !is_plain || name.contains("3D") {
        return None;
    }
    let code = blanked_comments(source.as_str());
    let meant = meant(name, HOST_NAMES.iter().copied().chain(words(&code)))?;
    Some(format!("did you mean `{meant}`?"))
}
