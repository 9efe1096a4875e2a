//! Plans that depend on what the compiler made of the kernels.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{limits, parse, text, vector_add_arguments, with_body};
use launch_plan::{KernelAttributes, KernelFacts, KernelInstance, Plan};

/// A compile in which each kernel takes so many registers.
struct Compiled {
    registers: u32,
}

impl KernelFacts for Compiled {
    fn attributes(&self, kernel: &KernelInstance) -> Option<KernelAttributes> {
        (kernel.0 == "one").then_some(KernelAttributes {
            registers: self.registers,
            static_shared_bytes: 256,
            local_bytes: 16,
            constant_bytes: 0,
            max_threads: 512,
        })
    }

    fn resident_blocks(&self, registers: u32, shared_bytes: u32, threads: u32) -> Option<u32> {
        let blocks = 65_536 / (registers * threads);
        let blocks = if shared_bytes > 100_000 {
            blocks.min(2)
        } else {
            blocks
        };
        (blocks > 0).then_some(blocks.min(2048 / threads))
    }
}

fn plan(body: &str, registers: Option<u32>) -> Plan {
    let program = parse(&with_body(body)).unwrap();
    let arguments = vector_add_arguments(1000);
    let planned = match registers {
        Some(registers) => program.plan_with(&arguments, &limits(), &Compiled { registers }),
        None => program.plan(&arguments, &limits()),
    };
    planned.unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn a_plan_that_asks_nothing_needs_no_second_run() {
    assert!(plan("one<<<1, 32>>>(C, N);", None).asked.is_empty());
}

#[test]
fn a_grid_from_occupancy_takes_the_compiler_s_registers() {
    let body = "int blocks = 0;\n\
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, one, 256, 0);\n\
        one<<<blocks * 132, 256>>>(C, N);";
    let guessed = plan(body, None);
    assert_eq!(
        guessed
            .asked
            .iter()
            .map(|k| k.0.as_str())
            .collect::<Vec<_>>(),
        ["one"]
    );
    assert_eq!(text(&guessed), "one <1056x1x1, 256x1x1, 0> (p2, 1000)");
    // 64 registers: 4 blocks of 256 in 65,536 registers, on 132 multiprocessors.
    assert_eq!(
        text(&plan(body, Some(64))),
        "one <528x1x1, 256x1x1, 0> (p2, 1000)"
    );
    let shared = body.replace("256, 0)", "256, 100000)");
    assert_eq!(
        text(&plan(&shared, Some(64))),
        "one <264x1x1, 256x1x1, 0> (p2, 1000)"
    );
}

#[test]
fn the_best_block_is_the_largest_that_fills_a_multiprocessor() {
    let body = "int grid, block;\n\
        cudaOccupancyMaxPotentialBlockSize(&grid, &block, one, 0, 0);\n\
        one<<<grid, block>>>(C, N);";
    // At 32 registers four blocks of 512, the most the kernel takes, hold all 2048 threads.
    assert_eq!(
        text(&plan(body, Some(32))),
        "one <528x1x1, 512x1x1, 0> (p2, 1000)"
    );
    // At 120, 546 threads fit: 17 blocks of 32 threads are more than one of 512 or two of 256.
    assert_eq!(
        text(&plan(body, Some(120))),
        "one <2244x1x1, 32x1x1, 0> (p2, 1000)"
    );
}

#[test]
fn attributes_of_functions_are_the_compiler_s() {
    let body = "cudaFuncAttributes a; cudaFuncGetAttributes(&a, one);\n\
        one<<<a.numRegs, a.maxThreadsPerBlock, a.sharedSizeBytes>>>(C, a.localSizeBytes);";
    assert_eq!(
        text(&plan(body, Some(40))),
        "one <40x1x1, 512x1x1, 256> (p2, 16)"
    );
}

#[test]
fn a_kernel_that_no_block_fits_has_no_resident_blocks() {
    let body = "int blocks = 7;\n\
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, one, 1024, 0);\n\
        if (blocks == 0) one<<<1, 32>>>(C, N);";
    assert_eq!(plan(body, Some(32)).launch_count(), 1);
}

#[test]
fn the_best_block_may_depend_on_shared_memory_by_threads() {
    let with = |function: &str| {
        format!(
            "{function}int grid, block;\n\
             cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, one, bytes, 512);\n\
             one<<<grid, block>>>(C, N);"
        )
    };
    let expected = |text: &str| format!("one <{text}, 0> (p2, 1000)");
    let lambda = "auto bytes = [](int threads) { return threads * 400; };\n";
    // 400 bytes a thread: two blocks of 512 threads, nine of 224, but sixteen of 128 fill it.
    let found = text(&plan(&with(lambda), Some(32)));
    assert_eq!(found, expected("2112x1x1, 128x1x1"));
    // None: four of 512, the most that the kernel takes.
    let none = "auto bytes = [](int threads) { return 0; };\n";
    assert_eq!(
        text(&plan(&with(none), Some(32))),
        expected("528x1x1, 512x1x1")
    );
    let object = "struct Bytes { size_t operator()(int threads) const { return 400 * threads; } };\n\
                  Bytes bytes{};\n";
    assert_eq!(text(&plan(&with(object), Some(32))), found);
}

const CLUSTERED: &str = "cudaLaunchConfig_t config = {}; config.gridDim = 64; config.blockDim = 256;\n\
    cudaLaunchAttribute attrs[1]; attrs[0].id = cudaLaunchAttributeClusterDimension;\n\
    attrs[0].val.clusterDim.x = 4; attrs[0].val.clusterDim.y = 1;\n\
    attrs[0].val.clusterDim.z = 1; config.attrs = attrs; config.numAttrs = 1;\n";

#[test]
fn clusters_that_are_resident_are_counted_by_groups_of_multiprocessors() {
    let body = format!(
        "{CLUSTERED}int clusters; cudaOccupancyMaxActiveClusters(&clusters, one, &config);\n\
         one<<<clusters, 32>>>(C, N);"
    );
    // 64 registers: 4 blocks of 256 on each of 132 multiprocessors, 4 blocks a cluster.
    assert_eq!(
        text(&plan(&body, Some(64))),
        "one <132x1x1, 32x1x1, 0> (p2, 1000)"
    );
}

#[test]
fn the_largest_cluster_is_the_portable_one_unless_more_is_allowed() {
    let body = format!(
        "{CLUSTERED}int size; cudaOccupancyMaxPotentialClusterSize(&size, one, &config);\n\
         one<<<size, 32>>>(C, N);"
    );
    assert_eq!(
        text(&plan(&body, Some(64))),
        "one <8x1x1, 32x1x1, 0> (p2, 1000)"
    );
    let allowed = format!(
        "cudaFuncSetAttribute(one, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n{body}"
    );
    assert_eq!(
        text(&plan(&allowed, Some(64))),
        "one <16x1x1, 32x1x1, 0> (p2, 1000)"
    );
}

#[test]
fn shared_memory_that_blocks_leave_each_other_is_told() {
    let body = "size_t bytes; cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, one, 2, 256);\n\
        cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);\n\
        one<<<1, 32, bytes>>>(C, N);";
    // Half of 233,472, less what the system keeps of a block and the 256 bytes of the kernel's own.
    assert_eq!(
        text(&plan(body, Some(32))),
        "one <1x1x1, 32x1x1, 115456> (p2, 1000)"
    );
}
