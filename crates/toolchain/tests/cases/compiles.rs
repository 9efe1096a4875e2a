//! Sources that must compile, and what comes with the code.

use super::{VECTOR_ADD, compiles, errors};
use crate::{compile, compile_for, toolchain};

pub fn plain() {
    let compiled = compile(VECTOR_ADD, &["add"]).unwrap();
    assert_eq!(compiled.lowered_names["add"], "_Z3addPKfS0_Pfi");
    assert!(compiled.ptx.contains(".entry _Z3addPKfS0_Pfi("));
    assert!(compiled.ptx.contains(".target sm_90a"));
    assert!(compiled.cubin.unwrap().starts_with(b"\x7fELF"));
    assert_eq!(compiled.diagnostics, []);
    assert_eq!(compiled.kernels.len(), 1);
    assert_eq!(compiled.kernels[0].lowered_name, "_Z3addPKfS0_Pfi");
    assert!(compiled.kernels[0].registers > 0);
    assert_eq!(compiled.nvrtc_version, "13.5.37");
}

pub fn no_host_paths() {
    let source =
        "#include <cuda_fp16.h>\n__global__ void k(__half* a) { a[0] = __hadd(a[1], hexp(a[2])); }";
    let compiled = compile(source, &[]).unwrap();
    let root = toolchain().root().to_str().unwrap();
    assert!(
        compiled.ptx.contains(".file\t1 \"submission.cu\""),
        "{}",
        compiled.ptx
    );
    assert!(!compiled.ptx.contains(root));
    assert!(
        compiled.options.iter().all(|o| !o.contains('/')),
        "{:?}",
        compiled.options
    );
}

pub fn templates() {
    let source = "template <typename T, int N> __global__ void k(T* a) { a[threadIdx.x] = T(N); }\n\
                  namespace ns { template <bool B> __global__ void q(int* a) { a[0] = B; } }";
    let names = ["k<float, 4>", "k<double, 2 + 3>", "ns::q<true>"];
    let compiled = compile(source, &names).unwrap();
    assert_eq!(compiled.lowered_names["k<float, 4>"], "_Z1kIfLi4EEvPT_");
    assert_eq!(
        compiled.lowered_names["k<double, 2 + 3>"],
        "_Z1kIdLi5EEvPT_"
    );
    assert_eq!(compiled.kernels.len(), 3);
    for lowered in compiled.lowered_names.values() {
        assert!(
            compiled.ptx.contains(&format!(".entry {lowered}(")),
            "{lowered}"
        );
    }
}

pub fn architectures() {
    for arch in ["sm_75", "sm_80", "sm_89", "sm_100a", "sm_120a"] {
        let compiled = compile_for(arch, VECTOR_ADD, &["add"]).unwrap();
        assert!(compiled.ptx.contains(&format!(".target {arch}")));
        assert!(!compiled.cubin.unwrap().is_empty());
    }
}

pub fn small_floats() {
    compiles(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n\
         __global__ void k(half* a, __nv_bfloat16* b, __nv_fp8_e4m3* c, float* d) {\n\
             a[0] = __float2half(d[0]); b[0] = __float2bfloat16(d[1]); c[0] = __nv_fp8_e4m3(d[2]);\n\
             half2 h = __floats2half2_rn(d[3], d[4]); d[5] = __half2float(__low2half(h)) + float(c[1]);\n\
         }",
    );
}

pub fn tensor_cores() {
    compiles(
        "#include <mma.h>\nusing namespace nvcuda;\n\
         __global__ void k(const half* a, const half* b, float* c) {\n\
             wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;\n\
             wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;\n\
             wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;\n\
             wmma::fill_fragment(z, 0.0f);\n\
             wmma::load_matrix_sync(x, a, 16); wmma::load_matrix_sync(y, b, 16);\n\
             wmma::mma_sync(z, x, y, z);\n\
             wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);\n\
         }",
    );
}

