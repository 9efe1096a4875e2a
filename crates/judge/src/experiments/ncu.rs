//! The same launches for CUPTI and for the profiler, in an order that tests/gpu/ncu.py matches by.
//!
//! Kernels whose names begin with `measured_` are launched by rows and nothing else, `n` times a row.
//! Under the profiler this runs without CUPTI, and its own times mean nothing.

use device::{DeviceError, LaunchSpec, Operation};

use super::sets::copy;
use super::table::{Table, size, us};
use crate::compile::wire::KernelSet::Experiments;
use crate::measuring::rig::{Rig, pointer, summary, word};

const SAMPLES: usize = 15;
/// Bytes, and how often they are copied within one launch.
const COPIES: [(u64, u32); 8] = [
    (4 << 10, 1),
    (256 << 10, 1),
    (1 << 20, 1),
    (4 << 20, 1),
    (16 << 20, 1),
    (64 << 20, 1),
    (512 << 20, 1),
    (512 << 20, 40),
];
const GEMMS: [u32; 3] = [256, 1024, 4096];
const TILE: u32 = 32;

pub(super) fn run(rig: &mut Rig) -> Result<Table, DeviceError> {
    let mut table = Table::new(&[
        ("after a read flush", 0),
        ("kernel", 0),
        ("n", 0),
        ("span us", 3),
        ("quartiles %", 2),
    ]);
    for (bytes, times) in COPIES {
        let bytes = rig.bytes(bytes);
        let (from, to) = (rig.random(bytes, "from")?, rig.random(bytes, "to")?);
        let operation = copy(rig, to, from, bytes, times.min(rig.extent.max_steps))?;
        let name = format!("copy {} x {times}", size(bytes));
        row(rig, &mut table, name, "measured_copy", &operation)?;
        rig.free([from, to])?;
    }
    for n in GEMMS {
        let n = n.min(rig.extent.max_steps).next_multiple_of(TILE);
        let bytes = u64::from(n * n) * 4;
        let buffers = [
            rig.random(bytes, "a")?,
            rig.random(bytes, "b")?,
            rig.random(bytes, "c")?,
        ];
        let arguments = buffers.map(pointer).into_iter().chain([word(n)]).collect();
        let spec = LaunchSpec {
            grid: [n / TILE, n / TILE, 1],
            block: [TILE, 8, 1],
            ..rig.spec(Experiments, "measured_gemm", [1, 1], arguments)?
        };
        let name = format!("fp32 product {n}");
        row(
            rig,
            &mut table,
            name,
            "measured_gemm",
            &Operation::Launch(spec),
        )?;
        rig.free(buffers)?;
    }
    Ok(table)
}

fn row(
    rig: &mut Rig,
    table: &mut Table,
    name: String,
    kernel: &str,
    operation: &Operation,
) -> Result<(), DeviceError> {
    let flush = [rig.kernels.flush()];
    let mut samples = Vec::new();
    for _ in 0..rig.samples(SAMPLES) {
        rig.run(&flush)?;
        samples.push(rig.time(std::slice::from_ref(operation))?);
    }
    let span = summary(&samples)?;
    table.row(vec![
        name.into(),
        kernel.into(),
        span.samples.into(),
        us(span.median).into(),
        (span.spread * 100.0).into(),
    ]);
    Ok(())
}
