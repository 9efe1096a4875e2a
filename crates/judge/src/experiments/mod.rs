//! Experiments that decide how to measure: each a question and one table, by the judge's own kernels,
//! rotation, demotion, flush and timer. Nothing of a judging depends on them.

mod cupti_overhead;
mod evict_last;
mod flush;
mod ncu;
mod sample_cost;
mod sets;
mod table;
mod timers;
mod warm_up;

#[cfg(test)]
mod tests;

use device::DeviceError;
use domain::DeviceName;

use crate::Environment;
use crate::measuring::rig::Rig;
use crate::measuring::wire::Task;
use crate::measuring::{self};

pub use table::{Cell, Column, Table};

/// One experiment.
pub struct Experiment {
    /// What it is called by.
    pub name: &'static str,
    /// What it decides.
    pub question: &'static str,
    run: fn(&mut Rig) -> Result<Table, DeviceError>,
}

/// Every experiment, in the order in which they run.
pub const ALL: &[Experiment] = &[
    Experiment {
        name: "timers",
        question: "Do CUPTI's spans agree with the slope of events, taken while CUPTI is suspended, \
                   from 1 us to 10 ms?",
        run: timers::run,
    },
    Experiment {
        name: "ncu",
        question: "Does the profiler's gpu__time_duration agree with CUPTI's spans within 2 % or \
                   0.2 us? (tests/gpu/ncu.sh compares the two)",
        run: ncu::run,
    },
    Experiment {
        name: "flush",
        question: "How much do the ways to empty the L2 bias a cold copy, against the judge's?",
        run: flush::run,
    },
    Experiment {
        name: "evict_last",
        question: "What does a kernel gain that asks the L2 to keep its data, or fetches the next \
                   run's, and which defence takes the gain away?",
        run: evict_last::run,
    },
    Experiment {
        name: "warm_up",
        question: "How long must a card be busy after it was idle until its clock is steady?",
        run: warm_up::run,
    },
    Experiment {
        name: "sample_cost",
        question: "Where does the host's time go that one timed and verified sample takes?",
        run: sample_cost::run,
    },
    Experiment {
        name: "cupti_overhead",
        question: "What does CUPTI cost a launch and a node of a graph, and does suspending it help?",
        run: cupti_overhead::run,
    },
];

/// Runs one experiment on the environment's GPU, in a child of its own.
///
/// # Errors
/// A sentence: no such experiment, or what went wrong on the device.
pub fn measure(environment: &Environment, name: &str) -> Result<Table, String> {
    find(name)?;
    measuring::perform(environment, Task::Experiment(name.to_owned()))
}

/// The same in this process, unconfined, for a profiler that watches it.
///
/// # Errors
/// As [`measure`].
pub fn measure_here(environment: &Environment, name: &str) -> Result<Table, String> {
    find(name)?;
    let table = measuring::here(environment, Task::Experiment(name.to_owned()))?;
    serde_json::from_value(table).map_err(|e| e.to_string())
}

/// Model and identity of the driver's GPU number `ordinal`, asked in this process.
///
/// # Errors
/// A sentence: no driver, no such GPU, or a model that is not in the contract.
pub fn gpu_here(ordinal: u32) -> Result<(DeviceName, String), String> {
    let gpus = device::list_gpus().map_err(|e| e.to_string())?;
    let gpu = gpus.into_iter().find(|gpu| gpu.ordinal == ordinal);
    let gpu = gpu.ok_or_else(|| format!("there is no GPU with number {ordinal}"))?;
    let name = gpu
        .device
        .ok_or_else(|| format!("{} is of no known model", gpu.name))?;
    Ok((name, gpu.uuid))
}

pub(crate) fn run(name: &str, rig: &mut Rig) -> Result<Table, String> {
    let experiment = find(name)?;
    let warmed = rig.warm_up().and_then(|()| (experiment.run)(rig));
    warmed.map_err(|e| e.to_string())
}

fn find(name: &str) -> Result<&'static Experiment, String> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|e| e.name).collect();
        format!(
            "there is no experiment `{name}`; there are: {}",
            known.join(" ")
        )
    })
}
