//! The timed phase over a runner that is told what to find.

use domain::{Verdict, VerdictKind};

use super::trials::agree;
use super::*;
use crate::execute::wire::LiveCounts;
use crate::host_code::HostWork;

type Spans = Box<dyn FnMut(usize, usize) -> TimedRun>;

/// A submission and its machine, as scripted.
struct Pretended {
    /// By shape and by how many of its samples came before.
    spans: Spans,
    /// The canary's time at each warm-up; the last one stays.
    canaries_s: Vec<f64>,
    /// Whether a sample is right: by shape and how many of its trial came before.
    is_right: fn(usize, usize) -> bool,
    slope: Option<Slope>,
    measures: bool,

    samples: Vec<usize>,
    in_trial: usize,
    /// Shapes, in the order in which their trials began.
    trials: Vec<usize>,
    warm_ups: Vec<Duration>,
    delivered: usize,
    slopes: usize,
    renewed: usize,
}

const SHAPES: [&str; 3] = ["edge", "small", "large"];

fn took(micros: f64) -> TimedRun {
    let span = Duration::from_secs_f64(micros * 1e-6);
    TimedRun::Took {
        span,
        wall: span + Duration::from_micros(300),
        live: None,
    }
}

fn pretended() -> Pretended {
    Pretended {
        spans: Box::new(|shape, _| took([0.0, 10.0, 200.0][shape])),
        canaries_s: vec![114e-6],
        is_right: |_, _| true,
        slope: None,
        measures: true,
        samples: vec![0; SHAPES.len()],
        in_trial: 0,
        trials: Vec::new(),
        warm_ups: Vec::new(),
        delivered: 0,
        slopes: 0,
        renewed: 0,
    }
}

impl Runner for Pretended {
    fn state(&mut self) -> Result<(Option<MachineState>, Option<TimerRef>), Interruption> {
        let timer = self.measures.then(|| TimerRef {
            name: "pretended".to_owned(),
            cupti: None,
            driver: "0".to_owned(),
            unranked: None,
        });
        Ok((None, timer))
    }

    fn warm_up(&mut self, least: Duration) -> Result<Vec<f64>, Interruption> {
        let at = self.warm_ups.len().min(self.canaries_s.len() - 1);
        self.warm_ups.push(least);
        Ok(vec![self.canaries_s[at]; 20])
    }

    fn time(&mut self, shape: usize, _: &RunKeys) -> Result<Result<TimedRun, Blame>, Interruption> {
        if self.in_trial == 0 {
            self.trials.push(shape);
        }
        let run = (self.spans)(shape, self.samples[shape]);
        self.samples[shape] += 1;
        self.in_trial += 1;
        Ok(Ok(run))
    }

    fn deliver(&mut self) -> Result<Result<(), Blame>, Interruption> {
        self.delivered += 1;
        Ok(Ok(()))
    }

    fn compare(&mut self, shape: usize, _: &RunKeys) -> Result<Vec<OutputMismatch>, Interruption> {
        let is_right = (self.is_right)(shape, self.in_trial - 1);
        let mismatch = OutputMismatch {
            output: "y".to_owned(),
            count: 1,
            elements: 8,
            nan: 0,
            inf: 0,
            likely_cause: None,
            unwritten: 0,
            max_abs_error: None,
            max_rel_error: None,
            first: Vec::new(),
        };
        Ok(if is_right { Vec::new() } else { vec![mismatch] })
    }

    fn slope(&mut self, _: usize) -> Result<Result<Option<Slope>, Blame>, Interruption> {
        self.slopes += 1;
        Ok(Ok(self.slope))
    }

    fn finish(&mut self) -> Result<Result<(), Blame>, Interruption> {
        self.in_trial = 0;
        Ok(Ok(()))
    }

    fn renew_wall(&mut self) {
        self.renewed += 1;
    }
}

fn shapes() -> Vec<ShapeJob> {
    let job = |id: &str| ShapeJob {
        id: id.to_owned(),
        parameters: Vec::new(),
        work: HostWork::Planned(launch_plan::Plan::default()),
    };
    SHAPES.into_iter().map(job).collect()
}

/// Times the two weighted shapes, of a judging with this seed.
fn timed_with(
    runner: &mut Pretended,
    mode: Mode,
    baseline: Option<&BaselineTimes>,
    seed: u8,
) -> Result<Option<Timed>, Interruption> {
    let plan = Plan {
        shapes: &shapes(),
        weighted: vec![1, 2],
        mode,
        baseline,
        master_seed: &[seed; 32],
    };
    time(runner, &plan, &mut |_| {})
}

fn timed(runner: &mut Pretended, mode: Mode) -> Timed {
    let timed = timed_with(runner, mode, None, 1);
    timed.expect("nothing goes wrong").expect("it measures")
}

fn refused(runner: &mut Pretended) -> String {
    let interruption = timed_with(runner, Mode::Ranked, None, 1).err().unwrap();
    assert_eq!(interruption.verdict, Verdict::JudgeError);
    interruption.message
}

