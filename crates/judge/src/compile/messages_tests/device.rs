//! Mistakes in device code.

use super::*;

#[test]
fn mistakes_in_device_code() {
    all(vec![
        case(
            "a missing ; in device code",
            in_kernel("    int i = threadIdx.x\n    y[i] = x[i];"),
            3,
            5,
            "expected a \";\"",
            "a `;` is missing at the end of line 2",
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
            "a shuffle without _sync",
            in_kernel("    float v = x[threadIdx.x];\n    y[0] = __shfl_down(v, 1);"),
            3,
            12,
            "identifier \"__shfl_down\" is undefined",
            "use `__shfl_down_sync`, whose first argument is the mask of lanes: 0xffffffff for all",
        ),
        case(
            "one brace too many in device code",
            in_kernel("    if (n > 0) { y[0] = x[0]; } }\n    y[1] = x[1];"),
            3,
            5,
            "identifier \"y\" is undefined (and 1 more)",
            "is `y` declared in another block, or is there one `}` too many above?",
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
        case(
            "a kernel that returns a value",
            in_kernel("    int i = threadIdx.x; y[i] = x[i];\n    return i;"),
            3,
            12,
            "return value type does not match the function type",
            "a `void` function returns no value; a kernel writes its results through a pointer",
        ),
        case(
            "a kernel that is an int",
            in_kernel("    int i = threadIdx.x;\n    y[i] = x[i];")
                .replace("__global__ void", "__global__ int"),
            1,
            1,
            "a __global__ function must have a void return type",
            "a kernel returns nothing: declare it `void`, and write results through a pointer",
        ),
        case(
            "a bracket too many",
            in_kernel("    int i = threadIdx.x;\n    if (i < n)) y[i] = x[i];"),
            3,
            15,
            "expected an expression",
            "a `)` of this line has no `(`",
        ),
        case(
            "a bracket too few",
            in_kernel("    int i = threadIdx.x;\n    if (i < n y[i] = x[i];"),
            3,
            15,
            "expected a \")\"",
            "a `(` of this line has no `)`",
        ),
        case(
            "a semicolon of another keyboard",
            in_kernel("    int i = threadIdx.x\u{ff1b}\n    y[i] = x[i];"),
            2,
            24,
            "unrecognized token (and 2 more)",
            "`\u{ff1b}` is no character of C++; write `;`",
        ),
        case(
            "an else without its if",
            in_kernel("    int i = threadIdx.x; if (i < n); y[i] = 0;\n    else y[i] = x[i];"),
            3,
            5,
            "expected a statement",
            "an `else` follows its `if`: is there a `;` after the condition, or are braces missing above?",
        ),
        case(
            "a struct without its ;",
            format!(
                "struct P {{ float x; }}\n{}",
                in_kernel("    int i = threadIdx.x;\n    y[i] = x[i];")
            ),
            2,
            12,
            "expected a \";\"",
            "a `;` is missing at the end of line 1",
        ),
        case(
            "a misspelt qualifier",
            format!(
                "_device_ float f(float v) {{ return v; }}\n{}",
                in_kernel("    int i = threadIdx.x;\n    y[i] = f(x[i]);")
            ),
            1,
            1,
            "this declaration has no storage class or type specifier",
            "did you mean `__device__`?",
        ),
        case(
            "a function that stands below its use",
            in_kernel("    int i = threadIdx.x;\n    y[i] = plus(x[i]);")
                + "__device__ float plus(float v) { return v + 1; }\n",
            3,
            12,
            "identifier \"plus\" is undefined",
            "`plus` is defined in line 6, below: move it above, or declare it before this line",
        ),
        case(
            "a parameter without its type",
            in_kernel("    int i = threadIdx.x;\n    y[i] = x[i];")
                .replace("float* y, int n) {\n", "y, int n) {\n"),
            1,
            39,
            "identifier \"y\" is undefined",
            "`y` stands among the parameters without its type, as in `const float* y`",
        ),
        case(
            "half and float together",
            format!(
                "#include <cuda_fp16.h>\n{}",
                in_kernel("    half h = x[0];\n    y[0] = h + 1.0f;")
            ),
            4,
            14,
            "more than one operator \"+\" matches these operands: built-in operator \"arithmetic + arithmetic\"; function \"operator+(const __half &, const __half &)\"; operand types are: half + float",
            "convert one side: `__half2float(h) + x`, or `h + __float2half(x)`",
        ),
        case(
            "a power that is none",
            in_kernel("    int i = threadIdx.x;\n    y[i] = x[i] ^ 2;"),
            3,
            12,
            "expression must have integral or unscoped enum type",
            "`^` is the exclusive or of integers; a power is `x * x`, or `powf(x, y)`",
        ),
        case(
            "a remainder of floats",
            in_kernel("    int i = threadIdx.x;\n    y[i] = x[i] % 2;"),
            3,
            12,
            "expression must have integral or unscoped enum type",
            "`%` is for integers; floating numbers have `fmodf(x, y)`",
        ),
        case(
            "a minimum of two types",
            in_kernel("    int i = std::min(n, 5u);\n    y[i] = x[i];"),
            2,
            13,
            "no instance of overloaded function \"std::min\" matches the argument list; argument types are: (int, unsigned int)",
            "both arguments must be of one type: cast one of them",
        ),
        case(
            "std::vector in device code",
            format!(
                "#include <vector>\n{}",
                in_kernel("    std::vector<float> v(4);\n    y[0] = x[0];")
            ),
            3,
            10,
            "namespace \"std\" has no member \"vector\"",
            "device code has std::min, max, swap, numeric_limits, array, type traits and the math functions; containers and streams are for the host",
        ),
        case(
            "a runtime call in device code",
            in_kernel("    float* t; cudaMalloc(&t, 4);\n    y[0] = x[0];"),
            2,
            15,
            "identifier \"cudaMalloc\" is undefined",
            "`cudaMalloc` is a host function: call it in `solve`, not in device code",
        ),
        case(
            "a forgotten header of another type",
            in_kernel(
                "    __nv_bfloat16 h = __float2bfloat16(x[0]);\n    y[0] = __bfloat162float(h);",
            ),
            2,
            5,
            "identifier \"__nv_bfloat16\" is undefined",
            "#include <cuda_bf16.h>",
        ),
    ]);
}
