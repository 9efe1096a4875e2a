//! Runs small kernels that each show one thing that counters are about, for a comparison of what the
//! emulated device counts with what a profiler reads from a GPU's hardware: `tests/gpu/counters.sh`.
//!
//! `counted emulated` prints a line a counter (kernel, counter, value; tabs between); `counted gpu` launches
//! the same kernels once each, in the same order, for a profiler to look at. The compiler is the toolchain
//! folder that LIGHTSPEED_TOOLCHAIN names.

use std::path::PathBuf;
use std::time::Duration;

use device::{
    Address, Argument, CudaDevice, Device, EmulatedDevice, LaunchSpec, ModuleImage, Operation,
    cuda, emulated,
};
use toolchain::{CompileRequest, Toolchain};

#[path = "../../tests/limits/mod.rs"]
mod limits;

const SOURCE: &str = include_str!("kernels.cu");
/// Elements, one a thread.
const N: u32 = 1 << 18;
const BLOCK: u32 = 256;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let which = std::env::args().nth(1).unwrap_or_default();
    let folder = std::env::var_os("LIGHTSPEED_TOOLCHAIN").ok_or("set LIGHTSPEED_TOOLCHAIN")?;
    let toolchain = Toolchain::open(&PathBuf::from(folder))?;
    match which.as_str() {
        "emulated" => {
            let device = EmulatedDevice::new(emulated::Settings {
                limits: limits::h200(),
                memory_limit_bytes: 1 << 26,
                instruction_fuel: 1 << 30,
            });
            run(&toolchain, device, true)
        }
        "gpu" => {
            let device = CudaDevice::open(&cuda::Settings {
                ordinal: 0,
                memory_limit_bytes: 1 << 26,
                // CUPTI and a profiler keep each other out.
                cupti_library: None,
                span_limit: Duration::from_secs(10),
            })?;
            run(&toolchain, device, false)
        }
        _ => Err("usage: counted emulated|gpu".into()),
    }
}

fn run(
    toolchain: &Toolchain,
    mut device: impl Device,
    wants_counters: bool,
) -> Result<(), Failure> {
    let compiled = toolchain::compile(
        toolchain,
        &CompileRequest {
            source: SOURCE.to_owned(),
            name_expressions: Vec::new(),
            arch: device.limits().arch.clone(),
            want_cubin: !wants_counters,
        },
    )
    .map_err(|why| format!("{why:?}"))?;
    let module = device.load(ModuleImage {
        ptx: &compiled.ptx,
        cubin: compiled.cubin.as_deref().unwrap_or_default(),
    })?;
    let stream = device.stream()?;
    let pointer = |buffer| Argument::Pointer(Address::start_of(buffer));
    // One element more than threads, for `misaligned`.
    let elements = N as usize + 1;
    let [a, at, c] = ["a", "at", "c"].map(|name| device.allocate(4 * elements as u64, name));
    let [a, at, c] = [a?, at?, c?];
    let values = (0..elements).map(|i| (i % 7) as f32);
    device.write(a, &bytes(values.map(f32::to_bits)))?;
    // A full-period generator modulo N: each place once, in an order that looks random.
    let places = std::iter::successors(Some(1_u32), |x| Some((x * 5 + 12_345) % N));
    device.write(at, &bytes(places.take(elements)))?;
    for kernel in kernels() {
        device.write(c, &vec![0; 4 * elements])?;
        let launch = Operation::Launch(LaunchSpec {
            module,
            kernel: kernel.to_owned(),
            grid: [N / BLOCK, 1, 1],
            block: [BLOCK, 1, 1],
            cluster: None,
            cooperative: false,
            dynamic_shared_bytes: 0,
            arguments: vec![
                pointer(a),
                pointer(at),
                pointer(c),
                Argument::Value(N.to_le_bytes().to_vec()),
            ],
        });
        let span = device.run(stream, &[launch])?;
        let Some(counted) = span.counters.filter(|_| wants_counters) else {
            continue;
        };
        let flop = |pipe: &str| counted.flop.get(pipe).copied().unwrap_or(0);
        for (name, value) in [
            ("warp_instructions", counted.warp_instructions),
            ("thread_instructions", counted.thread_instructions),
            ("global_requests", counted.global_requests),
            ("global_load_sectors", counted.global_load_sectors),
            ("global_store_sectors", counted.global_store_sectors),
            ("shared_requests", counted.shared_requests),
            ("shared_wavefronts", counted.shared_wavefronts),
            ("divergent_branches", counted.divergent_branches),
            ("flop_f32", flop("f32")),
            ("flop_f64", flop("f64")),
        ] {
            println!("{kernel}\t{name}\t{value}");
        }
    }
    Ok(())
}

/// The source's kernels, in its order.
fn kernels() -> impl Iterator<Item = &'static str> {
    let heads = SOURCE
        .lines()
        .filter_map(|line| line.strip_prefix("KERNEL "));
    heads.filter_map(|head| head.split('(').next())
}

fn bytes(words: impl Iterator<Item = u32>) -> Vec<u8> {
    words.flat_map(u32::to_le_bytes).collect()
}