#[test]
fn a_ranked_judging_has_three_trials_of_every_weighted_shape() {
    let mut runner = pretended();
    let timed = timed(&mut runner, Mode::Ranked);
    assert!(timed.failed.is_none());
    assert_eq!(timed.timings[0], None, "an edge shape has no weight");
    let [small, large] = [1, 2].map(|shape| timed.timings[shape].as_ref().unwrap());
    assert!((small.t_s - 10e-6).abs() < 1e-12 && (large.t_s - 200e-6).abs() < 1e-12);
    assert_eq!((small.trials.len(), large.trials.len()), (3, 3));
    let mut rounds: Vec<_> = runner.trials.chunks(2).map(<[usize]>::to_vec).collect();
    rounds.iter_mut().for_each(|round| round.sort_unstable());
    assert_eq!(rounds, [[1, 2], [1, 2], [1, 2]]);
    let measurement = timed.measurement;
    assert!(measurement.steady && measurement.restarts == 0);
    assert_eq!(
        measurement.canary_s.len(),
        4,
        "before, and after each trial"
    );
    assert!(runner.warm_ups[0] > Duration::ZERO && runner.warm_ups[1..] == [Duration::ZERO; 3]);
}

#[test]
fn the_median_of_the_trials_counts() {
    let mut runner = pretended();
    // 12 samples a trial: one trial is disturbed as a whole.
    runner.spans = Box::new(|_, before| took(if before < 12 { 300.0 } else { 200.0 }));
    let timed = timed(&mut runner, Mode::Ranked);
    let large = timed.timings[2].as_ref().unwrap();
    assert!((large.t_s - 200e-6).abs() < 1e-12, "{}", large.t_s);
    assert!((large.trials[0].t_s - 300e-6).abs() < 1e-12);
}

#[test]
fn shapes_take_turns_in_an_order_of_the_seeds() {
    let firsts = (0..16).flat_map(|seed| {
        let mut runner = pretended();
        timed_with(&mut runner, Mode::Ranked, None, seed).unwrap();
        [runner.trials[0], runner.trials[2], runner.trials[4]]
    });
    let small_first = firsts.filter(|shape| *shape == 1).count();
    assert!((12..=36).contains(&small_first), "{small_first} of 48");
}

#[test]
fn another_clock_starts_all_trials_anew() {
    let mut runner = pretended();
    // The clock rises while the second trial runs.
    runner.canaries_s = vec![150e-6, 150e-6, 114e-6];
    let timed = timed(&mut runner, Mode::Ranked);
    assert!(timed.measurement.steady);
    assert_eq!((timed.measurement.restarts, runner.renewed), (1, 1));
    assert_eq!(runner.trials.len(), 2 * (2 + 3));
    assert_eq!(timed.timings[1].as_ref().unwrap().trials.len(), 3);
}

#[test]
fn a_clock_that_never_rests_is_the_machines_fault() {
    let mut runner = pretended();
    runner.canaries_s = (0..20)
        .map(|i| (114.0 + 5.0 * f64::from(i)) * 1e-6)
        .collect();
    assert_eq!(
        refused(&mut runner),
        "unstable machine: the clock kept moving; a kernel of known work took \
         114.00, 119.00, 124.00, 129.00, 134.00 us"
    );
}

#[test]
fn practice_takes_a_moving_clock_as_it_is_and_says_so() {
    let mut runner = pretended();
    runner.canaries_s = vec![150e-6, 114e-6];
    let timed = timed(&mut runner, Mode::Practice);
    assert!(!timed.measurement.steady);
    assert_eq!((timed.measurement.restarts, runner.trials.len()), (0, 2));
}

#[test]
fn a_run_that_the_timer_missed_is_done_again() {
    let mut runner = pretended();
    runner.spans = Box::new(|_, before| match before {
        3 | 5 => TimedRun::Missed("a record was lost".to_owned()),
        _ => took(50.0),
    });
    let timed = timed(&mut runner, Mode::Ranked);
    let small = timed.timings[1].as_ref().unwrap();
    assert_eq!(small.missed_samples, 2);
    assert!(
        small
            .trials
            .iter()
            .all(|trial| trial.samples_s == [50e-6; 12])
    );
}

#[test]
fn a_timer_that_keeps_missing_is_the_judges_fault() {
    let mut runner = pretended();
    runner.spans = Box::new(|_, _| TimedRun::Missed("a record was lost".to_owned()));
    assert_eq!(refused(&mut runner), "the timer: a record was lost");
    assert_eq!(runner.samples.iter().sum::<usize>(), 4);
}

#[test]
fn no_run_is_longer_than_what_passed_meanwhile() {
    let mut runner = pretended();
    runner.spans = Box::new(|_, _| TimedRun::Took {
        span: Duration::from_micros(20),
        wall: Duration::from_micros(19),
        live: None,
    });
    assert_eq!(
        refused(&mut runner),
        "the timer says 20µs of a run that was over after 19µs"
    );
}

