//! Many samples in three numbers.

use scoring::median;
use serde::{Deserialize, Serialize};

use crate::timing::interquartile_mean;

/// What samples come to, in their unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// Median.
    pub median: f64,
    /// Mean of the middle half: the judge's estimator, which averages the timer's ticks out.
    pub middle: f64,
    /// Distance of the quartiles, relative to the median.
    pub spread: f64,
    /// How many.
    pub samples: usize,
}

impl Summary {
    /// Of at least one sample.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = median(&sorted)?;
        let quartile = |quarters: usize| sorted[(sorted.len() - 1) * quarters / 4];
        let width = quartile(3) - quartile(1);
        Some(Self {
            median,
            middle: interquartile_mean(samples).map_or(median, |estimate| estimate.t_s),
            spread: if median > 0.0 { width / median } else { 0.0 },
            samples: samples.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quartiles_are_told_relative_to_the_median() {
        let summary = Summary::of(&[5.0, 1.0, 2.0, 4.0, 3.0]).unwrap();
        assert!((summary.median - 3.0).abs() < 1e-12 && summary.samples == 5);
        assert!((summary.spread - 2.0 / 3.0).abs() < 1e-12, "{summary:?}");
        assert_eq!(Summary::of(&[]), None);
    }
}
