//! Measuring a card itself, with the judge's own kernels: what calibration and experiments share.
//!
//! Each measurement runs in a `__gauge` child of its own, confined like an executor, so that a fault of
//! one ends no other. The exception is a run under a profiler, which has to see the process that it
//! starts: [`here`].

pub(crate) mod child;
#[cfg(test)]
pub(crate) mod pretend;
pub(crate) mod rig;
pub(crate) mod summary;
pub(crate) mod wire;

use std::collections::BTreeMap;
use std::time::Duration;

use device::OpenRequest;
use domain::DeviceName;
use sandbox::{ChildCommand, Policy};
use serde::de::DeserializeOwned;

use crate::child::GAUGE_ROLE;
use crate::compile::kernels;
use crate::compile::wire::{KernelSet, KernelsJob};
use crate::policy::driving;
use crate::wire::Code;
use crate::{Environment, Gpu};
use wire::{GaugeRequest, Task};

/// Wall clock of one measurement; the longest takes some ten seconds.
const WALL: Duration = Duration::from_secs(90);
const COMPILE_WALL: Duration = Duration::from_secs(120);
const MAX_RESPONSE_BYTES: u64 = 16 << 20;

/// Performs a task on the environment's GPU, in a child.
pub(crate) fn perform<Reply: DeserializeOwned>(
    environment: &Environment,
    task: Task,
) -> Result<Reply, String> {
    let lane = environment
        .lane
        .as_ref()
        .ok_or("there is no GPU to measure")?;
    let gpu = lane.gpu();
    let open = gpu.open_request();
    let request = GaugeRequest {
        code: code(environment, gpu.name, &task)?,
        open: open.clone(),
        task,
    };
    let request = serde_json::to_vec(&request).expect("a request is plain data");
    let command = ChildCommand {
        program: environment.program.clone(),
        role: GAUGE_ROLE.to_owned(),
        policy: policy(environment, &open),
    };
    let answer = command.run(&request, &mut |_| {}, Some(&environment.cancel));
    let answer = answer.map_err(|failure| failure.to_string())?;
    let reply: Result<Reply, String> =
        serde_json::from_slice(&answer.response).map_err(|e| e.to_string())?;
    reply
}

/// Performs a task in this process, for a profiler that watches it. Only compiling has a child, and not
/// even that where the code is cached.
pub(crate) fn here(environment: &Environment, task: Task) -> Result<serde_json::Value, String> {
    let lane = environment
        .lane
        .as_ref()
        .ok_or("there is no GPU to measure")?;
    let gpu = lane.gpu();
    let gpu = Gpu {
        card: None, // this process sees every card
        ..gpu.clone()
    };
    child::perform(GaugeRequest {
        code: code(environment, gpu.name, &task)?,
        open: gpu.open_request(),
        task,
    })
}

fn code(
    environment: &Environment,
    device: DeviceName,
    task: &Task,
) -> Result<BTreeMap<KernelSet, Code>, String> {
    let mut code = BTreeMap::new();
    for set in task.sets() {
        let job = KernelsJob::of(set, device, &environment.toolchain);
        let compiled = kernels(environment, &job, COMPILE_WALL);
        code.insert(set, compiled.map_err(|interruption| interruption.message)?);
    }
    Ok(code)
}

fn policy(environment: &Environment, open: &OpenRequest) -> Policy {
    Policy {
        cpu_s: WALL.as_secs() * 8, // the driver has threads of its own
        ..driving(
            &open.target,
            WALL,
            MAX_RESPONSE_BYTES,
            environment.allow_unconfined,
        )
    }
}