#[test]
fn far_slower_than_the_baseline_ends_early_with_the_numbers() {
    let mut runner = pretended();
    runner.spans = Box::new(|_, _| took(300_000.0));
    let baseline = BaselineTimes::from([("small".to_owned(), 0.01), ("large".to_owned(), 0.01)]);
    let timed = timed_with(&mut runner, Mode::Ranked, Some(&baseline), 1);
    let (_, outcome) = timed.unwrap().unwrap().failed.unwrap();
    assert_eq!(
        (outcome.verdict, outcome.kind),
        (Verdict::TimeLimit, Some(VerdictKind::SlowerThanBaseline))
    );
    assert_eq!(
        outcome.message.unwrap(),
        "a run takes 300.0 ms, 30 times as long as the baseline's 10.000 ms"
    );
    assert_eq!(runner.samples.iter().sum::<usize>(), 3, "three tell enough");

    let mut runner = pretended();
    runner.spans = Box::new(|_, _| took(190_000.0));
    let timed = timed_with(&mut runner, Mode::Ranked, Some(&baseline), 1);
    assert!(
        timed.unwrap().unwrap().failed.is_none(),
        "19 times is slow, and judged"
    );
}

#[test]
fn what_is_wrong_in_a_timed_run_is_wrong() {
    let mut runner = pretended();
    runner.is_right = |_, _| false;
    let timed = timed(&mut runner, Mode::Ranked);
    let (_, outcome) = timed.failed.unwrap();
    assert_eq!(outcome.verdict, Verdict::WrongAnswer);
    let message = outcome.message.unwrap();
    assert!(
        message.starts_with("in a timed run: `y`: 1 of 8"),
        "{message}"
    );
    assert_eq!(runner.delivered, 1, "a trial's first sample is verified");
}

/// Right for a trial's first four samples, wrong in the other eight: passes one with 4/12, two shapes of
/// three trials with (4/12)^6, one in 729.
#[test]
fn wrong_after_a_good_start_is_found() {
    let mut unnoticed = 0;
    for seed in 0..=255 {
        let mut runner = pretended();
        runner.is_right = |_, before| before < 4;
        let timed = timed_with(&mut runner, Mode::Ranked, None, seed);
        unnoticed += usize::from(timed.unwrap().unwrap().failed.is_none());
    }
    assert!(unnoticed <= 3, "{unnoticed} of 256");
}

#[test]
fn the_slope_is_asked_for_where_runs_are_short_and_ranked() {
    let slope = |micros| Duration::from_secs_f64(micros * 1e-6);
    let mut runner = pretended();
    runner.slope = Some(Slope {
        by_events: slope(20.0),
        by_timer: Some(slope(10.1)),
    });
    let short = timed(&mut runner, Mode::Ranked)
        .timings
        .swap_remove(1)
        .unwrap();
    assert_eq!(runner.slopes, 1, "of the short shape, once");
    assert_eq!(short.timers_agree, Some(false));
    assert_eq!(
        (short.slope_s, short.slope_by_timer_s),
        (Some(20e-6), Some(10.1e-6))
    );

    let mut runner = pretended();
    let short = timed(&mut runner, Mode::Practice)
        .timings
        .swap_remove(1)
        .unwrap();
    assert_eq!((runner.slopes, short.timers_agree), (0, None));
}

#[test]
fn a_device_that_does_not_measure_has_no_timed_phase() {
    let mut runner = pretended();
    runner.measures = false;
    let timed = timed_with(&mut runner, Mode::Ranked, None, 1).unwrap();
    assert!(timed.is_none() && runner.samples == [0, 0, 0]);
}

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

/// Of a convergence loop other inputs take other numbers of rounds, which is no unsteadiness.
#[test]
fn samples_that_were_interpreted_are_told_by_their_operations_too() {
    let mut runner = pretended();
    runner.spans = Box::new(|shape, before| {
        let rounds = if before % 5 == 0 { 40 } else { 4 };
        match took(f64::from(rounds) * 5.0) {
            TimedRun::Took { span, wall, .. } if shape == 2 => TimedRun::Took {
                span,
                wall,
                live: Some(LiveCounts {
                    read_backs: rounds,
                    launches: rounds,
                    operations: 2 * rounds,
                }),
            },
            planned => planned,
        }
    });
    let timed = timed(&mut runner, Mode::Practice);
    assert_eq!(timed.per_operation_s[1], None);
    let trials = timed.per_operation_s[2].as_ref().unwrap();
    let samples_s = &timed.timings[2].as_ref().unwrap().trials[0].samples_s;
    assert!(scoring::steadiness(samples_s).is_err());
    assert_eq!(trials[0].len(), samples_s.len());
    assert!(scoring::steadiness(&trials[0]).is_ok());
    assert!(trials[0].iter().all(|s| (s - 2.5e-6).abs() < 1e-12));
}
