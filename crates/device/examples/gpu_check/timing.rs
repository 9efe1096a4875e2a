//! The timers beside each other: CUPTI, the slope of two graphs, and event pairs.

use std::time::{Duration, Instant};

use device::{Argument, LaunchSpec, Operation};
use domain::MachineState;

use crate::checks::Outcome;
use crate::checks::bench::{Bench, at, launch, pointer, text};

const SAMPLES: usize = 50;
/// 4 KiB to 256 MiB.
const SIZES: [u64; 9] = [
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
    256 << 20,
];

/// One row: what runs, and its times in microseconds.
pub struct Row {
    pub name: String,
    pub median_us: f64,
    pub spread: f64,
    pub slope_us: f64,
    /// Wall time of one call.
    pub cost_us: f64,
}

/// Median and slope of an empty kernel, copies of growing size, and a span of three operations, all
/// with a warm cache.
pub fn rows(bench: &mut Bench) -> Result<Vec<Row>, String> {
    let module = bench.load("plain")?;
    let mut rows = vec![row(
        bench,
        "empty".to_owned(),
        &[Operation::Launch(launch(module, "empty", Vec::new()))],
        200,
    )?];
    for bytes in SIZES {
        let (from, to) = (bench.buffer(bytes, "from")?, bench.buffer(bytes, "to")?);
        let vectors = bytes / 16;
        let blocks = vectors.div_ceil(256).min(132 * 16);
        let arguments = vec![
            pointer(to),
            pointer(from),
            Argument::Value(vectors.to_le_bytes().to_vec()),
        ];
        let spec = LaunchSpec {
            grid: [u32::try_from(blocks).map_err(text)?, 1, 1],
            block: [256, 1, 1],
            ..launch(module, "copy", arguments)
        };
        let copies = if bytes > 16 << 20 { 10 } else { 100 };
        let name = format!("copy {} KiB", bytes >> 10);
        rows.push(row(
            bench,
            name,
            &[Operation::Launch(spec.clone())],
            copies,
        )?);
        if bytes == 1 << 20 {
            let several = [
                Operation::Memset {
                    destination: at(to, 0),
                    value: 0,
                    bytes,
                },
                Operation::Launch(spec),
                Operation::Copy {
                    destination: at(from, 0),
                    source: at(to, 0),
                    bytes,
                },
            ];
            let name = "memset + copy + memcpy 1024 KiB".to_owned();
            rows.push(row(bench, name, &several, copies)?);
        }
        bench.device.free(from).map_err(text)?;
        bench.device.free(to).map_err(text)?;
    }
    Ok(rows)
}

fn row(
    bench: &mut Bench,
    name: String,
    operations: &[Operation],
    copies: u32,
) -> Result<Row, String> {
    for _ in 0..5 {
        bench.time(operations).map_err(text)?;
    }
    let begin = Instant::now();
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let span = bench.time(operations).map_err(text)?;
        samples.push(microseconds(span.duration.ok_or("no duration")?));
    }
    let cost_us = microseconds(begin.elapsed()) / SAMPLES as f64;
    samples.sort_by(f64::total_cmp);
    let median_us = samples[SAMPLES / 2];
    Ok(Row {
        name,
        median_us,
        spread: (samples[SAMPLES * 3 / 4] - samples[SAMPLES / 4]) / median_us,
        slope_us: bench.slope(operations, copies)? * 1e6,
        cost_us,
    })
}

fn microseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// What NVML says, which must be something on a GPU that it can be asked about.
pub fn state(bench: &mut Bench) -> Outcome {
    let state: MachineState = bench
        .device
        .state()
        .map_err(text)?
        .ok_or("a GPU without a state")?;
    println!("     {state:?}");
    if state.sm_clock_hz.is_none() || state.power_w.is_none() {
        return Err("NVML says nothing".to_owned());
    }
    Ok(())
}
