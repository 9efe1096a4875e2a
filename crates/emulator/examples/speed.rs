//! Prints how many thread instructions a second the host executes, for a few kernels: of processor
//! time with one thread (where the system tells it, as Linux does), otherwise of wall clock.
//!
//! `cargo run --release -p emulator --example speed [threads]`

use std::time::Instant;

use emulator::{Launch, Limits, Memory, Module, launch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let naive = include_str!("../tests/fixtures/naive.ptx");
    let basic = include_str!("../tests/fixtures/basic.ptx");
    measure(
        "naive matmul 256",
        naive,
        "naive_matmul",
        [16, 16, 1],
        [16, 16, 1],
        &[256],
        threads,
    )?;
    let tiled = "_Z6matmulILi16EEvPKfS1_Pfiii";
    let extents = [256, 256, 256];
    measure(
        "tiled matmul 256",
        basic,
        tiled,
        [16, 16, 1],
        [16, 16, 1],
        &extents,
        threads,
    )?;
    measure(
        "vector add 1 Mi",
        basic,
        "vector_add",
        [4096, 1, 1],
        [256, 1, 1],
        &[1 << 20],
        threads,
    )?;
    measure(
        "f16 wmma matmul 256",
        include_str!("../tests/fixtures/wmma.ptx"),
        "matmul",
        [64, 1, 1],
        [128, 1, 1],
        &[256],
        threads,
    )?;
    Ok(())
}

/// Runs a kernel of three arrays and some extents, and prints its rate.
fn measure(
    title: &str,
    ptx: &str,
    kernel: &str,
    grid: [u32; 3],
    block: [u32; 3],
    extents: &[i32],
    threads: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let module = Module::parse(ptx)?;
    let mut memory = Memory::new(1 << 30);
    let loaded = memory.load(&module)?;
    let mut parameters = Vec::new();
    for label in ["a", "b", "c"] {
        parameters.extend_from_slice(&memory.allocate(4 << 20, label)?.to_le_bytes());
    }
    for extent in extents {
        parameters.extend_from_slice(&extent.to_le_bytes());
    }
    let launched = Launch {
        kernel,
        grid,
        block,
        cluster: [1, 1, 1],
        dynamic_shared_bytes: 0,
        parameters: &parameters,
    };
    let limits = Limits {
        threads,
        ..Limits::default()
    };
    let mut best = f64::INFINITY;
    let mut instructions = 0;
    for _ in 0..5 {
        let (start, start_processor) = (Instant::now(), processor_s());
        let outcome = launch(&loaded, &launched, &mut memory, &limits)?;
        let spent = match (start_processor, processor_s()) {
            (Some(before), Some(after)) if threads == 1 => after - before,
            _ => start.elapsed().as_secs_f64(),
        };
        best = best.min(spent);
        instructions = outcome.counters.thread_instructions;
    }
    let rate = instructions as f64 / best / 1e9;
    println!("{title}: {instructions} thread instructions in {best:.4} s = {rate:.2} G/s");
    Ok(())
}

/// Processor time of this thread, which executes the whole launch if it is the only one.
fn processor_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
