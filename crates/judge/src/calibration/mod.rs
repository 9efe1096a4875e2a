//! Calibration: what one card reaches at best, by the judge's own kernels and timer.
//!
//! The results are a second roof beside the datasheet's peaks, which scores are made with. Figures of
//! one card hold for that card alone. Each group of figures is measured in a child of its own, and one
//! that fails is told as missing and leaves the others.

mod figure;
mod file;
pub(crate) mod memory;
mod rates;
pub(crate) mod tensor;
pub(crate) mod vector;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::report::Ceilings;
use domain::{DeviceName, MachineState, TimerRef};
use scoring::Pipe;
use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::measuring::rig::Rig;
use crate::measuring::wire::Task;
use crate::measuring::{self};

pub(crate) use figure::{Figure, Finding, Findings};

/// The `schema` field of every file this code writes.
const SCHEMA: &str = "lightspeed.calibration/1";

/// What a card reached, and under which circumstances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Always `lightspeed.calibration/1`.
    pub schema: String,
    /// The card.
    pub gpu_uuid: String,
    /// Its model, in the contract's words.
    pub device: DeviceName,
    /// Its model, in the vendor's.
    pub model: String,
    /// What measured.
    pub timer: TimerRef,
    /// The figures.
    pub ceilings: Ceilings,
    /// Distance of the quartiles over the median, by figure.
    pub spreads: BTreeMap<String, f64>,
    /// How the best figure was reached, by figure.
    pub ways: BTreeMap<String, String>,
    /// Why a figure is missing, by figure.
    pub missing: BTreeMap<String, String>,
    /// Sensors before.
    pub before: Option<MachineState>,
    /// Sensors at the end of the last measurement.
    pub after: Option<MachineState>,
}

/// One figure beside the datasheet's.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// The unit of both figures.
    pub unit: &'static str,
    /// The figure.
    pub measured: f64,
    /// The datasheet's peak, where there is one.
    pub peak: Option<f64>,
}

/// Measures the environment's GPU, which nobody else may use meanwhile. `on_step` is told what is
/// measured next.
///
/// # Errors
/// A sentence that says why nothing at all could be measured.
pub fn calibrate(
    environment: &Environment,
    on_step: &mut dyn FnMut(&str),
) -> Result<Calibration, String> {
    let lane = environment
        .lane
        .as_ref()
        .ok_or("there is no GPU to calibrate")?;
    let _held = lane.hold(&environment.cancel)?;
    let gpu = lane.gpu();
    let limits = &scoring::device(gpu.name).limits;
    let card: Card = measuring::perform(environment, Task::State)?;
    if card.timer.name != "cupti" {
        let why = card.timer.unranked.unwrap_or_default();
        return Err(format!("nothing can be calibrated: {why}"));
    }
    let mut calibration = Calibration {
        schema: SCHEMA.to_owned(),
        gpu_uuid: gpu.uuid.clone(),
        device: gpu.name,
        model: limits.name.clone(),
        timer: card.timer,
        ceilings: Ceilings {
            calibrated_at: environment.clock.now(),
            ..Ceilings::default()
        },
        spreads: BTreeMap::new(),
        ways: BTreeMap::new(),
        missing: BTreeMap::new(),
        before: card.state,
        after: None,
    };
    for (task, figures) in tasks(gpu.name) {
        let names: Vec<String> = figures.iter().map(|figure| figure.label()).collect();
        on_step(&format!("measuring {}", names.join(", ")));
        match measuring::perform::<Findings>(environment, task) {
            Ok(findings) => calibration.keep(findings),
            Err(why) => {
                let missing = figures.iter().map(|figure| (figure.name(), why.clone()));
                calibration.missing.extend(missing);
            }
        }
    }
    Ok(calibration)
}

/// What is measured on a model, a child each, and the figures that come of it.
fn tasks(name: DeviceName) -> Vec<(Task, Vec<Figure>)> {
    let device = scoring::device(name);
    let pipes = || device.peak_flop_per_s.keys().copied();
    let is_vector = |pipe: &Pipe| matches!(pipe, Pipe::Fp32 | Pipe::Fp64);
    let mut tasks = vec![
        (Task::Memory, memory::FIGURES.to_vec()),
        (
            Task::Vector,
            pipes().filter(is_vector).map(Figure::Rate).collect(),
        ),
    ];
    for pipe in pipes().filter(|pipe| !is_vector(pipe)) {
        if let Some(product) = tensor::product(pipe, &device.limits) {
            tasks.push((Task::Tensor(pipe, product.set), vec![Figure::Rate(pipe)]));
        }
    }
    tasks
}

impl Calibration {
    fn keep(&mut self, findings: Findings) {
        self.after = findings.state.or(self.after.take());
        for Finding { figure, reading } in findings.findings {
            let name = figure.name();
            match reading {
                Ok(reading) => {
                    figure.put(reading.value, &mut self.ceilings);
                    self.spreads.insert(name.clone(), reading.spread);
                    self.ways.insert(name, reading.way);
                }
                Err(why) => {
                    self.missing.insert(name, why);
                }
            }
        }
    }

    /// Every figure that was measured, beside the datasheet's.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        figure::rows(&self.ceilings, scoring::device(self.device))
    }
}

/// Ceilings in one line: each with its share of the datasheet's peak, where that has one.
#[must_use]
pub fn in_one_line(ceilings: &Ceilings, device: DeviceName) -> String {
    let parts = figure::rows(ceilings, scoring::device(device))
        .into_iter()
        .map(|row| {
            let share = row.share().map(|share| format!(" ({share:.2} of peak)"));
            format!(
                "{} {}{}",
                row.what,
                row.measured_text(),
                share.unwrap_or_default()
            )
        });
    parts.collect::<Vec<_>>().join(", ")
}

/// The card as it is now.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Card {
    pub state: Option<MachineState>,
    pub timer: TimerRef,
}

pub(crate) fn card(rig: &mut Rig) -> Result<Card, String> {
    let timer = rig
        .device
        .timer()
        .ok_or("nothing on this device measures")?;
    let state = rig.device.state().map_err(|e| e.to_string())?;
    Ok(Card { state, timer })
}