pub fn common_includes() {
    compiles(
        "#include <cuda_runtime.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n#include <cmath>\n\
         #include <cfloat>\n#include <float.h>\n#include <limits.h>\n#include <climits>\n#include <cstdint>\n\
         #include <algorithm>\n#include <iostream>\n#include <vector>\n#include <string>\n#include <utility>\n\
         #include <functional>\n#include <type_traits>\n#include <array>\n#include <limits>\n#include <cassert>\n\
         #include <cublas_v2.h>\n#include <thrust/device_vector.h>\n#include <thrust/functional.h>\n#include \"solve.h\"\n\
         using namespace std;\n\
         template <typename F> __device__ float apply(F f, float a, float b) { return f(a, b); }\n\
         __global__ void k(float* a, int* n, uint32_t* u, size_t s) {\n\
             a[0] = sqrt(a[1]) + std::exp(a[2]) + fmaxf(a[3], -FLT_MAX) + INFINITY;\n\
             a[4] = std::max(a[0], a[1]) + max(n[0], 3) + min(a[5], 1.0f) + std::min(n[0], n[1]);\n\
             swap(n[0], n[1]); std::swap(a[0], a[1]);\n\
             u[0] = UINT32_MAX; n[2] = INT_MAX; uint x = 3; n[3] = x + (s == NULL);\n\
             a[6] = apply(thrust::maximum<float>(), a[0], a[1]) + apply(std::plus<>(), a[2], a[3]);\n\
             std::array<float, 4> t = {1, 2, 3, 4}; a[7] = t[n[0] & 3] + M_PI;\n\
             a[8] = isnan(a[0]) || std::isinf(a[1]) ? NAN : abs(a[2]) + std::abs(n[1]);\n\
         }",
    );
}

