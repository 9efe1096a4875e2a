//! When a trial has seen enough. Pure.

use super::statistics::{Estimate, interquartile_mean};

/// A quarter of the timer's tick: no time need be known better.
const ENOUGH_S: f64 = 8e-9;

/// An interquartile mean has no fewer.
const LEAST_SAMPLES: usize = 4;

/// The bounds of one trial.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// A trial is known well enough when the half width of its interval is this share of its time.
    pub enough: f64,
    /// No fewer, however well they agree, unless runs are very long.
    pub min_samples: usize,
    /// Never more.
    pub max_samples: usize,
    /// Device time of all samples together, s, that ends a trial with its least number.
    pub budget_s: f64,
    /// The same, that ends it with [`LEAST_SAMPLES`].
    pub hard_budget_s: f64,
}

impl Bounds {
    /// Whether the samples of a trial are enough.
    pub fn are_enough(&self, samples_s: &[f64]) -> bool {
        let count = samples_s.len();
        let spent_s: f64 = samples_s.iter().sum();
        if count < self.min_samples {
            return count >= LEAST_SAMPLES && spent_s >= self.hard_budget_s;
        }
        count >= self.max_samples
            || spent_s >= self.budget_s
            || interquartile_mean(samples_s).is_some_and(|estimate| self.is_known(estimate))
    }

    fn is_known(&self, estimate: Estimate) -> bool {
        estimate.half_width_s <= (self.enough * estimate.t_s).max(ENOUGH_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        enough: 0.0025,
        min_samples: 8,
        max_samples: 100,
        budget_s: 1.0,
        hard_budget_s: 4.0,
    };

    fn spread(count: usize, around: f64, by: f64) -> Vec<f64> {
        (0..count)
            .map(|i| if i % 2 == 0 { around + by } else { around - by })
            .collect()
    }

    #[test]
    fn agreeing_samples_end_a_trial_at_the_least_number() {
        assert!(!BOUNDS.are_enough(&[1e-3; 7]));
        assert!(BOUNDS.are_enough(&[1e-3; 8]));
    }

    #[test]
    fn scattered_samples_go_on_to_the_most() {
        assert!(!BOUNDS.are_enough(&spread(99, 1e-3, 1e-4)));
        assert!(BOUNDS.are_enough(&spread(100, 1e-3, 1e-4)));
    }

    #[test]
    fn long_runs_end_by_the_budget() {
        assert!(BOUNDS.are_enough(&spread(8, 0.2, 0.02)));
    }

    #[test]
    fn very_long_runs_end_with_fewer_samples() {
        assert!(!BOUNDS.are_enough(&[2.0; 3]));
        assert!(BOUNDS.are_enough(&[2.0; 4]));
        assert!(!BOUNDS.are_enough(&[0.9; 4]));
    }

    #[test]
    fn a_microsecond_need_not_be_known_better_than_the_timer_ticks() {
        // 1 us +- 10 ns: a quarter of a percent would be 2.5 ns.
        assert!(BOUNDS.are_enough(&spread(60, 1e-6, 10e-9)));
    }
}
