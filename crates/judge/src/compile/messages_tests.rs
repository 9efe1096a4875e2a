//! The mistakes that learners make most, from the submitted text to what they read: line and column,
//! message, hint. Each goes through parser, host interpreter and compiler as a submission does.

use domain::{DeviceName, Direction, ElementType, Parameter, ParameterKind, Severity, Signature};
use launch_plan::Argument;

use super::child::answer;
use super::wire::{CompileJob, CompileReply, CompileTask, ShapeCall};
use crate::test_support::toolchain;

/// Line and column (0 where there is none), message and hint of the first error.
type Told = (u32, u32, String, String);

fn told(source: &str) -> Told {
    let tensor = |name: &str, direction| Parameter {
        name: name.to_owned(),
        kind: ParameterKind::Tensor {
            element: ElementType::F32,
            direction,
        },
    };
    let count = Parameter {
        name: "n".to_owned(),
        kind: ParameterKind::Scalar {
            element: ElementType::I32,
        },
    };
    let signature = vec![
        tensor("x", Direction::In),
        tensor("y", Direction::Out),
        count,
    ];
    let buffer = Argument::Buffer { bytes: 4000 };
    let job = CompileJob {
        source: source.to_owned(),
        signature: Signature(signature),
        shapes: vec![ShapeCall {
            arguments: vec![buffer, buffer, Argument::Int(1000)],
            held_out: false,
        }],
        limits: scoring::device(DeviceName::H200).limits.clone(),
        toolchain: toolchain(),
    };
    let request = serde_json::to_vec(&CompileTask::Source(job)).unwrap();
    let reply: CompileReply = serde_json::from_slice(&answer(&request).unwrap()).unwrap();
    let diagnostics = match reply.outcome {
        Ok(compiled) => compiled.warnings,
        Err(refusal) => refusal.diagnostics,
    };
    let worst = [Severity::Error, Severity::Warning];
    let mut worst = worst.iter();
    let first = worst.find_map(|severity| diagnostics.iter().find(|d| d.severity == *severity));
    let first = first.unwrap_or_else(|| panic!("nothing is said of\n{source}"));
    (
        first.line.unwrap_or(0),
        first.column.unwrap_or(0),
        first.message.clone(),
        first.hint.clone().unwrap_or_default(),
    )
}

/// A file with one kernel and the given body of `solve(x, y, n)`, which stands in line 5.
fn host(body: &str) -> String {
    device(
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];",
        body,
    )
}

/// The same with the kernel's two lines, which begin in line 2.
fn device(kernel: &str, body: &str) -> String {
    format!(
        "__global__ void twice(const float* x, float* y, int n) {{\n{kernel}\n}}\n\
         extern \"C\" void solve(const float* x, float* y, int n) {{ {body} }}\n"
    )
}

const LAUNCH: &str = "twice<<<(n + 255) / 256, 256>>>(x, y, n);";

fn in_kernel(kernel: &str) -> String {
    device(kernel, LAUNCH)
}

