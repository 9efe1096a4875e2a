//! Cold copies after each way to empty the L2.
//!
//! Before each sample the inputs are made anew at the addresses that are then read, as in a judging.

use device::{Address, BufferId, DeviceError, Operation};

use super::sets::{Sets, copy};
use super::table::{Cell, Table, percent_above, size, us};
use crate::measuring::rig::{Rig, summary};
use crate::measuring::summary::Summary;

const SIZES: [u64; 4] = [1 << 20, 4 << 20, 16 << 20, 64 << 20];
const SAMPLES: usize = 50;

/// One way to bring the caches into a known state.
struct Way {
    name: &'static str,
    rotates: bool,
    demotes: bool,
    flush: Flush,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    None,
    /// Writes so many times the L2.
    Write(u64),
    Read,
}

const fn way(name: &'static str, rotates: bool, demotes: bool, flush: Flush) -> Way {
    Way {
        name,
        rotates,
        demotes,
        flush,
    }
}

/// The judge's last: the others are told relative to it.
const WAYS: [Way; 7] = [
    way("no flush", false, false, Flush::None),
    way("write flush, 2 x L2", false, false, Flush::Write(2)),
    way("write flush, 5 x L2", false, false, Flush::Write(5)),
    way("read flush", false, false, Flush::Read),
    way("rotation", true, false, Flush::None),
    way("rotation, read flush", true, false, Flush::Read),
    way(
        "rotation, demotion, read flush (the judge's)",
        true,
        true,
        Flush::Read,
    ),
];

pub(super) fn run(rig: &mut Rig) -> Result<Table, DeviceError> {
    let mut table = Table::new(&[
        ("copy", 0),
        ("before each sample", 0),
        ("median us", 3),
        ("middle half us", 3),
        ("quartiles %", 2),
        ("n", 0),
        ("against the judge's %", 2),
    ]);
    let room_bytes = rig.device.limits().l2_bytes * 5;
    let room = rig.device.allocate(room_bytes, "written")?;
    for bytes in SIZES {
        let bytes = rig.bytes(bytes);
        let mut sets = Sets::new(rig, 2, bytes)?;
        let found: Result<Vec<Summary>, _> = WAYS
            .iter()
            .map(|way| sample(rig, &mut sets, way, room))
            .collect();
        let found = found?;
        sets.release(rig)?;
        let judges = found.last().map(|summary| summary.middle);
        for (way, summary) in WAYS.iter().zip(found) {
            let bias = judges.map(|judges| percent_above(summary.middle, judges));
            table.row(vec![
                size(bytes).into(),
                way.name.into(),
                us(summary.median).into(),
                us(summary.middle).into(),
                (summary.spread * 100.0).into(),
                summary.samples.into(),
                Cell::from(bias),
            ]);
        }
    }
    rig.free([room])?;
    Ok(table)
}

fn sample(
    rig: &mut Rig,
    sets: &mut Sets,
    way: &Way,
    room: BufferId,
) -> Result<Summary, DeviceError> {
    let bytes = sets.bytes;
    let mut samples = Vec::new();
    // Every set comes up once before what counts.
    let uncounted = rig.samples(if way.rotates { sets.sets.len() } else { 2 });
    for number in 0..uncounted + rig.samples(SAMPLES) {
        let (set, _) = sets.turn(way.rotates);
        let (from, to) = (set[0], set[1]);
        let inputs = [rig.fill(from, bytes), rig.fill(to, bytes)];
        rig.run(&inputs)?;
        let settled = settle(rig, way, &[from, to], bytes, room);
        rig.run(&settled)?;
        let operation = copy(rig, to, from, bytes, 1)?;
        let t_s = rig.time(&[operation])?;
        if number >= uncounted {
            samples.push(t_s);
        }
    }
    summary(&samples)
}

fn settle(
    rig: &Rig,
    way: &Way,
    buffers: &[BufferId],
    bytes: u64,
    room: BufferId,
) -> Vec<Operation> {
    let mut operations = vec![rig.kernels.scrub()];
    if way.demotes {
        operations.extend(buffers.iter().map(|b| rig.kernels.demote(*b, bytes)));
    }
    match way.flush {
        Flush::None => {}
        Flush::Read => operations.push(rig.kernels.flush()),
        Flush::Write(times) => operations.push(Operation::Memset {
            destination: Address::start_of(room),
            value: 0,
            bytes: rig.device.limits().l2_bytes * times,
        }),
    }
    operations
}
