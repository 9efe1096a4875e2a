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
            0,
            0,
            "",
            "",
        ),
        case(
            "a missing ; in device code",
            in_kernel("    int i = threadIdx.x\n    y[i] = x[i];"),
            0,
            0,
            "",
            "",
        ),
        case(
            "an undeclared name in host code",
            host("int blocks = (n + 255) / 256; twice<<<block, 256>>>(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "an undeclared name in device code",
            in_kernel("    int index = threadIdx.x;\n    y[indx] = x[index];"),
            0,
            0,
            "",
            "",
        ),
        case(
            "<< for <<<",
            host("twice<<4, 256>>(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a launch with one argument",
            host("twice<<<4>>>(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a launch without its end",
            host("twice<<<4, 256(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a kernel called as a function",
            host("twice(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a host function called from device code",
            format!(
                "__host__ float half_of(float v) {{ return v / 2; }}\n{}",
                in_kernel("    y[0] = half_of(x[0]);\n")
            ),
            0,
            0,
            "",
            "",
        ),
        case(
            "a launch in device code",
            in_kernel("    twice<<<1, 1>>>(x, y, n);\n"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a header that is not there",
            format!("#include \"utils.cuh\"\n{}", host(LAUNCH)),
            0,
            0,
            "",
            "",
        ),
        case(
            "a forgotten header",
            in_kernel("    __half h = __float2half(x[0]);\n    y[0] = __half2float(h);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "another signature",
            host(LAUNCH).replace("float* y, int n) { twice", "float* y, float n) { twice"),
            0,
            0,
            "",
            "",
        ),
        case(
            "no entry function",
            host(LAUNCH).replace("solve", "main_function"),
            0,
            0,
            "",
            "",
        ),
        case(
            "too much static shared memory",
            in_kernel(
                "    __shared__ float tile[128][128]; tile[threadIdx.x][0] = x[0];\n    __syncthreads(); y[0] = tile[n][n];",
            ),
            0,
            0,
            "",
            "",
        ),
        case(
            "too much dynamic shared memory",
            host("twice<<<4, 256, 100000>>>(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "too many threads",
            host("twice<<<1, 2048>>>(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a grid of zero",
            host("twice<<<n / 1024, 1024>>>(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a misspelt intrinsic",
            in_kernel("    int i = threadidx.x;\n    y[i] = x[i];"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a misspelt barrier",
            in_kernel("    y[threadIdx.x] = x[threadIdx.x];\n    __syncthread();"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a misspelt function",
            in_kernel("    int i = threadIdx.x;\n    y[i] = sqrtff(x[i]);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a misspelt member",
            in_kernel("    int i = threadIdx.X;\n    y[i] = x[i];"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a misspelt runtime call",
            host(&format!("{LAUNCH} cudaDeviceSyncronize();")),
            0,
            0,
            "",
            "",
        ),
        case(
            "a misspelt kernel",
            host("twise<<<4, 256>>>(x, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a shuffle without _sync",
            in_kernel("    float v = x[threadIdx.x];\n    y[0] = __shfl_down(v, 1);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "too few arguments at a launch",
            host("twice<<<4, 256>>>(x, y);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "an argument of another type",
            host("twice<<<4, 256>>>(n, y, n);"),
            0,
            0,
            "",
            "",
        ),
        case(
            "device memory read on the host",
            host("float first = x[0];"),
            0,
            0,
            "",
            "",
        ),
        case(
            "a copy in the wrong direction",
            host(&format!(
                "float* d; cudaMalloc(&d, n * 4); cudaMemcpy(d, x, n * 4, cudaMemcpyHostToDevice); {LAUNCH} cudaFree(d);"
            )),
            0,
            0,
            "",
            "",
        ),
        case(
            "a missing #endif",
            format!("#ifdef FAST\n{}", host(LAUNCH)),
            0,
            0,
            "",
            "",
        ),
        case(
            "a missing brace",
            host(&format!("if (n > 0) {{ {LAUNCH}")),
            0,
            0,
            "",
            "",
        ),
        case(
            "one brace too many in device code",
            in_kernel("    if (n > 0) { y[0] = x[0]; } }\n    y[1] = x[1];"),
            0,
            0,
            "",
            "",
        ),
        case(
            "Thrust",
            format!(
                "#include <thrust/device_vector.h>\n{}",
                host("thrust::device_ptr<float> p(y);")
            ),
            0,
            0,
            "",
            "",
        ),
        case(
            "cuBLAS",
            format!(
                "#include <cublas_v2.h>\n{}",
                host("cublasHandle_t handle; cublasCreate(&handle);")
            ),
            0,
            0,
            "",
            "",
        ),
        case(
            "cuRAND",
            format!(
                "#include <curand_kernel.h>\n{}",
                in_kernel(
                    "    curandState state; curand_init(1, 0, 0, &state);\n    y[0] = curand_uniform(&state);"
                )
            ),
            0,
            0,
            "",
            "",
        ),
        case(
            "a kernel that is not marked",
            host(LAUNCH).replace("__global__ ", ""),
            0,
            0,
            "",
            "",
        ),
        case(
            "writing an input",
            in_kernel("    int i = threadIdx.x;\n    x[i] = 1;"),
            0,
            0,
            "",
            "",
        ),
        case(
            "an array of variable size",
            in_kernel("    __shared__ float tile[n];\n    y[0] = tile[0];"),
            0,
            0,
            "",
            "",
        ),
    ];
    for (what, source, expected) in cases {
        let found = told(&source);
        if std::env::var_os("SHOW").is_some() {
            println!(
                "{what}\t{}\t{}\t{:?}\t{:?}",
                found.0, found.1, found.2, found.3
            );
            continue;
        }
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
