//! The driver's API in host code: launches, memory, attributes.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{failure_of, plan_of, plan_text, with_body};
use launch_plan::Operation;

#[test]
fn a_kernel_of_the_file_is_launched_by_the_driver_s_call() {
    let body = "CUfunction f; cudaGetFuncBySymbol(&f, (const void*)one);\n\
                cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536);\n\
                void* args[] = {&C, &N};\n\
                cuLaunchKernel(f, 3, 2, 1, 64, 4, 1, 65536, 0, args, nullptr);\n\
                cuLaunchKernel((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, NULL, all, 0);";
    let body = format!("void* all[] = {{&A, &B, &C, &N}};\n{body}");
    assert_eq!(
        plan_text(&body, 9),
        "one <3x2x1, 64x4x1, 65536> (p2, 9)\nk <1x1x1, 32x1x1, 0> (p0, p1, p2, 9)"
    );
    let packed = body.replace("args, nullptr", "nullptr, args");
    let (kind, _, _, message, hint) = failure_of(&packed, 9);
    assert_eq!(kind, "unsupported_construct");
    assert!(
        message.contains("`extra`") && hint.contains("&a, &b"),
        "{message}: {hint}"
    );
}

#[test]
fn a_configured_launch_of_the_driver_has_clusters() {
    let body = "CUlaunchAttribute attrs[2];\n\
        attrs[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n\
        attrs[0].value.clusterDim.x = 4; attrs[0].value.clusterDim.y = 1;\n\
        attrs[0].value.clusterDim.z = 1;\n\
        attrs[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;\n\
        attrs[1].value.programmaticStreamSerializationAllowed = 1;\n\
        CUlaunchConfig config = {};\n\
        config.gridDimX = 8; config.gridDimY = 1; config.gridDimZ = 1;\n\
        config.blockDimX = 128; config.blockDimY = 1; config.blockDimZ = 1;\n\
        config.sharedMemBytes = 64; config.attrs = attrs; config.numAttrs = 2;\n\
        void* args[] = {&C, &N};\n\
        cuLaunchKernelEx(&config, (CUfunction)one, args, nullptr);";
    let plan = plan_of(&with_body(body), 9).unwrap();
    let [Operation::Launch(launch)] = &plan.operations[..] else {
        panic!("{:?}", plan.operations)
    };
    assert_eq!((launch.grid, launch.block), ([8, 1, 1], [128, 1, 1]));
    assert_eq!(launch.cluster, Some([4, 1, 1]));
    assert_eq!(launch.dynamic_shared_bytes, 64);
}

#[test]
fn the_driver_s_memory_is_the_plan_s_scratch() {
    let body = "CUdeviceptr d; cuMemAlloc(&d, 64); cuMemsetD32(d, 0, 16);\n\
        cuMemcpyDtoD(d, (CUdeviceptr)A, 16);\n\
        int n = 3; cuMemcpyHtoD(d, &n, 4);\n\
        void* args[] = {&d, &N};\n\
        cuLaunchKernel((CUfunction)one, 1, 1, 1, 32, 1, 1, 0, 0, args, 0);\n\
        cuCtxSynchronize(); cuMemFree(d);";
    assert_eq!(
        plan_text(body, 9),
        "s0 = alloc 64\nmemset s0 0 64\ncopy s0 p0 16\nupload s0 [3, 0, 0, 0]\n\
         one <1x1x1, 32x1x1, 0> (s0, 9)\nfree s0"
    );
    let (kind, _, _, message, hint) = failure_of("cuMemsetD32((CUdeviceptr)C, 0x3f800000, 4);", 9);
    assert_eq!(kind, "unsupported_construct");
    assert!(
        message.contains("units of 4 bytes") && hint.contains("kernel"),
        "{message}"
    );
}

#[test]
fn the_driver_tells_of_the_device_what_the_runtime_tells() {
    let body = "CUdevice device; cuInit(0); cuDeviceGet(&device, 0);\n\
        int sms, optin; cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);\n\
        cuDeviceGetAttribute(&optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);\n\
        one<<<sms, 32>>>(C, optin);";
    assert_eq!(plan_text(body, 9), "one <132x1x1, 32x1x1, 0> (p2, 232448)");
}

#[test]
fn modules_of_other_files_are_refused_with_the_way_out() {
    let (kind, _, _, message, hint) =
        failure_of("CUfunction f; cuModuleGetFunction(&f, 0, \"one\");", 9);
    assert_eq!(kind, "unsupported_construct");
    assert!(message.contains("cuModuleGetFunction"), "{message}");
    assert!(hint.contains("cudaGetFuncBySymbol"), "{hint}");
}
