//! What is legal and hardly meant.

use super::*;

#[test]
fn slips_that_compile() {
    all(vec![
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
            "a fraction for an integer of host code",
            host("int scale = 2.5f; twice<<<4, 256>>>(x, y, n * scale / scale);"),
            5,
            70,
            "`2.5f` becomes 2 here, as `int` holds whole numbers",
            "make the type `float`, or write the whole number that is meant",
        ),
        case(
            "a fraction for an integer of a kernel",
            in_kernel("    int i = threadIdx.x; int half = 0.5;\n    y[i] = x[i] * half;"),
            2,
            37,
            "`0.5` becomes 0 here, as `int` holds whole numbers",
            "make the type `float`, or write the whole number that is meant",
        ),
        case(
            "a fraction for an integer at a launch",
            host("twice<<<4, 256>>>(x, y, 0.5f);"),
            5,
            82,
            "`0.5f` becomes 0 here, as `int` holds whole numbers",
            "make the type `float`, or write the whole number that is meant",
        ),
        case(
            "a condition that assigns",
            in_kernel("    int i = threadIdx.x;\n    if (i = n) return;\n    y[i] = x[i];"),
            3,
            11,
            "the condition sets `i`",
            "is `==` meant?",
        ),
        case(
            "a copy of elements",
            host(&format!(
                "{LAUNCH} cudaMemcpy(y, x, n / 3, cudaMemcpyDeviceToDevice);"
            )),
            5,
            0,
            "333 bytes are no whole elements of `y`, which have 4 bytes each",
            "sizes are counted in bytes: is a `* sizeof(...)` missing?",
        ),
        case(
            "bytes of one",
            host(&format!("cudaMemset(y, 1, 4 * n); {LAUNCH}")),
            5,
            0,
            "cudaMemset sets every byte of `y` to 1, not every element",
            "fill it in a kernel; cudaMemset is of use for zeros",
        ),
        case(
            "a copy the wrong way round",
            host(&format!(
                "{LAUNCH} cudaMemcpy((void*)x, y, 4 * n, cudaMemcpyDeviceToDevice);"
            )),
            5,
            0,
            "this writes `x`, which is an input",
            "inputs stay as they are; is the destination, which stands first, the wrong one?",
        ),
        case(
            "memory that is never freed",
            host(&format!("float* t; cudaMalloc(&t, 4); {LAUNCH}")),
            5,
            68,
            "the device memory that is allocated here is never freed",
            "call cudaFree before the function returns",
        ),
    ]);
}
