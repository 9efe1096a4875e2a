//! How long a correct submission takes: the supervisor's side of the timed phase.
//!
//! Several trials over all weighted shapes, in another order each time, so that a drift of the machine
//! meets all shapes alike. Each sample has inputs of its own, whose keys are derived only when it is its
//! turn. Samples chosen by the seed are verified afterwards like any untimed run.

mod statistics;
mod stop;
#[cfg(test)]
mod tests;
mod trials;

use std::time::Duration;

use device::Slope;
use domain::report::{ClockMode, Measurement, OutputMismatch, Timing};
use domain::{MachineState, Mode, Progress, TimerRef};
use scoring::median;

pub(crate) use self::statistics::interquartile_mean;
use self::trials::Trials;
use crate::baseline::BaselineTimes;
use crate::execute::wire::TimedRun;
use crate::inputs::RunKeys;
use crate::outcome::{Interruption, ShapeOutcome};
use crate::wire::{Blame, ShapeJob};

/// Times that all trials may start anew.
const MOST_RESTARTS: u32 = 3;
/// The canary may change by this much before the clock counts as another one.
const CANARY_BAND: f64 = 0.02;
/// How much of a warm-up's end counts as the canary's time.
const CANARY_RUNS: usize = 8;
/// The first warm-up lasts this long, however steady the clock is: one that idled may be steadily slow.
const FIRST_WARM_UP: Duration = Duration::from_millis(100);

/// What the timed phase is given.
pub(crate) struct Plan<'a> {
    /// Every shape of the judging.
    pub shapes: &'a [ShapeJob],
    /// Indices of those that are timed.
    pub weighted: Vec<usize>,
    /// How thoroughly.
    pub mode: Mode,
    /// How long the baseline takes, where that is known.
    pub baseline: Option<&'a BaselineTimes>,
    /// Secret of the judging.
    pub master_seed: &'a [u8; 32],
}

/// What the timed phase found out.
pub(crate) struct Timed {
    /// By index of the shape.
    pub timings: Vec<Option<Timing>>,
    /// Where the host function was interpreted: times of samples by the number of their operations, trial
    /// by trial. By index of the shape.
    pub per_operation_s: Vec<Option<Vec<Vec<f64>>>>,
    /// The machine meanwhile.
    pub measurement: Measurement,
    /// A timed run that failed or was wrong, and its shape.
    pub failed: Option<(usize, ShapeOutcome)>,
}

/// What runs the submission. An inner error is the submission's fault.
pub(crate) trait Runner {
    /// What the device's sensors say, and what measures.
    fn state(&mut self) -> Result<(Option<MachineState>, Option<TimerRef>), Interruption>;

    /// Keeps the device busy until its clock is steady, and for `least`; times of the canary, s.
    fn warm_up(&mut self, least: Duration) -> Result<Vec<f64>, Interruption>;

    /// One timed run.
    fn time(
        &mut self,
        shape: usize,
        keys: &RunKeys,
    ) -> Result<Result<TimedRun, Blame>, Interruption>;

    /// Checks what the last timed run left; its outputs can then be compared.
    fn deliver(&mut self) -> Result<Result<(), Blame>, Interruption>;

    /// Compares outputs that were delivered with what the reference makes of the same inputs.
    fn compare(
        &mut self,
        shape: usize,
        keys: &RunKeys,
    ) -> Result<Vec<OutputMismatch>, Interruption>;

    /// The time of one run by the slope, over what timed runs have used. `None` where there is none.
    fn slope(&mut self, shape: usize) -> Result<Result<Option<Slope>, Blame>, Interruption>;

    /// Gives the timed runs' buffers back and checks what lies around them.
    fn finish(&mut self) -> Result<Result<(), Blame>, Interruption>;

    /// Grants the submission all its time again: what is done anew by the judge's own wish is not its.
    fn renew_wall(&mut self);
}

/// Times every weighted shape. `None` on a device that does not measure.
pub(crate) fn time(
    runner: &mut dyn Runner,
    plan: &Plan<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Timed>, Interruption> {
    let (before, timer) = runner.state()?;
    let Some(timer) = timer else {
        return Ok(None);
    };
    let warm_up = runner.warm_up(FIRST_WARM_UP)?;
    let mut run = Trials::new(runner, plan);
    let mut canaries = vec![canary(&warm_up)];
    let trials = trials(plan.mode);
    let mut restarts = 0;
    let mut steady = true;
    let mut trial = 0;
    while trial < trials && run.round(trial, trials, progress)? {
        canaries.push(canary(&run.canaries()?));
        trial += 1;
        // Those around the trials that count.
        steady = is_one_clock(&canaries[canaries.len() - 1 - trial..]);
        if !steady && plan.mode == Mode::Ranked {
            if restarts == MOST_RESTARTS {
                return Err(unstable(&canaries));
            }
            // Trials at different clocks have no common time.
            restarts += 1;
            run.start_anew();
            trial = 0;
        }
    }
    let per_operation_s = run.per_operation_s();
    let (timings, failed) = run.finish();
    let (after, _) = runner.state()?;
    Ok(Some(Timed {
        timings,
        per_operation_s,
        failed,
        measurement: Measurement {
            timer,
            clock_mode: ClockMode::Unlocked,
            warm_up_s: warm_up.iter().sum(),
            canary_s: canaries,
            steady,
            restarts,
            before,
            after,
            ceilings: None,
        },
    }))
}

/// The canary's time at the end of a warm-up.
fn canary(warm_up_s: &[f64]) -> f64 {
    let last = &warm_up_s[warm_up_s.len().saturating_sub(CANARY_RUNS)..];
    median(last).unwrap_or(0.0)
}

fn unstable(canaries_s: &[f64]) -> Interruption {
    let micros: Vec<String> = canaries_s
        .iter()
        .map(|s| format!("{:.2}", s * 1e6))
        .collect();
    Interruption::ours(format!(
        "unstable machine: the clock kept moving; a kernel of known work took {} us",
        micros.join(", ")
    ))
}

fn trials(mode: Mode) -> usize {
    match mode {
        Mode::Practice => 1,
        Mode::Ranked => 3,
    }
}

fn is_one_clock(canaries_s: &[f64]) -> bool {
    let least = canaries_s.iter().copied().fold(f64::INFINITY, f64::min);
    let most = canaries_s.iter().copied().fold(0.0, f64::max);
    most <= least * (1.0 + CANARY_BAND)
}
