//! CUB's block and warp primitives: what their headers cost, and that they are NVIDIA's own.

use toolchain::KernelUsage;

use super::compiles;
use crate::{compile, confined_within};

pub fn sum() {
    compiles(
        "#include <cub/cub.cuh>\n\
         __global__ void k(const float* a, float* b) {\n\
             typedef cub::BlockReduce<float, 256> Reduce; __shared__ Reduce::TempStorage t;\n\
             float sum = Reduce(t).Sum(a[threadIdx.x]); if (threadIdx.x == 0) b[0] = sum;\n\
         }",
    );
}

/// Each of them (but two that only other classes use) comes with the umbrella header as soon as it is named; `only_headers_of_named_classes_are_read`
/// has the table.
pub fn every_class_that_is_named() {
    let classes = [
        (
            "BlockAdjacentDifference<int, 64>",
            "int d[2]; C(t).SubtractLeft(v, d, ::cuda::std::minus<>{});",
        ),
        (
            "BlockDiscontinuity<int, 64>",
            "bool d[2]; C(t).FlagHeads(d, v, ::cuda::std::not_equal_to<>{});",
        ),
        ("BlockExchange<int, 64, 2>", "C(t).BlockedToStriped(v, v);"),
        (
            "BlockHistogram<int, 64, 2, 8>",
            "__shared__ int d[8]; C(t).Histogram(v, d);",
        ),
        (
            "BlockLoad<int, 64, 2, cub::BLOCK_LOAD_TRANSPOSE>",
            "C(t).Load(n, v);",
        ),
        (
            "BlockMergeSort<int, 64, 2>",
            "C(t).Sort(v, ::cuda::std::less<>{});",
        ),
        ("BlockRadixSort<int, 64, 2>", "C(t).Sort(v);"),
        (
            "BlockReduce<int, 64, cub::BLOCK_REDUCE_RAKING>",
            "v[0] = C(t).Sum(v);",
        ),
        (
            "BlockScan<int, 64, cub::BLOCK_SCAN_WARP_SCANS>",
            "C(t).InclusiveSum(v, v);",
        ),
        ("BlockShuffle<int, 64>", "C(t).Offset(v[0], v[0], 1);"),
        ("BlockStore<int, 64, 2>", "C(t).Store(n, v);"),
        ("WarpExchange<int, 2>", "C(t).BlockedToStriped(v, v);"),
        ("WarpLoad<int, 2>", "C(t).Load(n, v);"),
        (
            "WarpMergeSort<int, 2>",
            "C(t).Sort(v, ::cuda::std::less<>{});",
        ),
        ("WarpReduce<int>", "v[0] = C(t).Sum(v[0]);"),
        ("WarpScan<int>", "C(t).InclusiveSum(v[0], v[0]);"),
        ("WarpStore<int, 2>", "C(t).Store(n, v);"),
    ];
    let kernel = |(number, (class, use_of_it)): (usize, &(&str, &str))| {
        format!(
            "__global__ void k{number}(int* n) {{\n\
                 using C = cub::{class}; __shared__ typename C::TempStorage t;\n\
                 int v[2] = {{n[threadIdx.x], 1}}; {use_of_it} n[threadIdx.x] = v[0];\n\
             }}\n"
        )
    };
    let kernels: String = classes.iter().enumerate().map(kernel).collect();
    compiles(&format!("#include <cub/cub.cuh>\n{kernels}"));
}

/// A sum, a scan, a sort and a warp's sum, as CUB documents them.
const FOUR_PRIMITIVES: &str = "\
__global__ void k(const float* a, int* n, float* b) {
    typedef cub::BlockReduce<float, 128> Reduce; typedef cub::BlockScan<int, 128> Scan;
    typedef cub::BlockRadixSort<int, 128, 4> Sort; typedef cub::WarpReduce<float> Warp;
    __shared__ union { Reduce::TempStorage r; Scan::TempStorage s; Sort::TempStorage t; Warp::TempStorage w[4]; } x;
    float sum = Reduce(x.r).Sum(a[threadIdx.x], 100); __syncthreads();
    int total; Scan(x.s).ExclusiveSum(n[threadIdx.x], n[threadIdx.x], total); __syncthreads();
    int keys[4] = {n[0], n[1], n[2], n[3]}; Sort(x.t).Sort(keys); __syncthreads();
    b[threadIdx.x] = sum + total + keys[3] + Warp(x.w[threadIdx.x / 32]).Sum(a[threadIdx.x]);
}
";

