//! Bandwidths of device memory, L2 and shared memory, and the time of an empty kernel.

use device::{Address, BufferId, DeviceError, LaunchSpec, Operation};

use super::figure::{Figure, Finding, Reading};
use super::rates::{copy_bytes, scaled_passes, shared_bytes};
use crate::compile::wire::KernelSet::Memory;
use crate::measuring::rig::{Rig, long, pointer, word};

/// What [`measure`] measures.
pub(super) const FIGURES: [Figure; 5] = [
    Figure::LaunchFloor,
    Figure::Copy,
    Figure::Read,
    Figure::L2Read,
    Figure::SharedRead,
];

/// Many times any L2.
const LARGE_BYTES: u64 = 1 << 30;
const THREADS: u32 = 256;
const VECTOR_BYTES: u64 = 16;
/// Vectors that a thread has under way at once.
const UNROLLED: u64 = 4;

/// Every figure, or why there is none.
pub(crate) fn measure(rig: &mut Rig) -> Vec<Finding> {
    type Measure = fn(&mut Rig) -> Result<Reading, DeviceError>;
    let all: [Measure; 5] = [launch_floor, copy, read, l2_read, shared_read];
    let pairs = FIGURES.into_iter().zip(all);
    pairs
        .map(|(figure, measure)| Finding {
            figure,
            reading: measure(rig).map_err(|e| e.to_string()),
        })
        .collect()
}

fn launch_floor(rig: &mut Rig) -> Result<Reading, DeviceError> {
    let empty = rig.spec(Memory, "calibration_empty", [1, 32], Vec::new())?;
    let summary = rig.repeat(&Operation::Launch(empty), 20, 300)?;
    Ok(Reading {
        value: summary.median,
        spread: summary.spread,
        way: "median of 300 empty kernels".to_owned(),
    })
}

fn copy(rig: &mut Rig) -> Result<Reading, DeviceError> {
    let bytes = rig.bytes(LARGE_BYTES);
    let (from, to) = (rig.random(bytes, "from")?, rig.random(bytes, "to")?);
    let mut ways = vec![(
        "the driver's copy".to_owned(),
        Operation::Copy {
            destination: Address::start_of(to),
            source: Address::start_of(from),
            bytes,
        },
    )];
    for blocks in grids(rig, bytes) {
        let copy = copy_spec(rig, to, from, bytes, blocks)?;
        ways.push((format!("{blocks} blocks"), Operation::Launch(copy)));
    }
    let best = fastest(rig, copy_bytes(bytes), &ways);
    rig.free_after(best, [from, to])
}

/// The copy as it is measured.
pub(super) fn copy_spec(
    rig: &Rig,
    to: BufferId,
    from: BufferId,
    bytes: u64,
    blocks: u32,
) -> Result<LaunchSpec, DeviceError> {
    let arguments = vec![pointer(to), pointer(from), long(bytes / VECTOR_BYTES)];
    rig.spec(Memory, "calibration_copy", [blocks, THREADS], arguments)
}

fn read(rig: &mut Rig) -> Result<Reading, DeviceError> {
    let bytes = rig.bytes(LARGE_BYTES);
    let from = rig.random(bytes, "from")?;
    let mut ways = Vec::new();
    for blocks in grids(rig, bytes) {
        let read = read_spec(rig, from, bytes, 1, blocks)?;
        ways.push((format!("{blocks} blocks"), Operation::Launch(read)));
    }
    let best = fastest(rig, bytes, &ways);
    rig.free_after(best, [from])
}

/// The read as it is measured.
pub(super) fn read_spec(
    rig: &Rig,
    from: BufferId,
    bytes: u64,
    passes: u32,
    blocks: u32,
) -> Result<LaunchSpec, DeviceError> {
    let count = long(bytes / VECTOR_BYTES);
    let arguments = vec![pointer(from), count, word(passes), rig.sink()];
    rig.spec(Memory, "calibration_read", [blocks, THREADS], arguments)
}

