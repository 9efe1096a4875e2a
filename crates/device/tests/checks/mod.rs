//! What must hold of every backend, and what only a GPU can do, told through the `Device` trait alone.

pub mod bench;
mod gpu_only;
mod kernels;
mod memory;
mod spans;
mod tensor_map;

use std::collections::BTreeMap;

use bench::Bench;

/// One compiled source.
pub struct Code {
    pub ptx: String,
    pub cubin: Vec<u8>,
}

/// Compiled sources of `examples/kernels`, by file name without extension.
pub type Images = BTreeMap<String, Code>;

pub type Outcome = Result<(), String>;
pub type Check = (&'static str, fn(&mut Bench) -> Outcome);

/// Hold on every backend.
pub const COMMON: &[Check] = &[
    ("what is written is read back", memory::round_trip),
    ("the memory limit holds", memory::memory_limit),
    ("host operations move bytes", memory::host_operations),
    ("host operations stay in their buffers", memory::host_bounds),
    ("freed memory is refused to the host", memory::freed),
    ("layouts and missing kernels", kernels::layouts),
    ("arguments of mixed sizes arrive", kernels::mixed_arguments),
    ("a write past the end is found", kernels::past_end),
    (
        "a write past the end of a freed buffer is found",
        kernels::past_end_freed,
    ),
    (
        "variables return to their initial contents",
        kernels::globals,
    ),
    ("a symbol is written and reset", kernels::symbol_upload),
    (
        "a block that is too large is refused",
        kernels::launch_config,
    ),
    ("several operations are one span", kernels::one_span),
    ("several segments are one span", spans::segments),
    ("a span may be of nothing", spans::of_nothing),
    ("a span may have many segments", spans::many_segments),
    (
        "a part of a span that is refused ends no device",
        spans::refused_part,
    ),
];

/// Need a GPU of compute capability 9.0 or newer.
pub const GPU_ONLY: &[Check] = &[
    ("attributes", gpu_only::attributes),
    ("dynamic shared memory of 200 KiB", gpu_only::large_shared),
    ("a cooperative grid meets", gpu_only::cooperative),
    (
        "a cooperative grid that is too large is refused",
        gpu_only::cooperative_too_large,
    ),
    ("a slope is measured", gpu_only::slope),
    ("gaps between segments count", spans::gaps_count),
    ("the limit is of all segments", spans::limit_holds),
];

/// Need compute capability 9.0, which the emulated device has.
pub const HOPPER: &[Check] = &[
    ("a cluster of two blocks", gpu_only::cluster),
    ("a tensor map's box arrives", tensor_map::box_arrives),
    (
        "a tensor map that is not admitted is refused",
        tensor_map::refused,
    ),
];
