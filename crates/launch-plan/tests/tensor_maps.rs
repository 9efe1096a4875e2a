//! `cuTensorMapEncodeTiled`: called by name and through the usual look-up.
#![allow(missing_docs)]

mod common;

use common::{plan_of, vector_add};
use domain::{Swizzle, TensorElement};
use launch_plan::{Buffer, LaunchArgument, Operation, Place, TensorMapSpec};

const LOOK_UP: &str = "PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;\n\
    void* entry = nullptr; cudaDriverEntryPointQueryResult found;\n\
    cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", &entry, cudaEnableDefault, &found);\n\
    if (entry == nullptr || found != cudaDriverEntryPointSuccess) return;\n\
    encode = (PFN_cuTensorMapEncodeTiled_v12000)entry;\n";

fn source(look_up: &str, encode: &str) -> String {
    format!(
        "#include <cuda.h>\n#include <cuda_runtime.h>\n\
         __global__ void move(const __grid_constant__ CUtensorMap map, float* c, int n) {{}}\n\
         void solve(const float* A, const float* B, float* C, int N) {{\n\
         {look_up}\
         CUtensorMap map{{}};\n\
         cuuint64_t dims[2] = {{64, (cuuint64_t)N}};\n\
         cuuint64_t strides[1] = {{64 * sizeof(float)}};\n\
         cuuint32_t box[2] = {{BOX, 16}}; cuuint32_t steps[2] = {{1, 1}};\n\
         CUresult result = {encode}(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void*)A, dims, \
         strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, \
         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n\
         if (result != CUDA_SUCCESS) return;\n\
         move<<<1, 128>>>(map, C, N);\n}}\n"
    )
}

fn map_of(source: &str) -> TensorMapSpec {
    assert_eq!(vector_add().0.len(), 4);
    let plan = plan_of(source, 32).unwrap_or_else(|failure| panic!("{failure}"));
    let [Operation::Launch(launch)] = &plan.operations[..] else {
        panic!("one launch: {:?}", plan.operations);
    };
    match &launch.arguments[0] {
        LaunchArgument::TensorMap(map) => map.as_ref().clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_map_is_passed_as_it_was_encoded() {
    let by_name = map_of(&source("", "cuTensorMapEncodeTiled").replace("BOX", "32"));
    let start = Place {
        buffer: Buffer::Parameter(0),
        offset_bytes: 0,
    };
    assert_eq!(by_name.base, start);
    assert_eq!(by_name.dimensions, [64, 32]);
    assert_eq!(by_name.strides_bytes, [256]);
    assert_eq!(by_name.box_dimensions, [32, 16]);
    assert_eq!(by_name.element, TensorElement::F32);
    assert_eq!(by_name.swizzle, Swizzle::Bytes128);
    let looked_up = map_of(&source(LOOK_UP, "encode").replace("BOX", "32"));
    assert_eq!(looked_up, by_name);
    let by_version = LOOK_UP
        .replace("EntryPoint(", "EntryPointByVersion(")
        .replace("&entry, cuda", "&entry, 12000, cuda");
    assert_eq!(
        map_of(&source(&by_version, "encode").replace("BOX", "32")),
        by_name
    );
}

#[test]
fn what_the_driver_refuses_is_refused() {
    let failure = |edit: &dyn Fn(String) -> String| {
        let source = edit(source("", "cuTensorMapEncodeTiled"));
        let failure = plan_of(&source.replace("BOX", "32"), 32).unwrap_err();
        failure.diagnostics[0].message.clone()
    };
    assert_eq!(
        failure(&|s| s.replace("BOX", "64")),
        "cuTensorMapEncodeTiled is given a box whose rows have 256 bytes; a swizzle of 128 takes \
         at most 128"
    );
    assert_eq!(
        failure(&|s| s.replace("BOX, 16", "BOX, 257")),
        "cuTensorMapEncodeTiled is given a boxDim of 257; 1 to 256 exist"
    );
    assert_eq!(
        failure(&|s| s.replace("64 * sizeof(float)}", "65 * sizeof(float)}")),
        "cuTensorMapEncodeTiled is given a stride of 260 bytes; multiples of 16 below 2^40 exist"
    );
    assert_eq!(
        failure(&|s| s.replace("(void*)A", "(void*)(A + 1)")),
        "cuTensorMapEncodeTiled is given an address that is no multiple of 16"
    );
    assert_eq!(
        failure(&|s| s.replace("FLOAT32, 2", "FLOAT32, 6")),
        "cuTensorMapEncodeTiled is given rank 6; 1 to 5 exist"
    );
}

#[test]
fn a_map_that_was_never_encoded_is_not_passed() {
    let source = "__global__ void move(const __grid_constant__ CUtensorMap map) {}\n\
        void solve(const float* A, const float* B, float* C, int N) {\n\
        CUtensorMap map = {}; move<<<1, 32>>>(map);\n}\n";
    let failure = plan_of(source, 32).unwrap_err();
    assert_eq!(
        failure.diagnostics[0].message,
        "argument 1 of `move` is a tensor map that was never encoded"
    );
}
