//! Multiply-adds on the vector units, in single and double precision.

use device::{DeviceError, LaunchSpec};
use scoring::Pipe;

use super::figure::{Figure, Finding, Reading};
use super::memory::sustained;
use super::rates::vector_flop;
use crate::compile::wire::KernelSet::Vector;
use crate::measuring::rig::{Rig, pointer, word};

const THREADS: u32 = 256;
/// Enough warps to hide the latency of a chain on every card.
const BLOCKS_EACH: u32 = 4;
/// Starts of the chains, and what is added.
const STARTS: u32 = 64;
const ADDENDS: u32 = 8;

/// Both figures.
pub(crate) fn measure(rig: &mut Rig) -> Vec<Finding> {
    [Pipe::Fp32, Pipe::Fp64]
        .map(|pipe| Finding {
            figure: Figure::Rate(pipe),
            reading: rate(rig, pipe).map_err(|e| e.to_string()),
        })
        .into()
}

fn rate(rig: &mut Rig, pipe: Pipe) -> Result<Reading, DeviceError> {
    let blocks = rig.device.limits().multiprocessors * BLOCKS_EACH;
    let numbers = numbers(pipe);
    let starts = rig.device.allocate(numbers.len() as u64, "starts")?;
    rig.device.write(starts, &numbers)?;
    let spec = |rig: &Rig, passes| spec(rig, pipe, starts, passes, blocks);
    let threads = u64::from(blocks * THREADS);
    let way = format!("{blocks} blocks, 8 chains a thread");
    let reading = sustained(rig, &way, spec, |passes| vector_flop(threads, passes));
    rig.free_after(reading, [starts])
}

/// The kernel as it is measured.
pub(super) fn spec(
    rig: &Rig,
    pipe: Pipe,
    starts: device::BufferId,
    passes: u32,
    blocks: u32,
) -> Result<LaunchSpec, DeviceError> {
    let kernel = format!("calibration_{pipe}");
    let arguments = vec![word(passes), pointer(starts), rig.sink()];
    rig.spec(Vector, &kernel, [blocks, THREADS], arguments)
}

/// Numbers between -1 and 1, then some near -1.9.
pub(super) fn numbers(pipe: Pipe) -> Vec<u8> {
    let starts = (0..STARTS).map(|i| (f64::from(i) * 0.618_033_988_7 * 2.0) % 2.0 - 1.0);
    let addends = (0..ADDENDS).map(|i| -1.9 + f64::from(i) * 0.007_1);
    let all = starts.chain(addends);
    if pipe == Pipe::Fp64 {
        all.flat_map(f64::to_le_bytes).collect()
    } else {
        all.flat_map(|number| (number as f32).to_le_bytes())
            .collect()
    }
}
