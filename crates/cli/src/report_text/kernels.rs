//! What the compiler made of each kernel.

use domain::kernel_name::spelt;
use domain::report::OccupancyLimiter;
use domain::{Report, printable};

use super::ratio;
use crate::table::Table;

pub(super) fn table(report: &Report) -> String {
    let mut table = Table::new(&[
        "kernel",
        ">registers",
        ">spills",
        ">local",
        ">static smem",
        ">dynamic smem",
        ">constant",
        ">barriers",
        ">block",
        ">occupancy",
        "limited by",
    ]);
    for kernel in &report.kernels {
        let bytes = |n: Option<u32>| n.map(|n| format!("{n} B")).unwrap_or_default();
        let count = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
        table.row(vec![
            printable(&spelt(&kernel.name)),
            count(kernel.registers),
            bytes(kernel.spill_bytes),
            bytes(kernel.local_bytes),
            bytes(kernel.static_smem_bytes),
            bytes(kernel.dynamic_smem_bytes),
            bytes(kernel.constant_bytes),
            count(kernel.barriers),
            count(kernel.block_threads),
            kernel.occupancy.map(ratio).unwrap_or_default(),
            kernel.occupancy_limiter.map(limiter).unwrap_or_default(),
        ]);
    }
    if table.is_empty() {
        String::new()
    } else {
        table.render()
    }
}

fn limiter(limiter: OccupancyLimiter) -> String {
    let words = match limiter {
        OccupancyLimiter::Registers => "registers",
        OccupancyLimiter::SharedMemory => "shared memory",
        OccupancyLimiter::Blocks => "room for blocks",
        OccupancyLimiter::Threads => "room for threads",
    };
    words.to_owned()
}