#[test]
fn the_most_common_mistakes() {
    let cases: Vec<(&str, String, Told)> = vec![
        case(
            "a missing ; in host code",
            host("int blocks = (n + 255) / 256\n    twice<<<blocks, 256>>>(x, y, n);"),
            5,
            83,
            "syntax error",
            "is a `;` missing at the end of line 5?",
        ),
        case(
            "a missing ; in device code",
            in_kernel("    int i = threadIdx.x\n    y[i] = x[i];"),
            3,
            5,
            "expected a \";\"",
            "a `;` is missing at the end of line 2",
        ),
        case(
            "an undeclared name in host code",
            host("int blocks = (n + 255) / 256; twice<<<block, 256>>>(x, y, n);"),
            5,
            96,
            "`block` is not known to the host interpreter",
            "did you mean `blocks`?",
        ),
        case(
            "an undeclared name in device code",
            in_kernel("    int index = threadIdx.x;\n    y[indx] = x[index];"),
            3,
            7,
            "identifier \"indx\" is undefined",
            "did you mean `index`?",
        ),
        case(
            "<< for <<<",
            host("twice<<4, 256>>(x, y, n);"),
            5,
            58,
            "`<<` between `kernel` and `int` is not in the host subset",
            "a launch is written `kernel<<<grid, block>>>(arguments)`",
        ),
        case(
            "a launch with one argument",
            host("twice<<<4>>>(x, y, n);"),
            5,
            58,
            "a launch needs a grid and a block: <<<grid, block>>>",
            "a launch is written `kernel<<<grid, block>>>(arguments)`; one block of n threads is `<<<1, n>>>`",
        ),
        case(
            "a launch without its end",
            host("twice<<<4, 256(x, y, n);"),
            5,
            63,
            "syntax error",
            "is a `>>>` missing? a launch is written `kernel<<<grid, block>>>(arguments)`",
        ),
        case(
            "a kernel called as a function",
            host("twice(x, y, n);"),
            5,
            58,
            "the kernel `twice` is called without <<<grid, block>>>",
            "launch it: `kernel<<<grid, block>>>(...)`",
        ),
        case(
            "a host function called from device code",
            format!(
                "__host__ float half_of(float v) {{ return v / 2; }}\n{}",
                in_kernel("    y[0] = half_of(x[0]);\n")
            ),
            1,
            16,
            "device code uses this function, but the function is marked `__host__`",
            "mark it `__host__ __device__`, or `__device__` where only device code calls it",
        ),
        case(
            "a launch in device code",
            in_kernel("    twice<<<1, 1>>>(x, y, n);\n"),
            2,
            5,
            "device-side kernel launch could not be processed as the required runtime APIs are not declared",
            "kernels are launched from `solve` only; in device code call a `__device__` function",
        ),
        case(
            "a header that is not there",
            format!(
                "#include \"utils.cuh\"\n{}",
                in_kernel("    y[0] = clipped(x[0]);")
            ),
            1,
            21,
            "cannot open source file \"utils.cuh\"",
            "a submission is one file; available are cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, mma.h, cooperative_groups.h, cub/block/*, cub/warp/*, cuda/* and the common standard headers",
        ),
        case(
            "a forgotten header",
            in_kernel("    __half h = __float2half(x[0]);\n    y[0] = __half2float(h);"),
            2,
            5,
            "identifier \"__half\" is undefined",
            "#include <cuda_fp16.h>",
        ),
        case(
            "another signature",
            host(LAUNCH).replace("float* y, int n) { twice", "float* y, float n) { twice"),
            5,
            17,
            "the parameters do not match the problem: parameter 3 (`n`) is `float`, expected `int` or another integer",
            "expected: void solve(const float* x, float* y, int n); found: void solve(const float* x, float* y, float n)",
        ),
        case(
            "no entry function",
            host(LAUNCH).replace("solve", "main_function"),
            0,
            0,
            "the file defines no function `solve` (or `solution`)",
            "expected: void solve(const float* x, float* y, int n)",
        ),
        case(
            "too much static shared memory",
            in_kernel(
                "    __shared__ float tile[128][128]; tile[threadIdx.x][0] = x[0];\n    __syncthreads(); y[0] = tile[n][n];",
            ),
            1,
            0,
            "kernel 'twice' uses too much shared data: 65536 bytes a block; the limit is 49152",
            "use `extern __shared__` memory of the size that the launch's third argument gives, after cudaFuncSetAttribute where it exceeds 48 KiB; or a smaller tile",
        ),
        case(
            "too much dynamic shared memory",
            host("twice<<<4, 256, 100000>>>(x, y, n);"),
            5,
            58,
            "dynamic shared memory is 100000 bytes; the limit is 49152",
            "raise it with cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
        ),
        case(
            "too many threads",
            host("twice<<<1, 2048>>>(x, y, n);"),
            5,
            58,
            "block.x is 2048; the limit is 1024",
            "use smaller blocks and more of them",
        ),
        case(
            "a grid of zero",
            host("twice<<<n / 1024, 1024>>>(x, y, n);"),
            5,
            58,
            "grid.x is 0",
            "an extent is at least 1; is a division rounded down? `(n + block - 1) / block` rounds up",
        ),
        case(
            "a misspelt intrinsic",
            in_kernel("    int i = threadidx.x;\n    y[i] = x[i];"),
            2,
            13,
            "identifier \"threadidx\" is undefined",
            "did you mean `threadIdx`?",
        ),
        case(
            "a misspelt barrier",
            in_kernel("    y[threadIdx.x] = x[threadIdx.x];\n    __syncthread();"),
            3,
            5,
            "identifier \"__syncthread\" is undefined",
            "did you mean `__syncthreads`?",
        ),
        case(
            "a misspelt function",
            in_kernel("    int i = threadIdx.x;\n    y[i] = sqrtff(x[i]);"),
            3,
            12,
            "identifier \"sqrtff\" is undefined",
            "did you mean `sqrtf`?",
        ),
        case(
            "a misspelt member",
            in_kernel("    int i = threadIdx.X;\n    y[i] = x[i];"),
            2,
            23,
            "class \"uint3\" has no member \"X\"",
            "did you mean `.x`?",
        ),
        case(
            "a misspelt runtime call",
            host(&format!("{LAUNCH} cudaDeviceSyncronize();")),
            5,
            100,
            "the call `cudaDeviceSyncronize` is not in the host subset",
            "did you mean `cudaDeviceSynchronize`?",
        ),
        case(
            "a misspelt kernel",
            host("twise<<<4, 256>>>(x, y, n);"),
            5,
            58,
            "`twise` is launched, and no kernel of that name is in the file",
            "did you mean `twice`?",
        ),
        case(
            "a shuffle without _sync",
            in_kernel("    float v = x[threadIdx.x];\n    y[0] = __shfl_down(v, 1);"),
            3,
            12,
            "identifier \"__shfl_down\" is undefined",
            "use `__shfl_down_sync`, whose first argument is the mask of lanes: 0xffffffff for all",
        ),
        case(
            "too few arguments at a launch",
            host("twice<<<4, 256>>>(x, y);"),
            5,
            58,
            "the kernel `twice` takes 3 arguments; the launch passes 2",
            "its declaration: __global__ void twice(const float* x, float* y, int n)",
        ),
        case(
            "an argument of another type",
            host("twice<<<4, 256>>>(n, y, n);"),
            5,
            76,
            "argument 1 of `twice` is a `int` where `const float*` is expected",
            "compare the launch with the kernel's parameters and with the device's limits",
        ),
        case(
            "device memory read on the host",
            host("float first = x[0];"),
            5,
            72,
            "host code reads device memory: `x` points to the device",
            "pointers in the signature are device pointers; read and write them in a kernel",
        ),
        case(
            "a copy in the wrong direction",
            host(&format!(
                "float* d; cudaMalloc(&d, n * 4); cudaMemcpy(d, x, n * 4, cudaMemcpyHostToDevice); {LAUNCH} cudaFree(d);"
            )),
            5,
            91,
            "cudaMemcpy says HostToDevice, but its pointers make it DeviceToDevice; it is done by its pointers",
            "pointers in the signature are device pointers; use cudaMemcpyDeviceToDevice",
        ),
        case(
            "a missing #endif",
            format!("#ifdef FAST\n{}", host(LAUNCH)),
            1,
            2,
            "an `#if` without its `#endif`",
            "every `#if`, `#ifdef` and `#ifndef` ends with `#endif`",
        ),
        case(
            "a missing brace",
            host(&format!("if (n > 0) {{ {LAUNCH}")),
            5,
            113,
            "syntax error: `}` is missing",
            "a `{` above this line has no `}`",
        ),
        case(
            "one brace too many in device code",
            in_kernel("    if (n > 0) { y[0] = x[0]; } }\n    y[1] = x[1];"),
            3,
            5,
            "identifier \"y\" is undefined",
            "is `y` declared in another block, or is there one `}` too many above?",
        ),
        case(
            "Thrust",
            format!(
                "#include <thrust/device_vector.h>\n{}",
                host("thrust::device_ptr<float> p(y);")
            ),
            6,
            84,
            "`thrust::device_ptr<float>` is a host call into Thrust, which is not in the host subset",
            "write the kernel yourself; CUB's block and warp primitives work inside kernels",
        ),
        case(
            "cuBLAS",
            format!(
                "#include <cublas_v2.h>\n{}",
                host("cublasHandle_t handle; cublasCreate(&handle);")
            ),
            6,
            73,
            "`cublasHandle_t` is a host call into cuBLAS, which is not in the host subset",
            "write the kernel yourself; CUB's block and warp primitives work inside kernels",
        ),
        case(
            "a kernel that is not marked",
            host(LAUNCH).replace("__global__ ", ""),
            5,
            58,
            "`twice` is launched, and is not a __global__ function",
            "a function that is launched is declared `__global__ void`",
        ),
        case(
            "writing an input",
            in_kernel("    int i = threadIdx.x;\n    x[i] = 1;"),
            3,
            5,
            "expression must be a modifiable lvalue",
            "what stands on the left is `const`, an array, or no variable",
        ),
        case(
            "an array of variable size",
            in_kernel("    __shared__ float tile[n];\n    y[0] = tile[0];"),
            2,
            27,
            "expression must have a constant value",
            "sizes of `__shared__` and local arrays are constants: use `constexpr`, a template argument or a macro",
        ),
    ];
    for (what, source, expected) in cases {
        let found = told(&source);
        assert_eq!(found, expected, "{what}\n{source}");
    }
}

fn case<'a>(
    what: &'a str,
    source: String,
    line: u32,
    column: u32,
    message: &str,
    hint: &str,
) -> (&'a str, String, Told) {
    let told = (line, column, message.to_owned(), hint.to_owned());
    (what, source, told)
}