/// Over and over, a quarter of the L2 at most, each thread the same four vectors.
fn l2_read(rig: &mut Rig) -> Result<Reading, DeviceError> {
    let limits = rig.device.limits();
    let share = limits.l2_bytes / 4;
    let unit = |blocks: u32| u64::from(blocks * THREADS) * UNROLLED * VECTOR_BYTES;
    let multiprocessors = limits.multiprocessors;
    let sizes = [8, 4, 2, 1].map(|each| multiprocessors * each);
    let fitting = sizes.into_iter().find(|blocks| unit(*blocks) <= share);
    let blocks = fitting.unwrap_or(multiprocessors);
    let bytes = unit(blocks);
    let from = rig.random(bytes, "resident")?;
    let spec = |rig: &Rig, passes| read_spec(rig, from, bytes, passes, blocks);
    let way = format!("{} KiB resident, {blocks} blocks", bytes >> 10);
    let reading = sustained(rig, &way, spec, |passes| bytes * u64::from(passes));
    rig.free_after(reading, [from])
}

fn shared_read(rig: &mut Rig) -> Result<Reading, DeviceError> {
    let blocks = rig.device.limits().multiprocessors * 4;
    let spec = |rig: &Rig, passes| {
        let arguments = vec![word(passes), rig.sink()];
        rig.spec(
            Memory,
            "calibration_shared_read",
            [blocks, THREADS],
            arguments,
        )
    };
    let threads = u64::from(blocks * THREADS);
    let way = format!("{blocks} blocks, 16 bytes a lane");
    sustained(rig, &way, spec, |passes| shared_bytes(threads, passes))
}

/// Grids that are tried: some blocks a multiprocessor, and a thread for every few vectors.
fn grids(rig: &Rig, bytes: u64) -> Vec<u32> {
    let multiprocessors = rig.device.limits().multiprocessors;
    let vectors = bytes / VECTOR_BYTES;
    let enough = |each: u64| {
        let blocks = vectors.div_ceil(u64::from(THREADS) * each);
        u32::try_from(blocks).unwrap_or(u32::MAX)
    };
    let resident = [4, 8, 16, 32].map(|each| multiprocessors * each);
    resident
        .into_iter()
        .chain([enough(UNROLLED), enough(1)])
        .collect()
}

/// The best of several ways to move the same bytes.
fn fastest(
    rig: &mut Rig,
    bytes: u64,
    ways: &[(String, Operation)],
) -> Result<Reading, DeviceError> {
    let mut best: Option<Reading> = None;
    for (way, operation) in ways {
        let summary = rig.repeat(operation, 3, 20)?;
        let value = bytes as f64 / summary.median;
        if best.as_ref().is_none_or(|best| value > best.value) {
            best = Some(Reading {
                value,
                spread: summary.spread,
                way: way.clone(),
            });
        }
    }
    best.ok_or_else(|| DeviceError::Internal("no way to move bytes".to_owned()))
}

/// The rate of a kernel that goes on for as many passes as it takes to measure it well.
pub(super) fn sustained(
    rig: &mut Rig,
    way: &str,
    spec: impl Fn(&Rig, u32) -> Result<LaunchSpec, DeviceError>,
    amount: impl Fn(u32) -> u64,
) -> Result<Reading, DeviceError> {
    let first = rig.extent.max_steps.min(100);
    let trial = Operation::Launch(spec(rig, first)?);
    let t_s = rig.repeat(&trial, 1, 1)?.median;
    let passes = scaled_passes(first, t_s, rig.extent.target_s).min(rig.extent.max_steps);
    let operation = Operation::Launch(spec(rig, passes)?);
    // The first fifth brings power and clock to where they stay.
    let summary = rig.repeat(&operation, 20, 80)?;
    Ok(Reading {
        value: amount(passes) as f64 / summary.median,
        spread: summary.spread,
        way: format!("{way}, {passes} passes"),
    })
}
