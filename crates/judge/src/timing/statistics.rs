//! One time out of many samples. Pure.
//!
//! The interquartile mean: the timer ticks coarsely, and a mean of the middle half averages ticks out
//! where a median would sit on one; the outer quarters, where disturbances land, do not count.

/// A location and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Interquartile mean, s.
    pub t_s: f64,
    /// Half of its 95 % confidence interval, s.
    pub half_width_s: f64,
}

/// Normal quantile of a two-sided 95 % interval.
const Z_95: f64 = 1.96;
/// Share cut off at each end.
const TRIM: f64 = 0.25;

/// Interquartile mean with its interval (Tukey and McLaughlin's for trimmed means: the deviation of
/// the winsorised samples over (1 - 2 x 0.25) sqrt(n)). `None` for fewer than four samples.
pub(crate) fn interquartile_mean(samples_s: &[f64]) -> Option<Estimate> {
    let n = samples_s.len();
    if n < 4 {
        return None;
    }
    let mut sorted = samples_s.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = (n as f64 * TRIM) as usize;
    let middle = &sorted[cut..n - cut];
    let t_s = mean(middle);

    let (low, high) = (middle[0], middle[middle.len() - 1]);
    let winsorised: Vec<f64> = sorted.iter().map(|s| s.clamp(low, high)).collect();
    let centre = mean(&winsorised);
    let squares: f64 = winsorised.iter().map(|s| (s - centre).powi(2)).sum();
    let deviation = (squares / (n as f64 - 1.0)).sqrt();
    let half_width_s = Z_95 * deviation / ((1.0 - 2.0 * TRIM) * (n as f64).sqrt());
    Some(Estimate { t_s, half_width_s })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_decides() {
        // Sorted: 1 2 | 3 4 5 6 | 7 1000; the mean of the middle is 4.5.
        let samples = [1000.0, 5.0, 3.0, 1.0, 4.0, 7.0, 2.0, 6.0];
        let estimate = interquartile_mean(&samples).unwrap();
        assert!((estimate.t_s - 4.5).abs() < 1e-12);
        // Winsorised: 3 3 3 4 5 6 6 6, mean 4.5, squares 4 x 2.25 + 2.25 x 2 + 2 x 0.25 = 14,
        // deviation sqrt(14 / 7); half width 1.96 x 1.41421 / (0.5 x 2.82843) = 1.96.
        assert!((estimate.half_width_s - 1.96).abs() < 1e-9, "{estimate:?}");
    }

    #[test]
    fn equal_samples_are_known_exactly() {
        let estimate = interquartile_mean(&[2.0; 9]).unwrap();
        assert_eq!((estimate.t_s, estimate.half_width_s), (2.0, 0.0));
        assert_eq!(interquartile_mean(&[2.0; 3]), None);
    }

    #[test]
    fn ticks_are_averaged_out() {
        // 30 % of samples one tick of 32 ns lower: the middle half holds 5 of them and 45 others.
        let samples: Vec<f64> = (0..100)
            .map(|i| if i < 30 { 1.000 } else { 1.032 })
            .collect();
        let estimate = interquartile_mean(&samples).unwrap();
        assert!((estimate.t_s - (5.0 * 1.0 + 45.0 * 1.032) / 50.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        use rand_chacha::ChaCha8Rng;
        use rand_chacha::rand_core::{Rng, SeedableRng};
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut uniform = || f64::from(random.next_u32()) / f64::from(u32::MAX);
        let mut covered = 0;
        for _ in 0..1000 {
            // Sum of twelve uniform numbers: nearly normal around 6.
            let samples: Vec<f64> = (0..40).map(|_| (0..12).map(|_| uniform()).sum()).collect();
            let estimate = interquartile_mean(&samples).unwrap();
            covered += u32::from((estimate.t_s - 6.0).abs() <= estimate.half_width_s);
        }
        assert!((920..=980).contains(&covered), "{covered} of 1000");
    }
}
