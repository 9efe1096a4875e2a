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
