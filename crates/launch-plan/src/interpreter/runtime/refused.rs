//! Calls of the runtime that no plan can follow, and what to write instead.

use crate::failure::Fault;
use crate::source::text::At;

/// Words in the names of calls, what they are about, and the way out.
const KINDS: [(&[&str], &str, &str); 6] = [
    (
        &[
            "GraphAdd",
            "GraphCreate",
            "GraphExecKernel",
            "GraphKernel",
            "GraphNode",
            "GraphMem",
        ],
        "graphs that are built node by node are not in the host subset",
        "capture the launches (cudaStreamBeginCapture, cudaStreamEndCapture), or launch the kernels as \
         usual: the judge makes a graph of all launches itself",
    ),
    (
        &["LaunchHostFunc", "AddCallback"],
        "host code does not run between kernels",
        "do its work in `solve` itself, or in a kernel",
    ),
    (
        &["HostGetDevicePointer"],
        "kernels do not reach host memory here",
        "allocate device memory with cudaMalloc and copy the values there",
    ),
    (
        &[
            "Ipc",
            "ExternalMemory",
            "ExternalSemaphore",
            "GraphicsResource",
            "EGL",
            "GL",
        ],
        "there is no other process and no graphics library",
        "work on the memory that the signature passes",
    ),
    (
        &[
            "ModuleLoad",
            "ModuleGetFunction",
            "LibraryLoad",
            "LinkCreate",
        ],
        "the file that is judged is the only module",
        "name the kernel itself: `(CUfunction)kernel`, or cudaGetFuncBySymbol",
    ),
    (
        &["Mem", "Malloc"],
        "this call is not in the host subset",
        "cudaMalloc, cudaMallocPitch, cudaMalloc3D, pools, cudaMemset and cudaMemcpy with their 2D and 3D \
         forms are",
    ),
];

/// Words of textures, surfaces and the arrays behind them.
const TEXTURES: [&str; 5] = ["Texture", "Surface", "Array", "Mipmap", "ChannelFormat"];

pub(super) fn unknown_runtime(name: &str, at: At) -> Box<Fault> {
    if TEXTURES.iter().any(|word| name.contains(word)) {
        return textures(&format!("the call `{name}`"), at);
    }
    let known = KINDS
        .iter()
        .find(|(words, ..)| words.iter().any(|word| name.contains(word)));
    match known {
        Some((_, why, way_out)) => {
            Fault::unsupported(at, format!("the call `{name}`: {why}"), way_out)
        }
        None => Fault::unsupported(
            at,
            format!("the call `{name}` is not in the host subset"),
            "launches, cudaMalloc, cudaFree, cudaMemset, cudaMemcpy, symbols, attributes, captured graphs \
             and synchronisation are",
        ),
    }
}

/// Fixed-function units that most tensors gain nothing by.
pub(super) fn textures(what: &str, at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        format!("{what}: textures, surfaces and CUDA arrays are not in the host subset"),
        "read through a `const float* __restrict__` parameter or __ldg, which use the same cache; clamp \
         and interpolate in the kernel",
    )
}
