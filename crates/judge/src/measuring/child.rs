//! Inside the `__gauge` child: one device, one measurement, one answer.

use serde_json::Value;

use super::rig::{Extent, Rig};
use super::wire::{GaugeRequest, Task};
use crate::calibration::{Finding, Findings};
use crate::{calibration, experiments};

/// Answers one request of the parent.
pub(crate) fn answer(request: &[u8]) -> Result<Vec<u8>, String> {
    let request: GaugeRequest = serde_json::from_slice(request).map_err(|e| e.to_string())?;
    serde_json::to_vec(&perform(request)).map_err(|e| e.to_string())
}

/// Opens the device and measures. The answer's type depends on the task.
pub(crate) fn perform(request: GaugeRequest) -> Result<Value, String> {
    let mut rig = Rig::open(&request.open, &request.code, Extent::FULL)?;
    let answer = match request.task {
        Task::State => serde_json::to_value(calibration::card(&mut rig)?),
        Task::Memory => calibrated(&mut rig, calibration::memory::measure),
        Task::Vector => calibrated(&mut rig, calibration::vector::measure),
        Task::Tensor(pipe, _) => calibrated(&mut rig, |rig| {
            vec![calibration::tensor::measure(rig, pipe)]
        }),
        Task::Experiment(name) => serde_json::to_value(experiments::run(&name, &mut rig)?),
    };
    answer.map_err(|e| e.to_string())
}

fn calibrated(
    rig: &mut Rig,
    measure: impl FnOnce(&mut Rig) -> Vec<Finding>,
) -> serde_json::Result<Value> {
    // A card that cannot warm up tells so with its first figure.
    let _warmed = rig.warm_up();
    let findings = measure(rig);
    let state = rig.device.state().ok().flatten();
    serde_json::to_value(Findings { findings, state })
}
