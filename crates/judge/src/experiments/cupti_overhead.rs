//! What CUPTI costs: the host at each launch, and a graph at each node.

use std::time::Instant;

use device::{DeviceError, Operation};

use super::sets::{chain, copy};
use super::table::{Table, size, us};
use crate::measuring::rig::{Rig, summary};

const SAMPLES: usize = 200;
const SIZES: [u64; 3] = [4 << 10, 1 << 20, 16 << 20];

pub(super) fn run(rig: &mut Rig) -> Result<Table, DeviceError> {
    let mut table = Table::new(&[
        ("warm, in place", 0),
        ("CUPTI", 0),
        ("launch and wait, host us", 2),
        ("quartiles %", 1),
        ("timed call, host us", 2),
        ("slope of events us", 3),
        ("n", 0),
    ]);
    let short = chain(rig, 1)?;
    both(rig, &mut table, "chain of 1", &short)?;
    for bytes in SIZES {
        let bytes = rig.bytes(bytes);
        let (from, to) = (rig.random(bytes, "from")?, rig.random(bytes, "to")?);
        let operation = copy(rig, to, from, bytes, 1)?;
        both(
            rig,
            &mut table,
            &format!("copy {}", size(bytes)),
            &operation,
        )?;
        rig.free([from, to])?;
    }
    table.note(
        "While CUPTI is suspended a timed call is one between two events. A process that never loads \
         CUPTI: --without-cupti.",
    );
    Ok(table)
}

/// With CUPTI, then with it suspended, then with it again: what is left of a suspension would show.
fn both(
    rig: &mut Rig,
    table: &mut Table,
    name: &str,
    operation: &Operation,
) -> Result<(), DeviceError> {
    let has_cupti = rig
        .device
        .timer()
        .is_some_and(|timer| timer.cupti.is_some());
    if !has_cupti {
        return row(rig, table, name, "never loaded", operation);
    }
    row(rig, table, name, "on", operation)?;
    rig.device.suspend_timer(true)?;
    let suspended = row(rig, table, name, "suspended", operation);
    rig.device.suspend_timer(false)?;
    suspended?;
    row(rig, table, name, "on again", operation)
}

fn row(
    rig: &mut Rig,
    table: &mut Table,
    name: &str,
    state: &str,
    operation: &Operation,
) -> Result<(), DeviceError> {
    let operations = std::slice::from_ref(operation);
    let (mut runs, mut calls) = (Vec::new(), Vec::new());
    for number in 0..rig.samples(SAMPLES) + 5 {
        let begin = Instant::now();
        rig.run(operations)?;
        let run_s = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        rig.time(operations)?;
        let call_s = begin.elapsed().as_secs_f64();
        if number >= 5 {
            runs.push(run_s);
            calls.push(call_s);
        }
    }
    let slope = rig.device.slope_by_events(rig.stream, operations, 100)?;
    let run = summary(&runs)?;
    table.row(vec![
        name.into(),
        state.into(),
        us(run.median).into(),
        (run.spread * 100.0).into(),
        us(summary(&calls)?.median).into(),
        us(slope.as_secs_f64()).into(),
        run.samples.into(),
    ]);
    Ok(())
}
