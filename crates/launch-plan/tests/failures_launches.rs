//! Launches that the device would refuse: kind, place and message.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::refuses;

#[test]
fn launches_that_the_device_would_refuse() {
    let launch = "launch_config";
    refuses("one<<<0, 1>>>(C, N);", launch, 1, 1, "grid.x is 0");
    refuses(
        "one<<<1, dim3(32, N - 100)>>>(C, N);",
        launch,
        1,
        1,
        "block.y is 0",
    );
    refuses(
        "dim3 b(32, 64);\n  one<<<1, b>>>(C, N);",
        launch,
        2,
        3,
        "a block of 32 x 64 x 1 has 2048 threads; the limit is 1024",
    );
    refuses(
        "one<<<1, 2000>>>(C, N);",
        launch,
        1,
        1,
        "block.x is 2000; the limit is 1024",
    );
    refuses(
        "one<<<dim3(1, 70000), 1>>>(C, N);",
        launch,
        1,
        1,
        "grid.y is 70000; the limit is 65535",
    );
    refuses(
        "one<<<-1, 1>>>(C, N);",
        launch,
        1,
        1,
        "grid.x is -1, which is 4294967295 without its sign; the limit is 2147483647",
    );
    refuses(
        "one<<<1, 1, 50000>>>(C, N);",
        launch,
        1,
        1,
        "dynamic shared memory is 50000 bytes; the limit is 49152",
    );
    refuses(
        "cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);",
        launch,
        1,
        1,
        "1048576 bytes of dynamic shared memory are asked for; the limit is 232448",
    );
    refuses(
        "float* d; cudaMalloc(&d, -4);",
        launch,
        1,
        11,
        "18446744073709551612 bytes are allocated; the device has 150000000000",
    );
    refuses(
        "one<<<1, 1>>>(C);",
        launch,
        1,
        1,
        "the kernel `one` takes 2 arguments; the launch passes 1",
    );
    refuses(
        "one<<<1, 1>>>(C, A);",
        launch,
        1,
        18,
        "argument 2 of `one` is a `const float*` where `int` is expected",
    );
    refuses(
        "one<<<1, 1>>>(N, N);",
        launch,
        1,
        15,
        "argument 1 of `one` is a `int` where `float*` is expected",
    );
    refuses(
        "one<<<1, 1>>>((int*)C, N);",
        launch,
        1,
        15,
        "argument 1 of `one` is a `int*` where `float*` is expected",
    );
    refuses(
        "float h[2];\none<<<1, 1>>>(h, N);",
        launch,
        2,
        15,
        "argument 1 of `one` points to host memory",
    );
    refuses(
        "gone<<<1, 1>>>(C, N);",
        launch,
        1,
        1,
        "`gone` is launched, and no kernel of that name is in the file",
    );
    refuses(
        "tk<<<1, 1>>>(A, C, N);",
        launch,
        1,
        1,
        "the template parameter `T` of `tk` is not given and does not follow from the arguments",
    );
    refuses(
        "one<3><<<1, 1>>>(C, N);",
        launch,
        1,
        1,
        "`one` is no template and takes no `<...>`",
    );
    refuses(
        "one(C, N);",
        "unsupported_construct",
        1,
        1,
        "the kernel `one` is called without <<<grid, block>>>",
    );
}
