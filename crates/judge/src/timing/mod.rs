//! How long a correct submission takes: the supervisor's side of the timed phase.
//!
//! Several trials over all weighted shapes, in another order each time, so that a drift of the machine
//! meets all shapes alike. Each sample has inputs of its own, whose keys are derived only when it is its
//! turn. Samples chosen by the seed are verified afterwards like any untimed run.

mod statistics;
mod stop;

use domain::report::{ClockMode, Measurement, Timing, Trial};
use domain::{Mode, Phase, Progress, Verdict, VerdictKind};
use problems::subkey;
use scoring::median;

pub(crate) use self::statistics::interquartile_mean;
use self::stop::Bounds;
use crate::baseline::{self, BaselineTimes};
use crate::bench::{Bench, Slopes};
use crate::execute::wire::TimedRun;
use crate::inputs::run_keys;
use crate::outcome::{Interruption, ShapeOutcome};
use crate::wire::{Blame, ShapeJob};

/// Of so many timed samples one is verified, chosen by the seed, besides one of each trial's first few.
const VERIFIED_OF: u8 = 32;
/// No trial has fewer samples.
const FIRST_FEW: usize = stop::LEAST_SAMPLES;
/// Samples that tell a slow submission from a slow moment.
const SLOW_SAMPLES: usize = 3;
/// Runs of a trial that the timer may miss something of.
const MOST_MISSED: u32 = 3;
/// Times that all trials may start anew.
const MOST_RESTARTS: u32 = 3;
/// Above this the second timer is not needed: nothing hides in the ends of so long a span.
const SLOPE_BELOW_S: f64 = 100e-6;
/// How far the two timers may be apart.
const AGREEMENT: f64 = 0.10;
const AGREEMENT_S: f64 = 0.1e-6;
/// The canary may change by this much before the clock counts as another one.
const CANARY_BAND: f64 = 0.02;
/// How much of a warm-up's end counts as the canary's time.
const CANARY_RUNS: usize = 8;

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
    let warm_up = run.bench.warm_up()?;
    let mut canaries = vec![canary(&warm_up)];
    let trials = trials(plan.mode);
    let mut restarts = 0;
    let mut steady = true;
    let mut trial = 0;
    while trial < trials && run.round(trial, trials, progress)? {
        canaries.push(canary(&run.bench.warm_up()?));
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
    let (timings, failed) = run.finish();
    let (after, _) = bench.state()?;
    Ok(Some(Timed {
        timings,
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

fn is_one_clock(canaries_s: &[f64]) -> bool {
    let least = canaries_s.iter().copied().fold(f64::INFINITY, f64::min);
    let most = canaries_s.iter().copied().fold(0.0, f64::max);
    most <= least * (1.0 + CANARY_BAND)
}

/// Whether the two timers tell of the same runs.
fn agree(by_events_s: f64, by_timer_s: f64) -> bool {
    (by_events_s - by_timer_s).abs() <= AGREEMENT * by_timer_s + AGREEMENT_S
}

/// What one timed run came to.
enum Sample {
    /// Seconds.
    Took(f64),
    /// The timer missed something.
    Missed(String),
    /// It failed or was wrong.
    Failed,
}

/// The timed phase under way.
struct Run<'b, 'e, 'p> {
    bench: &'b mut Bench<'e>,
    plan: &'p Plan<'p>,
    /// Trials by shape.
    trials: Vec<Vec<Vec<f64>>>,
    walls_s: Vec<Vec<f64>>,
    slopes: Vec<Option<Slopes>>,
    verified: Vec<u32>,
    missed: Vec<u32>,
    /// Runs of each shape so far; number 0 was the untimed one.
    runs: Vec<u64>,
    /// Rounds over all shapes so far, those that do not count among them.
    rounds: u64,
    failed: Option<(usize, ShapeOutcome)>,
}

impl<'b, 'e, 'p> Run<'b, 'e, 'p> {
    fn new(bench: &'b mut Bench<'e>, plan: &'p Plan<'p>) -> Self {
        let count = plan.shapes.len();
        Self {
            bench,
            plan,
            trials: vec![Vec::new(); count],
            walls_s: vec![Vec::new(); count],
            slopes: vec![None; count],
            verified: vec![0; count],
            missed: vec![0; count],
            runs: vec![1; count],
            rounds: 0,
            failed: None,
        }
    }

    /// Forgets what was measured; what was found wrong stays found.
    fn start_anew(&mut self) {
        self.bench.renew_wall();
        self.trials.iter_mut().for_each(Vec::clear);
        self.walls_s.iter_mut().for_each(Vec::clear);
        self.slopes.fill(None);
    }

    /// One trial of every weighted shape. `false`: a run failed, and the phase is over.
    fn round(
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
        let certain = self.certainly_verified(shape);
        let mut samples_s = Vec::new();
        let mut missed = 0;
        while !bounds.are_enough(&samples_s) {
            let is_certain = samples_s.len() == certain;
            match self.sample(shape, is_certain)? {
                Sample::Took(sample_s) => samples_s.push(sample_s),
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
            match self.bench.slope(shape)? {
                Ok(slopes) => self.slopes[shape] = slopes,
                Err(blame) => self.fail(shape, blame.into()),
            }
        }
        if self.failed.is_none()
            && let Err(blame) = self.bench.finish()?
        {
            self.fail(shape, blame.into());
        }
        self.trials[shape].push(samples_s);
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

    /// Which of a trial's samples is verified whatever else is.
    fn certainly_verified(&self, shape: usize) -> usize {
        let id = &self.plan.shapes[shape].id;
        let key = subkey::derive(
            self.plan.master_seed,
            id,
            self.rounds,
            "verify one of a trial",
        );
        usize::from(key[0]) % FIRST_FEW
    }

    /// One sample, verified where the seed says so: known to nobody before the sample has ended, since
    /// the seed never leaves this process.
    fn sample(&mut self, shape: usize, is_certain: bool) -> Result<Sample, Interruption> {
        let job = &self.plan.shapes[shape];
        let number = self.runs[shape];
        self.runs[shape] += 1;
        let keys = run_keys(job, self.plan.master_seed, number);
        let (span, wall) = match self.bench.time(shape, &keys)? {
            Ok(TimedRun::Took { span, wall }) => (span, wall),
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
        if is_certain || self.is_drawn(job, number) {
            if let Err(blame) = self.bench.deliver()? {
                self.fail(shape, blame.into());
                return Ok(Sample::Failed);
            }
            let mismatches = self.bench.compare(shape, &keys)?;
            if !mismatches.is_empty() {
                self.fail(shape, ShapeOutcome::compared(mismatches));
                return Ok(Sample::Failed);
            }
            self.verified[shape] += 1;
        }
        self.walls_s[shape].push(wall.as_secs_f64());
        Ok(Sample::Took(span.as_secs_f64()))
    }

    fn is_drawn(&self, job: &ShapeJob, number: u64) -> bool {
        let key = subkey::derive(self.plan.master_seed, &job.id, number, "verify a sample");
        key[0].is_multiple_of(VERIFIED_OF)
    }

    fn fail(&mut self, shape: usize, mut outcome: ShapeOutcome) {
        outcome.message = outcome.message.map(|m| format!("in a timed run: {m}"));
        self.failed = Some((shape, outcome));
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
        Some(Timing {
            t_s,
            half_width_s: interquartile_mean(&all)?.half_width_s,
            slope_s: slopes.map(|slopes| slopes.by_events_s),
            slope_by_timer_s,
            timers_agree: slopes
                .and_then(|slopes| Some(agree(slopes.by_events_s, slopes.by_timer_s?))),
            host_wall_s: median(&self.walls_s[shape]),
            missed_samples: self.missed[shape],
            verified_samples: self.verified[shape],
            trials,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of an H200 (docs/measurement.md): vector additions of 65 536 and of 16.8 million elements.
    #[test]
    fn timers_differ_by_a_tenth_and_a_tenth_of_a_microsecond_at_most() {
        assert!(agree(1.98e-6, 1.81e-6));
        assert!(agree(64.97e-6, 63.53e-6));
        assert!(!agree(2.10e-6, 1.81e-6));
        assert!(!agree(20.0e-6, 3.658e-6), "work hides from one timer");
        assert!(!agree(0.5e-6, 3.658e-6), "and the other way round");
    }

    #[test]
    fn canaries_within_two_percent_are_of_one_clock() {
        assert!(is_one_clock(&[1.0, 1.019, 1.01]));
        assert!(!is_one_clock(&[1.0, 1.021]));
        assert!(!is_one_clock(&[1.0, 1.015, 1.03]), "a slow drift");
    }
}
