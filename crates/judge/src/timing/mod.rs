//! How long a correct submission takes: the supervisor's side of the timed phase.
//!
//! Several trials over all weighted shapes, in another order each time, so that a drift of the machine
//! meets all shapes alike. Each sample has inputs of its own, whose keys are derived only when it is its
//! turn. Samples chosen by the seed are verified afterwards like any untimed run.

mod statistics;
mod stop;

use domain::report::{ClockMode, Measurement, Timing, Trial};
use domain::{Mode, Phase, Progress};
use problems::subkey;
use scoring::median;

pub(crate) use self::statistics::interquartile_mean;
use self::stop::Bounds;
use crate::bench::{Bench, Interruption, Slopes};
use crate::inputs::run_keys;
use crate::outcome::ShapeOutcome;
use crate::wire::ShapeJob;

/// Of so many timed samples one is verified, chosen by the seed, besides one of the first few.
const VERIFIED_OF: u8 = 32;
const FIRST_FEW: u8 = 8;
/// Above this the second timer is not needed: nothing hides in the ends of so long a span.
const SLOPE_BELOW_S: f64 = 100e-6;
/// How far the two timers may be apart.
const AGREEMENT: f64 = 0.10;
const AGREEMENT_S: f64 = 0.1e-6;
/// What CUPTI's instrumentation adds to a node of a graph, seen by events alone: 1.0 us on an H200
/// (`docs/measurement.md`), with a margin.
const INSTRUMENTATION_S: f64 = 1.25e-6;
/// The canary may change by this much over a judging before the clock counts as unsteady.
const CANARY_BAND: f64 = 0.02;

/// What the timed phase is given.
pub(crate) struct Plan<'a> {
    /// Every shape of the judging.
    pub shapes: &'a [ShapeJob],
    /// Indices of those that are timed.
    pub weighted: Vec<usize>,
    /// How thoroughly.
    pub mode: Mode,
    /// Secret of the judging.
    pub master_seed: &'a [u8; 32],
}

/// What the timed phase found out.
pub(crate) struct Timed {
    /// By index of the shape.
    pub timings: Vec<Option<Timing>>,
    /// The machine meanwhile.
    pub measurement: Measurement,
    /// A timed run that failed or was wrong, and its shape.
    pub failed: Option<(usize, ShapeOutcome)>,
}

/// Times every weighted shape. `None` on a device that does not measure.
pub(crate) fn time(
    bench: &mut Bench<'_>,
    plan: &Plan<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Timed>, Interruption> {
    let (before, timer) = bench.state()?;
    let Some(timer) = timer else {
        return Ok(None);
    };
    let mut run = Run::new(bench, plan);
    let mut canary_s = run.bench.warm_up()?;
    let warm_up_s = canary_s.iter().sum();
    let first = canary_s.split_off(canary_s.len().saturating_sub(8));
    let mut canaries = vec![median(&first).unwrap_or(0.0)];
    let trials = trials(plan.mode);
    'trials: for trial in 0..trials {
        for (place, shape) in run.order(trial).into_iter().enumerate() {
            let total = trials * plan.weighted.len();
            progress(step(trial * plan.weighted.len() + place, total));
            if !run.trial(shape)? {
                break 'trials;
            }
        }
        let again = run.bench.warm_up()?;
        let last = &again[again.len().saturating_sub(8)..];
        canaries.push(median(last).unwrap_or(0.0));
    }
    let (timings, failed) = run.finish();
    let (after, _) = bench.state()?;
    Ok(Some(Timed {
        timings,
        failed,
        measurement: Measurement {
            timer,
            clock_mode: ClockMode::Unlocked,
            warm_up_s,
            steady: is_steady(&canaries),
            canary_s: canaries,
            before,
            after,
            ceilings: None,
        },
    }))
}

fn trials(mode: Mode) -> usize {
    match mode {
        Mode::Practice => 1,
        Mode::Ranked => 3,
    }
}

fn bounds(mode: Mode) -> Bounds {
    match mode {
        Mode::Practice => Bounds {
            min_samples: 8,
            max_samples: 30,
            budget_s: 0.1,
        },
        Mode::Ranked => Bounds {
            min_samples: 12,
            max_samples: 100,
            budget_s: 0.5,
        },
    }
}

fn step(done: usize, total: usize) -> Progress {
    Progress {
        phase: Phase::Timing,
        done: u32::try_from(done).unwrap_or(u32::MAX),
        total: u32::try_from(total).unwrap_or(u32::MAX),
    }
}

fn is_steady(canaries_s: &[f64]) -> bool {
    let least = canaries_s.iter().copied().fold(f64::INFINITY, f64::min);
    let most = canaries_s.iter().copied().fold(0.0, f64::max);
    most <= least * (1.0 + CANARY_BAND)
}

/// Whether the two timers tell of the same runs of a plan with so many operations.
fn agree(by_events_s: f64, by_timer_s: f64, operations: usize) -> bool {
    let slack_s = AGREEMENT_S + INSTRUMENTATION_S * operations as f64;
    (by_events_s - by_timer_s).abs() <= AGREEMENT * by_timer_s + slack_s
}

/// The timed phase under way.
struct Run<'b, 'e, 'p> {
    bench: &'b mut Bench<'e>,
    plan: &'p Plan<'p>,
    /// Trials by shape.
    trials: Vec<Vec<Vec<f64>>>,
    slopes: Vec<Option<Slopes>>,
    verified: Vec<u32>,
    /// Runs of each shape so far; number 0 was the untimed one.
    runs: Vec<u64>,
    failed: Option<(usize, ShapeOutcome)>,
}

