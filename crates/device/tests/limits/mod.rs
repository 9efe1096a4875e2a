//! What launches may ask for on an H200, in the tests and examples of this crate.

use domain::TargetLimits;

pub fn h200() -> TargetLimits {
    TargetLimits {
        arch: "sm_90a".to_owned(),
        name: "test".to_owned(),
        compute_major: 9,
        compute_minor: 0,
        multiprocessors: 132,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 2048,
        max_blocks_per_multiprocessor: 32,
        max_block: [1024, 1024, 64],
        max_grid: [2_147_483_647, 65_535, 65_535],
        shared_memory_per_block_bytes: 49_152,
        shared_memory_per_block_optin_bytes: 232_448,
        shared_memory_per_multiprocessor_bytes: 233_472,
        registers_per_multiprocessor: 65_536,
        global_memory_bytes: 1 << 30,
        l2_bytes: 50 << 20,
        constant_memory_bytes: 65_536,
        warp_size: 32,
        clock_hz: 1_980_000_000,
        memory_bus_bits: 6144,
    }
}