pub fn integer_math() {
    let source = "\
__global__ void k(const int* n, const float* x, double* y) {
    y[0] = sqrt(n[0]); y[1] = pow(n[0], 2); y[2] = fmin(x[0], 1.0); y[3] = floor(n[1] / 2);
    y[4] = ceil(n[0]); y[5] = fmax(n[0], x[1]); y[6] = log2(n[0]); y[7] = std::sqrt(n[0]); y[8] = pow(x[0], 2);
    static_assert(sizeof(sqrt(n[0])) == 8, \"double\");
    static_assert(sizeof(sqrt(x[0])) == 4, \"float stays float\");
    static_assert(sizeof(std::exp(x[0])) == 4, \"float stays float\");
    static_assert(sizeof(fmin(x[0], 1.0)) == 8, \"double\");
    static_assert(sizeof(std::pow(x[0], x[1])) == 4, \"float stays float\");
}
";
    compiles(source);
}

pub fn limits_and_traits() {
    compiles(
        "#include <limits>\n#include <type_traits>\n\
         static_assert(std::numeric_limits<int>::max() == 2147483647, \"\");\n\
         static_assert(std::numeric_limits<float>::infinity() > 3e38f, \"\");\n\
         static_assert(std::numeric_limits<float>::lowest() < 0, \"\");\n\
         static_assert(std::is_same_v<std::decay_t<const float&>, float>, \"\");\n\
         static_assert(std::is_integral<long>::value && !std::is_integral<float>::value, \"\");\n\
         template <typename T> __device__ std::enable_if_t<std::is_floating_point_v<T>, T> twice(T x) { return x + x; }\n\
         __constant__ float lowest = -INFINITY;\n\
         __global__ void k(float* a) { a[0] = twice(a[1]) + lowest; if constexpr (std::is_same<float, int>::value) a[0] = 0; }",
    );
    let compiled = compile(
        "__global__ void k(float* a) { a[0] = std::numeric_limits<float>::max(); }",
        &[],
    );
    let ptx = compiled.unwrap().ptx;
    assert!(
        !ptx.contains(".global .align"),
        "shims must not put globals into the module: {ptx}"
    );
}

pub fn with_cuda_std() {
    compiles(
        "#include <cuda/std/cstdint>\n#include <cuda/std/limits>\n#include <cuda/std/type_traits>\n#include <cuda/std/array>\n\
         #include <cstdint>\n#include <climits>\n\
         __global__ void k(int64_t* a, std::uint64_t* b) {\n\
             cuda::std::array<int, 2> t = {1, 2}; a[0] = t[1] + cuda::std::numeric_limits<int>::max();\n\
             b[0] = UINT64_MAX; a[1] = LLONG_MIN;\n\
         }",
    );
}

pub fn barriers() {
    compiles(
        "#include <cuda/barrier>\n#include <cuda/pipeline>\n\
         __global__ void k(float* a) {\n\
             __shared__ cuda::barrier<cuda::thread_scope_block> b; if (threadIdx.x == 0) init(&b, blockDim.x);\n\
             __syncthreads(); b.arrive_and_wait(); a[threadIdx.x] = 1;\n\
         }",
    );
}

pub fn cooperative_groups() {
    let source = "\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__device__ float total(cg::thread_group g, float* t, float x) {
    for (int i = g.size() / 2; i > 0; i /= 2) {
        t[g.thread_rank()] = x; g.sync(); if (g.thread_rank() < i) x += t[g.thread_rank() + i]; g.sync();
    }
    return x;
}
__global__ void k(float* a, int* n, double2* d) {
    __shared__ float t[256];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<4> four = cg::tiled_partition<4>(block);
    auto two = cg::tiled_partition<2>(warp);
    float x = cg::reduce(warp, a[block.thread_rank()], cg::plus<float>());
    for (int i = warp.size() / 2; i > 0; i /= 2) x += warp.shfl_down(x, i);
    if (warp.thread_rank() == 0) t[warp.meta_group_rank()] = x;
    block.sync(); cg::sync(block);
    n[0] = four.ballot(x > 1) + two.any(x > 2) + warp.match_any(n[1]);
    d[0] = warp.shfl_xor(d[1], 1);
    n[2] = cg::inclusive_scan(warp, n[3], cg::plus<int>()) + cg::exclusive_scan(four, n[4]);
    a[1] = total(block, t, x) + total(cg::tiled_partition(block, 16), t, x);
    if (x > 0) { auto active = cg::coalesced_threads(); n[5] = active.shfl(n[6], 0) + active.thread_rank(); }
    cg::grid_group grid = cg::this_grid();
    a[grid.thread_rank()] += 1; grid.sync();
    auto cluster = cg::this_cluster(); cluster.sync();
    a[2] = *cluster.map_shared_rank(&t[0], 1) + cluster.block_rank();
}
";
    let compiled = compile(source, &[]).unwrap();
    assert!(
        compiled.ptx.contains(".global .align"),
        "the counter of grid.sync"
    );
    let small = compile(
        "#include <cooperative_groups.h>\n__global__ void k(int* a) { cooperative_groups::this_thread_block().sync(); a[0] = 1; }",
        &[],
    );
    assert!(
        !small.unwrap().ptx.contains(".global .align"),
        "only a grid barrier needs a counter"
    );
}

pub fn rare_groups() {
    compiles(
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n\
         __global__ void k(int* a) {\n\
             auto warp = cg::tiled_partition<32>(cg::this_thread_block());\n\
             auto half = cg::binary_partition(warp, a[0] > threadIdx.x); a[1] = half.size();\n\
         }",
    );
}

pub fn groups_beside_libcudacxx() {
    compiles(
        "#include <cuda/pipeline>\n#include <cooperative_groups.h>\n#include <cuda/barrier>\nnamespace cg = cooperative_groups;\n\
         __global__ void k(int* a) {\n\
             __shared__ int t[32]; __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;\n\
             cg::thread_block block = cg::this_thread_block(); auto pipe = cuda::make_pipeline(block, &state);\n\
             pipe.producer_acquire(); cuda::memcpy_async(block, t, a, sizeof(t), pipe); pipe.producer_commit();\n\
             pipe.consumer_wait(); a[block.thread_rank()] = t[block.thread_rank()]; pipe.consumer_release();\n\
         }",
    );
}

/// Of a header that is not here: left out where nothing of it is used, and said first where it is.
pub fn missing_headers() {
    let source =
        "#include \"../my.cuh\"\n#include <nowhere/x.h>\n__global__ void k(int* a) { a[0] = 1; }";
    let warnings: Vec<String> = compile(source, &["k"])
        .unwrap()
        .diagnostics
        .iter()
        .map(|d| format!("{:?} {:?} {}", d.severity, d.line, d.message))
        .collect();
    assert_eq!(
        warnings,
        [
            "Warning Some(1) cannot open source file \"../my.cuh\"; the include is left out",
            "Warning Some(2) cannot open source file \"nowhere/x.h\"; the include is left out",
        ]
    );
    let told: Vec<String> = errors(&source.replace("= 1", "= f(1)"), &[])
        .iter()
        .map(|d| format!("{:?} {:?} {}", d.severity, d.line, d.message))
        .collect();
    assert_eq!(
        told,
        [
            "Error Some(1) cannot open source file \"../my.cuh\"",
            "Error Some(2) cannot open source file \"nowhere/x.h\"",
            "Error Some(3) identifier \"f\" is undefined",
        ]
    );
}

pub fn predefined() {
    compiles(
        "__global__ void k(float* a, double* b, __uint32_t* c, __int64_t d) {\n\
             a[0] = -__FLT_MAX__ + __FLT_EPSILON__; b[0] = __DBL_MIN__; c[0] = __INT_MAX__ + __CHAR_BIT__ + d % __LONG_MAX__;\n\
         }\nstatic_assert(sizeof(__uint64_t) == 8, \"\");",
    );
    compiles(
        "__const__ float one = 1.0f; __const int two = 2;\n\
         __device__ __signed__ int zero() { return 0; }\n\
         __global__ void k(float* a) {\n\
             __volatile__ int n = zero(); int m = n + two; a[m] = one;\n\
         }",
    );
}

pub fn printf_and_assert() {
    compiles(
        "#include <cstdio>\n#include <assert.h>\n\
         __global__ void k(int* a) { assert(a[0] > 0); printf(\"%d\\n\", a[1]); std::printf(\"x\"); }",
    );
}

pub fn tensor_maps() {
    compiles(
        "#include <cuda.h>\n\
         __global__ void k(const __grid_constant__ CUtensorMap map, unsigned long long* a) { a[0] = (unsigned long long)&map; }",
    );
}

pub fn bom_and_crlf() {
    compiles("\u{feff}__global__ void k(int* a) {\r\n  a[0] = 1; // é\r\n}\r\n");
}

pub fn resources() {
    let source = "__global__ void k(const float* a, float* b) {\n\
                      __shared__ float s[250]; s[threadIdx.x] = a[threadIdx.x]; __syncthreads();\n\
                      b[threadIdx.x] = s[249 - threadIdx.x];\n}";
    let compiled = compile(source, &["k"]).unwrap();
    let kernel = &compiled.kernels[0];
    assert_eq!(
        (
            kernel.static_shared_bytes,
            kernel.spill_bytes,
            kernel.barriers
        ),
        (1000, 0, 1)
    );
    assert!((1..=64).contains(&kernel.registers), "{kernel:?}");
}

pub fn spills() {
    let source = "__global__ void __launch_bounds__(1024) k(const float* a, float* b) {\n\
                      float x[80];\n#pragma unroll\n    for (int i = 0; i < 80; i++) x[i] = a[threadIdx.x + i * 1024];\n\
                      __syncthreads();\n#pragma unroll\n    for (int i = 0; i < 80; i++) b[threadIdx.x + i * 1024] = x[i];\n}";
    let kernel = compile(source, &["k"]).unwrap().kernels.remove(0);
    assert!(
        kernel.spill_bytes > 0 && kernel.stack_bytes > 0,
        "{kernel:?}"
    );
    assert!(kernel.registers <= 64);
}

pub fn overloads() {
    let source = "__global__ void k(int* c, unsigned long long n) { c[0] = n; }\n\
                  __global__ void k(float* c, unsigned long long n) { c[0] = n; }\n\
                  namespace n { template <class T, int B> __global__ void t(T* c) { c[0] = B; }\n\
                  template <class T, int B> __global__ void t(const T* c, T* d) { d[0] = B; } }\n";
    let names = [
        "static_cast<void (*)(float*, unsigned long long)>(k)",
        "static_cast<void (*)(const float*, float*)>(n::t<float, 4>)",
    ];
    let compiled = compile(source, &names).unwrap();
    assert_eq!(compiled.lowered_names[names[0]], "_Z1kPfy");
    assert_eq!(compiled.lowered_names[names[1]], "_ZN1n1tIfLi4EEEvPKT_PS1_");
}
