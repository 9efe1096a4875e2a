//! Inside the `__execute` child: owns a device, runs every shape, compares.

use std::collections::BTreeMap;

use device::{Device, EmulatedDevice, ModuleImage};
use domain::Verdict;

use super::shape::{Bench, blame, judge_shape};
use super::wire::{Code, ExecuteJob, ExecuteReply, ShapeDone, ShapeOutcome};

/// Answers one request of the parent.
pub(crate) fn answer(request: &[u8], progress: &mut dyn FnMut(&[u8])) -> Result<Vec<u8>, String> {
    let job: ExecuteJob = serde_json::from_slice(request).map_err(|e| e.to_string())?;
    let mut done = 0;
    let finished = run_shapes(&job, &mut |outcome| {
        done += 1;
        let message = serde_json::to_vec(&ShapeDone { done, outcome });
        progress(&message.expect("an outcome is plain data"));
    });
    serde_json::to_vec(&ExecuteReply { finished }).map_err(|e| e.to_string())
}

fn run_shapes(job: &ExecuteJob, report: &mut dyn FnMut(ShapeOutcome)) -> Result<(), String> {
    let mut reference = bench(&job.reference, job).map_err(|e| format!("reference: {e}"))?;
    let mut submission = match bench(&job.submission, job) {
        Ok(bench) => bench,
        Err(error) => {
            report(blame(error)?);
            return Ok(());
        }
    };
    for shape in &job.shapes {
        let outcome = judge_shape(&mut submission, &mut reference, shape, &job.master_seed)?;
        let verdict = outcome.verdict;
        report(outcome);
        if ends_judging(verdict) {
            break;
        }
    }
    Ok(())
}

/// A wrong answer on one shape still leaves something to learn from the next; running out of time or
/// memory would only do so again.
fn ends_judging(verdict: Verdict) -> bool {
    !matches!(
        verdict,
        Verdict::Accepted | Verdict::WrongAnswer | Verdict::RuntimeError
    )
}

fn bench<'a>(code: &'a Code, job: &ExecuteJob) -> Result<Bench<'a>, device::DeviceError> {
    let mut device: Box<dyn Device> = Box::new(EmulatedDevice::new(device::emulated::Settings {
        limits: job.limits.clone(),
        memory_limit_bytes: job.memory_limit_bytes,
        instruction_fuel: job.instruction_fuel,
    }));
    let module = device.load(ModuleImage {
        ptx: &code.ptx,
        cubin: &[],
    })?;
    let stream = device.stream()?;
    let lowered_names: &BTreeMap<String, String> = &code.lowered_names;
    Ok(Bench {
        device,
        stream,
        module,
        lowered_names,
    })
}
