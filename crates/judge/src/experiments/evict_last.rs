//! Readers that try to find their data in the L2, against each defence.

use device::DeviceError;

use super::sets::{Sets, reader};
use super::table::{Table, percent_above, size, us};
use crate::measuring::rig::{Rig, summary};
use crate::measuring::summary::Summary;

const SIZES: [u64; 3] = [1 << 20, 4 << 20, 16 << 20];
const SAMPLES: usize = 60;
/// The first is honest; the others are told relative to it.
const READERS: [(&str, &str); 3] = [
    ("honest", "measured_read"),
    ("evict_last", "measured_read_evict_last"),
    ("fetches the next run's", "measured_read_prefetch"),
];

struct Defence {
    name: &'static str,
    rotates: bool,
    demotes: bool,
}

const DEFENCES: [Defence; 4] = [
    Defence {
        name: "read flush, same address",
        rotates: false,
        demotes: false,
    },
    Defence {
        name: "read flush, same address, demotion",
        rotates: false,
        demotes: true,
    },
    Defence {
        name: "read flush, rotation",
        rotates: true,
        demotes: false,
    },
    Defence {
        name: "read flush, rotation, demotion (the judge's)",
        rotates: true,
        demotes: true,
    },
];

pub(super) fn run(rig: &mut Rig) -> Result<Table, DeviceError> {
    let mut table = Table::new(&[
        ("read", 0),
        ("defence", 0),
        ("reader", 0),
        ("median us", 3),
        ("middle half us", 3),
        ("quartiles %", 2),
        ("n", 0),
        ("gain %", 2),
    ]);
    if rig.device.limits().compute_major < 8 {
        table.note("This architecture knows no eviction priorities.");
        return Ok(table);
    }
    for bytes in SIZES {
        let bytes = rig.bytes(bytes);
        let mut sets = Sets::new(rig, 1, bytes)?;
        for defence in &DEFENCES {
            let mut honest: Option<Summary> = None;
            for (name, kernel) in READERS {
                let found = sample(rig, &mut sets, defence, kernel)?;
                let honest = *honest.get_or_insert(found);
                table.row(vec![
                    size(bytes).into(),
                    defence.name.into(),
                    name.into(),
                    us(found.median).into(),
                    us(found.middle).into(),
                    (found.spread * 100.0).into(),
                    found.samples.into(),
                    percent_above(honest.middle, found.middle).into(),
                ]);
            }
        }
        sets.release(rig)?;
    }
    table.note("Gain: how much longer the honest reader takes under the same defence.");
    Ok(table)
}

fn sample(
    rig: &mut Rig,
    sets: &mut Sets,
    defence: &Defence,
    kernel: &str,
) -> Result<Summary, DeviceError> {
    let bytes = sets.bytes;
    let mut samples = Vec::new();
    let uncounted = rig.samples(if defence.rotates { sets.sets.len() } else { 2 });
    for number in 0..uncounted + rig.samples(SAMPLES) {
        let (set, after) = sets.turn(defence.rotates);
        let (from, next) = (set[0], after[0]);
        let input = rig.fill(from, bytes);
        rig.run(&[input])?;
        let mut settled = vec![rig.kernels.scrub()];
        if defence.demotes {
            settled.push(rig.kernels.demote(from, bytes));
        }
        settled.push(rig.kernels.flush());
        rig.run(&settled)?;
        let operation = reader(rig, kernel, from, next, bytes)?;
        let t_s = rig.time(&[operation])?;
        if number >= uncounted {
            samples.push(t_s);
        }
    }
    summary(&samples)
}