impl<'b, 'e, 'p> Run<'b, 'e, 'p> {
    fn new(bench: &'b mut Bench<'e>, plan: &'p Plan<'p>) -> Self {
        let count = plan.shapes.len();
        Self {
            bench,
            plan,
            trials: vec![Vec::new(); count],
            slopes: vec![None; count],
            verified: vec![0; count],
            runs: vec![1; count],
            failed: None,
        }
    }

    /// The weighted shapes in this trial's order.
    fn order(&self, trial: usize) -> Vec<usize> {
        let mut order = self.plan.weighted.clone();
        order.sort_by_key(|&shape| {
            let id = &self.plan.shapes[shape].id;
            subkey::derive(self.plan.master_seed, id, trial as u64, "order of shapes")
        });
        order
    }

    /// One trial of one shape. `false`: a run failed, and the phase is over.
    fn trial(&mut self, shape: usize) -> Result<bool, Interruption> {
        let bounds = bounds(self.plan.mode);
        let mut samples_s = Vec::new();
        while !bounds.are_enough(&samples_s) {
            let Some(sample_s) = self.sample(shape)? else {
                return Ok(false);
            };
            samples_s.push(sample_s);
        }
        let short = median(&samples_s).is_some_and(|t| t < SLOPE_BELOW_S);
        if short && self.slopes[shape].is_none() {
            match self.bench.slope(shape)? {
                Ok(slopes) => self.slopes[shape] = slopes,
                Err(blame) => self.failed = Some((shape, blame.into())),
            }
        }
        self.trials[shape].push(samples_s);
        Ok(self.failed.is_none())
    }

    /// One sample, verified where the seed says so.
    fn sample(&mut self, shape: usize) -> Result<Option<f64>, Interruption> {
        let job = &self.plan.shapes[shape];
        let number = self.runs[shape];
        self.runs[shape] += 1;
        let keys = run_keys(job, self.plan.master_seed, number);
        let sample_s = match self.bench.time(shape, &keys)? {
            Ok(Some(sample_s)) => sample_s,
            Ok(None) => return Err(Interruption::ours("the device stopped measuring".into())),
            Err(blame) => return self.fail(shape, blame.into()),
        };
        if self.is_verified(job, number) {
            if let Err(blame) = self.bench.deliver()? {
                return self.fail(shape, blame.into());
            }
            let mismatches = self.bench.compare(shape, &keys)?;
            if !mismatches.is_empty() {
                return self.fail(shape, ShapeOutcome::compared(mismatches));
            }
            self.verified[shape] += 1;
        }
        Ok(Some(sample_s))
    }

    /// Known to nobody before the sample has ended: the seed never leaves this process.
    fn is_verified(&self, job: &ShapeJob, number: u64) -> bool {
        let draw = |number| {
            let key = subkey::derive(self.plan.master_seed, &job.id, number, "verify a sample");
            key[0]
        };
        number == 1 + u64::from(draw(0) % FIRST_FEW) || draw(number).is_multiple_of(VERIFIED_OF)
    }

    fn fail(
        &mut self,
        shape: usize,
        mut outcome: ShapeOutcome,
    ) -> Result<Option<f64>, Interruption> {
        outcome.message = outcome.message.map(|m| format!("in a timed run: {m}"));
        self.failed = Some((shape, outcome));
        Ok(None)
    }

    fn finish(self) -> (Vec<Option<Timing>>, Option<(usize, ShapeOutcome)>) {
        let timings = (0..self.trials.len())
            .map(|shape| self.timing(shape))
            .collect();
        (timings, self.failed)
    }

    fn timing(&self, shape: usize) -> Option<Timing> {
        let trials: Vec<Trial> = self.trials[shape]
            .iter()
            .filter_map(|samples_s| {
                Some(Trial {
                    t_s: interquartile_mean(samples_s)?.t_s,
                    samples_s: samples_s.clone(),
                })
            })
            .collect();
        let all: Vec<f64> = self.trials[shape].iter().flatten().copied().collect();
        let times: Vec<f64> = trials.iter().map(|trial| trial.t_s).collect();
        let t_s = median(&times)?;
        let slopes = self.slopes[shape];
        let slope_by_timer_s = slopes.and_then(|slopes| slopes.by_timer_s);
        let operations = self.plan.shapes[shape].plan.operations.len();
        Some(Timing {
            t_s,
            half_width_s: interquartile_mean(&all)?.half_width_s,
            slope_s: slopes.map(|slopes| slopes.by_events_s),
            slope_by_timer_s,
            timers_agree: slopes
                .and_then(|slopes| Some(agree(slopes.by_events_s, slopes.by_timer_s?, operations))),
            verified_samples: self.verified[shape],
            trials,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of an H200: a copy of 4 KiB and a matmul of 64 x 64, one operation each.
    #[test]
    fn timers_may_differ_by_what_instrumentation_costs_and_no_more() {
        assert!(agree(2.03e-6, 0.86e-6, 1));
        assert!(agree(4.654e-6, 3.658e-6, 1));
        assert!(!agree(20.0e-6, 3.658e-6, 1), "work hides from one timer");
        assert!(agree(20.0e-6, 3.658e-6, 13), "thirteen nodes");
        assert!(agree(67.3e-6, 61.9e-6, 1));
        assert!(!agree(0.5e-6, 3.658e-6, 1), "and the other way round");
    }

    #[test]
    fn a_canary_within_two_percent_is_steady() {
        assert!(is_steady(&[1.0, 1.019, 1.01]));
        assert!(!is_steady(&[1.0, 1.021]));
    }
}
