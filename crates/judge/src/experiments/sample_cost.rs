//! Wall time on the host of what one timed and verified sample consists of: two inputs and an output of
//! 64 MiB each, as a vector addition has them.
//!
//! The steps are those of `execute::timed` and `check`, one after the other on one device; in a judging
//! the last two belong to the checker's.

use std::time::Instant;

use device::{BufferId, DeviceError};
use domain::Direction;
use problems::TensorSpec;

use super::sets::copy;
use super::table::{Table, us};
use crate::measuring::rig::{KEY, Rig, summary, vector};

const BYTES: u64 = 64 << 20;
const SAMPLES: usize = 20;

pub(super) fn run(rig: &mut Rig) -> Result<Table, DeviceError> {
    let bytes = rig.bytes(BYTES);
    let set = Set::new(rig, bytes)?;
    let mut mailbox = vec![0_u8; usize::try_from(bytes).unwrap_or(usize::MAX)];
    let mut parts: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for _ in 0..rig.samples(SAMPLES) + 1 {
        let mut clock = Clock {
            parts: &mut parts,
            part: 0,
        };
        sample(rig, &set, &mut mailbox, &mut clock)?;
    }
    let mut table = Table::new(&[("part", 0), ("median us", 0), ("quartiles %", 1), ("n", 0)]);
    let mut sum = 0.0;
    for (name, samples) in &parts {
        // The first time has things to set up.
        let found = summary(&samples[1..])?;
        sum += found.median;
        table.row(vec![
            (*name).into(),
            us(found.median).into(),
            (found.spread * 100.0).into(),
            found.samples.into(),
        ]);
    }
    table.row(vec![
        "sum".into(),
        us(sum).into(),
        0.0.into(),
        SAMPLES.into(),
    ]);
    table.note(
        "The mailbox is this process's own memory, already touched. Requests and answers between \
         processes come on top, a twentieth of a millisecond each.",
    );
    set.release(rig)?;
    Ok(table)
}

/// One submission's buffers and the checker's.
struct Set {
    inputs: [BufferId; 2],
    output: BufferId,
    /// The checker's copy of the output.
    delivered: BufferId,
    /// What the reference made: values and magnitudes, in double precision.
    values: BufferId,
    scales: BufferId,
    input_spec: TensorSpec,
    output_spec: TensorSpec,
}

impl Set {
    fn new(rig: &mut Rig, bytes: u64) -> Result<Self, DeviceError> {
        let input_spec = vector(bytes);
        let set = Self {
            inputs: [rig.random(bytes, "a")?, rig.random(bytes, "b")?],
            output: rig.random(bytes, "c")?,
            delivered: rig.random(bytes, "delivered")?,
            values: rig.random(bytes * 2, "values")?,
            scales: rig.random(bytes * 2, "scales")?,
            output_spec: TensorSpec {
                direction: Direction::Out,
                generator: None,
                ..input_spec.clone()
            },
            input_spec,
        };
        Ok(set)
    }

    fn release(self, rig: &mut Rig) -> Result<(), DeviceError> {
        let own = [self.output, self.delivered, self.values, self.scales];
        rig.free(self.inputs.into_iter().chain(own))
    }
}

/// Notes how long each part takes, by its place.
struct Clock<'a> {
    parts: &'a mut Vec<(&'static str, Vec<f64>)>,
    part: usize,
}

impl Clock<'_> {
    fn part<T>(&mut self, name: &'static str, act: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let outcome = act();
        let t_s = begin.elapsed().as_secs_f64();
        if self.part == self.parts.len() {
            self.parts.push((name, Vec::new()));
        }
        self.parts[self.part].1.push(t_s);
        self.part += 1;
        outcome
    }
}

fn sample(
    rig: &mut Rig,
    set: &Set,
    mailbox: &mut [u8],
    clock: &mut Clock<'_>,
) -> Result<(), DeviceError> {
    let [a, b] = set.inputs;
    let bytes = set.input_spec.bytes;
    let fresh = [
        rig.kernels.initialise(a, &set.input_spec, Some(KEY)),
        rig.kernels.initialise(b, &set.input_spec, Some(KEY)),
        rig.kernels.initialise(set.output, &set.output_spec, None),
    ];
    clock.part("reset globals", || rig.reset())?;
    clock.part("initialise: two inputs, one poison", || rig.run(&fresh))?;
    let mut settled = vec![rig.kernels.scrub()];
    settled.extend([a, b, set.output].map(|buffer| rig.kernels.demote(buffer, bytes)));
    settled.push(rig.kernels.flush());
    clock.part("settle: scrub, demote, flush", || rig.run(&settled))?;
    let operation = [copy(rig, set.output, a, bytes, 1)?];
    clock.part("time", || rig.time(&operation))?;
    clock.part("guards", || rig.device.verify_guards())?;
    clock.part("deliver: output to the mailbox", || {
        rig.device.read_into(set.output, mailbox)
    })?;
    clock.part("digest two inputs", || digests(rig, [a, b]))?;
    clock.part("initialise again", || rig.run(&fresh))?;
    clock.part("digest two inputs again", || digests(rig, [a, b]))?;
    clock.part("checker: inputs, allocated and made", || {
        let made = [rig.random(bytes, "a")?, rig.random(bytes, "b")?];
        rig.free(made)
    })?;
    clock.part("checker: copy of the mailbox", || {
        std::hint::black_box(mailbox.to_vec());
    });
    clock.part("checker: output to the device", || {
        rig.device.write(set.delivered, mailbox)
    })?;
    clock.part("checker: compare", || {
        let device = rig.device.as_mut();
        let actual = (set.delivered, &set.output_spec);
        let reference = (set.values, set.scales);
        (rig.kernels).doubtful(device, rig.stream, actual, reference, 1.0)
    })?;
    Ok(())
}

fn digests(rig: &mut Rig, buffers: [BufferId; 2]) -> Result<(), DeviceError> {
    for buffer in buffers {
        let device = rig.device.as_mut();
        rig.kernels.digest(device, rig.stream, buffer, 0)?; // nobody forges here
    }
    Ok(())
}