/// What the compiler holds of headers grows with the time they take, and does not depend on the load of the
/// host: the address space is 500 MiB (and three seconds) as NVIDIA ships them, 280 MiB as the judge reads them.
pub fn is_cheap() {
    let source = format!("#include <cub/cub.cuh>\n{FOUR_PRIMITIVES}");
    let compiled = confined_within(400 << 20, "sm_90a", &source, &[], 30);
    assert_eq!(compiled.unwrap().unwrap().diagnostics, []);
}

/// Words in a comment bring the toolkit's own headers; the code is the same.
pub fn is_the_toolkits() {
    let source = format!("#include <cub/cub.cuh>\n{FOUR_PRIMITIVES}");
    let judged = compile(&source, &[]).unwrap();
    let whole = compile(&format!("{source}// atomic<half>\n"), &[]).unwrap();
    assert_eq!(instructions(&judged.ptx), instructions(&whole.ptx));
    // Other tables of constants come with the types that were left out.
    let usage = |kernel: &KernelUsage| KernelUsage {
        constant_bytes: 0,
        ..kernel.clone()
    };
    assert_eq!(usage(&judged.kernels[0]), usage(&whole.kernels[0]));
}

/// The kernel without the places of its lines, since files are numbered by what was read.
fn instructions(ptx: &str) -> Vec<&str> {
    let kernel = ptx.split_once(".entry").unwrap().1;
    let kernel = kernel.split_once("\n}").unwrap().0;
    let lines = kernel.lines().map(str::trim);
    lines.filter(|line| !line.starts_with(".loc")).collect()
}

/// What some of CUB needs and the rest does without.
pub fn with_all_it_can() {
    compiles(
        "#include <cub/cub.cuh>\n#include <cuda_fp16.h>\n\
         __global__ void k(const half* a, half* b, int* n) {\n\
             typedef cub::BlockReduce<half, 64> Reduce; __shared__ Reduce::TempStorage t;\n\
             half sum = Reduce(t).Sum(a[threadIdx.x]); if (threadIdx.x == 0) b[0] = sum;\n\
             cuda::atomic_ref<int, cuda::thread_scope_device> all(n[0]); all.fetch_add(1);\n\
         }",
    );
    compiles(
        "#include <cub/block/block_reduce.cuh>\n\
         __global__ void k(int* a) {\n\
             typedef cub::BlockReduce<int, 64, cub::BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC> Reduce;\n\
             __shared__ Reduce::TempStorage t; int sum = Reduce(t).Sum(a[threadIdx.x]); if (threadIdx.x == 0) a[0] = sum;\n\
         }",
    );
    compiles(
        "#include <cub/block/block_scan.cuh>\n#include <cuda/barrier>\n\
         __global__ void k(int* a) {\n\
             __shared__ cuda::barrier<cuda::thread_scope_block> b; if (threadIdx.x == 0) init(&b, blockDim.x);\n\
             typedef cub::BlockScan<int, 64> Scan; __shared__ Scan::TempStorage t;\n\
             Scan(t).InclusiveSum(a[threadIdx.x], a[threadIdx.x]); b.arrive_and_wait();\n\
         }",
    );
    // A macro of a name that libcu++ uses is put aside while its headers are read.
    compiles(
        "#define max(a, b) ((a) > (b) ? (a) : (b))\n#include <cub/warp/warp_scan.cuh>\n\
         __global__ void k(int* a) {\n\
             typedef cub::WarpScan<int> Scan; __shared__ Scan::TempStorage t;\n\
             Scan(t).InclusiveSum(a[threadIdx.x], a[threadIdx.x]); a[0] = max(a[1], a[2]);\n\
         }",
    );
}
