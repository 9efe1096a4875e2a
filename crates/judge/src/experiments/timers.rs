//! CUPTI's spans against slopes of events, with CUPTI suspended and not.

use device::{DeviceError, Operation};

use super::sets::{chain, copy};
use super::table::{Table, percent_above, size, us};
use crate::measuring::rig::Rig;

const SIZES: [u64; 8] = [
    4 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
    1 << 30,
];
/// About 1 us to 10 ms at two nanoseconds a step.
const STEPS: [u32; 5] = [500, 5_000, 50_000, 500_000, 5_000_000];
/// One graph of a slope takes about this long.
const GRAPH_S: f64 = 2e-3;
const MOST_COPIES: f64 = 200.0;

pub(super) fn run(rig: &mut Rig) -> Result<Table, DeviceError> {
    let mut table = Table::new(&[
        ("warm, in place", 0),
        ("CUPTI span us", 3),
        ("quartiles %", 2),
        ("n", 0),
        ("slope, CUPTI suspended us", 3),
        ("span - slope us", 3),
        ("span over slope %", 2),
        ("slope by CUPTI us", 3),
        ("slope by events under CUPTI us", 3),
    ]);
    for bytes in SIZES {
        let bytes = rig.bytes(bytes);
        let (from, to) = (rig.random(bytes, "from")?, rig.random(bytes, "to")?);
        let operation = copy(rig, to, from, bytes, 1)?;
        row(rig, &mut table, format!("copy {}", size(bytes)), operation)?;
        rig.free([from, to])?;
    }
    for steps in STEPS {
        let operation = chain(rig, steps)?;
        row(rig, &mut table, format!("chain of {steps}"), operation)?;
    }
    table.note(
        "Slope: (t(2k) - t(k)) / k of graphs of k runs back to back, the gap between two nodes inside. \
         A span's clock ticks every 32 ns.",
    );
    Ok(table)
}

fn row(
    rig: &mut Rig,
    table: &mut Table,
    name: String,
    operation: Operation,
) -> Result<(), DeviceError> {
    let span = rig.repeat(&operation, 5, 50)?;
    let copies = (GRAPH_S / span.median).clamp(1.0, MOST_COPIES) as u32;
    let operations = [operation];
    let slope = rig.device.slope(rig.stream, &operations, copies)?;
    let under_cupti = rig
        .device
        .slope_by_events(rig.stream, &operations, copies)?;
    let suspended_s = slope.map(|slope| slope.by_events.as_secs_f64());
    let by_cupti_s = slope.and_then(|slope| Some(slope.by_timer?.as_secs_f64()));
    table.row(vec![
        name.into(),
        us(span.median).into(),
        (span.spread * 100.0).into(),
        span.samples.into(),
        suspended_s.map(us).into(),
        suspended_s.map(|s| us(span.median - s)).into(),
        suspended_s.map(|s| percent_above(span.median, s)).into(),
        by_cupti_s.map(us).into(),
        us(under_cupti.as_secs_f64()).into(),
    ]);
    Ok(())
}
