//! Trials of every weighted shape, sample by sample.

use std::time::Duration;

use device::Slope;
use domain::report::{Timing, Trial};
use domain::{Mode, Phase, Progress, Verdict, VerdictKind};
use problems::subkey;
use scoring::median;

use super::statistics::interquartile_mean;
use super::stop::Bounds;
use super::{Plan, Runner};
use crate::baseline;
use crate::execute::wire::{LiveCounts, TimedRun};
use crate::inputs::run_keys;
use crate::outcome::{Interruption, ShapeOutcome};
use crate::wire::{Blame, ShapeJob};

/// A trial's first sample is verified, its second with probability 1/2, its n-th with 1/n, but never with
/// less than one in so many. Right for the first k samples and wrong afterwards then passes a trial of n with
/// probability k/n at most, wherever it begins.
const VERIFIED_OF: usize = 16;
/// Samples that tell a slow submission from a slow moment.
const SLOW_SAMPLES: usize = 3;
/// Runs of a trial that the timer may miss something of.
const MOST_MISSED: u32 = 3;
/// Above this the second timer is not needed: nothing hides in the ends of so long a span.
const SLOPE_BELOW_S: f64 = 100e-6;
/// How far the two timers may be apart.
const AGREEMENT: f64 = 0.10;
const AGREEMENT_S: f64 = 0.1e-6;
fn bounds(mode: Mode) -> Bounds {
    match mode {
        Mode::Practice => Bounds {
            // A quick look: nothing is ranked.
            enough: 0.01,
            min_samples: 6,
            max_samples: 12,
            budget_s: 0.1,
            hard_budget_s: 0.5,
        },
        Mode::Ranked => Bounds {
            enough: 0.0025,
            min_samples: 12,
            max_samples: 100,
            budget_s: 0.5,
            hard_budget_s: 2.0,
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

/// Whether the two timers tell of the same runs.
pub(super) fn agree(by_events_s: f64, by_timer_s: f64) -> bool {
    (by_events_s - by_timer_s).abs() <= AGREEMENT * by_timer_s + AGREEMENT_S
}

/// What one timed run came to.
enum Sample {
    /// Seconds, and what was done in them, where the host function was interpreted.
    Took(f64, Option<LiveCounts>),
    /// The timer missed something.
    Missed(String),
    /// It failed or was wrong.
    Failed,
}

/// The timed phase under way.
pub(super) struct Trials<'r, 'p> {
    runner: &'r mut dyn Runner,
    plan: &'p Plan<'p>,
    /// Trials by shape.
    trials: Vec<Vec<Vec<f64>>>,
    /// The same by the number of each sample's operations, of shapes whose host function was interpreted.
    per_operation_s: Vec<Vec<Vec<f64>>>,
    walls_s: Vec<Vec<f64>>,
    slopes: Vec<Option<Slope>>,
    verified: Vec<u32>,
    missed: Vec<u32>,
    /// Runs of each shape so far; number 0 was the untimed one.
    runs: Vec<u64>,
    /// Rounds over all shapes so far, those that do not count among them.
    rounds: u64,
    failed: Option<(usize, ShapeOutcome)>,
}

impl<'r, 'p> Trials<'r, 'p> {
    pub fn new(runner: &'r mut dyn Runner, plan: &'p Plan<'p>) -> Self {
        let count = plan.shapes.len();
        Self {
            runner,
            plan,
            trials: vec![Vec::new(); count],
            per_operation_s: vec![Vec::new(); count],
            walls_s: vec![Vec::new(); count],
            slopes: vec![None; count],
            verified: vec![0; count],
            missed: vec![0; count],
            runs: vec![1; count],
            rounds: 0,
            failed: None,
        }
    }

    /// Times of the canary between two trials.
    pub fn canaries(&mut self) -> Result<Vec<f64>, Interruption> {
        self.runner.warm_up(Duration::ZERO)
    }

    /// Forgets what was measured; what was found wrong stays found.
    pub fn start_anew(&mut self) {
        self.runner.renew_wall();
        self.trials.iter_mut().for_each(Vec::clear);
        self.per_operation_s.iter_mut().for_each(Vec::clear);
        self.walls_s.iter_mut().for_each(Vec::clear);
        self.slopes.fill(None);
    }

    /// One trial of every weighted shape. `false`: a run failed, and the phase is over.
    pub fn round(
        &mut self,
        trial: usize,
        trials: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, Interruption> {
        let shapes = self.plan.weighted.len();
        self.rounds += 1;
        for (place, shape) in self.order().into_iter().enumerate() {
            progress(step(trial * shapes + place, trials * shapes));
            if !self.trial(shape)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The weighted shapes in this round's order.
    fn order(&self) -> Vec<usize> {
        let mut order = self.plan.weighted.clone();
        order.sort_by_key(|&shape| {
            let id = &self.plan.shapes[shape].id;
            subkey::derive(self.plan.master_seed, id, self.rounds, "order of shapes")
        });
        order
    }

    /// One trial of one shape. `false`: a run failed, and the phase is over.
    fn trial(&mut self, shape: usize) -> Result<bool, Interruption> {
        let bounds = bounds(self.plan.mode);
        let mut samples_s = Vec::new();
        let mut per_operation_s = Vec::new();
        let mut missed = 0;
        while !bounds.are_enough(&samples_s) {
            match self.sample(shape, samples_s.len() + 1)? {
                Sample::Took(sample_s, live) => {
                    samples_s.push(sample_s);
                    per_operation_s.extend(live.map(|l| sample_s / f64::from(l.operations.max(1))));
                }
                Sample::Missed(why) => {
                    missed += 1;
                    self.missed[shape] += 1;
                    if missed > MOST_MISSED {
                        return Err(Interruption::ours(format!("the timer: {why}")));
                    }
                }
                Sample::Failed => return Ok(false),
            }
            if let Some(outcome) = self.far_slower(shape, &samples_s) {
                self.failed = Some((shape, outcome));
                self.trials[shape].push(samples_s);
                return Ok(false);
            }
        }
        let short = median(&samples_s).is_some_and(|t| t < SLOPE_BELOW_S);
        let is_ranked = self.plan.mode == Mode::Ranked;
        if is_ranked && short && self.slopes[shape].is_none() {
            match self.runner.slope(shape)? {
                Ok(slope) => self.slopes[shape] = slope,
                Err(blame) => self.fail(shape, blame.into()),
            }
        }
        if self.failed.is_none()
            && let Err(blame) = self.runner.finish()?
        {
            self.fail(shape, blame.into());
        }
        self.trials[shape].push(samples_s);
        if !per_operation_s.is_empty() {
            self.per_operation_s[shape].push(per_operation_s);
        }
        Ok(self.failed.is_none())
    }

    /// The end of a submission that would hold the card for long to earn next to nothing.
    fn far_slower(&self, shape: usize, samples_s: &[f64]) -> Option<ShapeOutcome> {
        let id = &self.plan.shapes[shape].id;
        let baseline_s = *self.plan.baseline?.get(id)?;
        let typical_s = median(samples_s).filter(|_| samples_s.len() >= SLOW_SAMPLES)?;
        (typical_s > baseline::cut_off_s(baseline_s)).then(|| {
            ShapeOutcome::from(Blame {
                verdict: Verdict::TimeLimit,
                kind: Some(VerdictKind::SlowerThanBaseline),
                message: format!(
                    "a run takes {:.1} ms, {:.0} times as long as the baseline's {:.3} ms",
                    typical_s * 1e3,
                    typical_s / baseline_s,
                    baseline_s * 1e3
                ),
                line: None,
            })
        })
    }

    /// One sample, verified where the seed says so: known to nobody before the sample has ended, since
    /// the seed never leaves this process. `place`: which of its trial's, from 1.
    fn sample(&mut self, shape: usize, place: usize) -> Result<Sample, Interruption> {
        let job = &self.plan.shapes[shape];
        let number = self.runs[shape];
        self.runs[shape] += 1;
        let keys = run_keys(job, self.plan.master_seed, number);
        let (span, wall, live) = match self.runner.time(shape, &keys)? {
            Ok(TimedRun::Took { span, wall, live }) => (span, wall, live),
            Ok(TimedRun::Missed(why)) => return Ok(Sample::Missed(why)),
            Ok(TimedRun::NotMeasured) => {
                return Err(Interruption::ours("the device stopped measuring".into()));
            }
            Err(blame) => {
                self.fail(shape, blame.into());
                return Ok(Sample::Failed);
            }
        };
        if span > wall {
            let message = format!("the timer says {span:?} of a run that was over after {wall:?}");
            return Err(Interruption::ours(message));
        }
        if self.is_verified(job, number, place) {
            if let Err(blame) = self.runner.deliver()? {
                self.fail(shape, blame.into());
                return Ok(Sample::Failed);
            }
            let mismatches = self.runner.compare(shape, &keys)?;
            if !mismatches.is_empty() {
                self.fail(shape, ShapeOutcome::compared(mismatches));
                return Ok(Sample::Failed);
            }
            self.verified[shape] += 1;
        }
        self.walls_s[shape].push(wall.as_secs_f64());
        Ok(Sample::Took(span.as_secs_f64(), live))
    }

    fn is_verified(&self, job: &ShapeJob, number: u64, place: usize) -> bool {
        let key = subkey::derive(self.plan.master_seed, &job.id, number, "verify a sample");
        let [a, b, c, d, ..] = key;
        let drawn = u32::from_le_bytes([a, b, c, d]) as usize;
        drawn.is_multiple_of(place.min(VERIFIED_OF))
    }

    fn fail(&mut self, shape: usize, mut outcome: ShapeOutcome) {
        outcome.message = outcome.message.map(|m| format!("in a timed run: {m}"));
        self.failed = Some((shape, outcome));
    }

    /// Times of samples by the number of their operations, of shapes whose host function was interpreted.
    pub fn per_operation_s(&self) -> Vec<Option<Vec<Vec<f64>>>> {
        let of_shape = |trials: &Vec<Vec<f64>>| (!trials.is_empty()).then(|| trials.clone());
        self.per_operation_s.iter().map(of_shape).collect()
    }

    pub fn finish(self) -> (Vec<Option<Timing>>, Option<(usize, ShapeOutcome)>) {
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
        let slope = self.slopes[shape];
        let slope_s = slope.map(|slope| slope.by_events.as_secs_f64());
        let slope_by_timer_s = slope.and_then(|slope| Some(slope.by_timer?.as_secs_f64()));
        Some(Timing {
            t_s,
            half_width_s: interquartile_mean(&all)?.half_width_s,
            slope_s,
            slope_by_timer_s,
            timers_agree: slope_s
                .and_then(|by_events_s| Some(agree(by_events_s, slope_by_timer_s?))),
            host_wall_s: median(&self.walls_s[shape]),
            missed_samples: self.missed[shape],
            verified_samples: self.verified[shape],
            trials,
        })
    }
}
