//! Times nobody should believe without looking: too short for the card, or not one number.
//!
//! Scores are never clipped into plausibility; the judging is held for a person instead.

use domain::report::Bound;

use crate::device::Device;
use crate::limit::limit;
use crate::pipe::Cost;

/// T is impossible, or not one number: a person decides.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Implausible {
    /// Faster than the card at its highest clock.
    #[error("{t_s:.3e} s is below the least plausible time, {limit_s:.3e} s ({reason})")]
    BelowLimit {
        /// Measured, s.
        t_s: f64,
        /// Least plausible, s.
        limit_s: f64,
        /// What sets the limit.
        reason: LimitReason,
    },
    /// One sample is far above the others: work may have been moved into it.
    #[error(
        "sample {index} took {sample_s:.3e} s, above three times the median of {median_s:.3e} s"
    )]
    Spike {
        /// Which sample, from 0.
        index: usize,
        /// Its time, s.
        sample_s: f64,
        /// The median, s.
        median_s: f64,
    },
}

/// What sets the least plausible time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReason {
    /// The busiest unit at the highest clock.
    Compute,
    /// The memory's bandwidth.
    Memory,
    /// Nine tenths of an empty plan.
    LaunchFloor,
}

impl std::fmt::Display for LimitReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Compute => "compute at the highest clock",
            Self::Memory => "memory bandwidth",
            Self::LaunchFloor => "an empty launch",
        })
    }
}

/// Holds times below `max(T_SOL at the highest clock, 0.9 launch_floor)`.
pub fn plausibility(t_s: f64, cost: &Cost, device: &Device) -> Result<(), Implausible> {
    let fastest = limit(cost, &device.at_max_clock());
    let floor_s = 0.9 * device.launch_floor_s;
    let (limit_s, reason) = if fastest.t_sol_s < floor_s {
        (floor_s, LimitReason::LaunchFloor)
    } else if fastest.bound == Bound::Compute {
        (fastest.t_sol_s, LimitReason::Compute)
    } else {
        (fastest.t_sol_s, LimitReason::Memory)
    };
    if t_s >= limit_s {
        return Ok(());
    }
    Err(Implausible::BelowLimit {
        t_s,
        limit_s,
        reason,
    })
}

/// Holds samples above three times their median. The caller first takes out those for which the
/// machine gave a reason (throttling, another process).
pub fn steadiness(samples_s: &[f64]) -> Result<(), Implausible> {
    let Some(median_s) = median(samples_s) else {
        return Ok(());
    };
    let spike = samples_s.iter().position(|s| *s > 3.0 * median_s);
    match spike {
        Some(index) => Err(Implausible::Spike {
            index,
            sample_s: samples_s[index],
            median_s,
        }),
        None => Ok(()),
    }
}

/// The middle one; the mean of the middle two for an even number. `None` without any.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted[middle - 1] + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use domain::DeviceName;

    use super::*;
    use crate::device::device;
    use crate::pipe::Pipe;

    #[test]
    fn times_below_the_card_at_its_highest_clock_are_held() {
        let h200 = device(DeviceName::H200);
        let gemm = Cost {
            flop: BTreeMap::from([(Pipe::Bf16, 137_438_953_472.0)]),
            fp32_product_flop: 0.0,
            fused_bytes: 100_663_296,
        };
        // 132 * 4096 * 1.98e9 = 1.07053056e15 FLOP/s: 128.383961 us. The datasheet's 138.97 us is beatable.
        assert_eq!(plausibility(130e-6, &gemm, h200), Ok(()));
        let held = plausibility(128e-6, &gemm, h200).unwrap_err();
        let Implausible::BelowLimit {
            limit_s, reason, ..
        } = held
        else {
            panic!("{held}");
        };
        assert!((limit_s - 128.383_961e-6).abs() < 1e-11, "{limit_s}");
        assert_eq!(reason, LimitReason::Compute);
    }

    #[test]
    fn nothing_is_faster_than_memory_or_an_empty_launch() {
        let h200 = device(DeviceName::H200);
        let copy = |fused_bytes| Cost {
            fused_bytes,
            ..Cost::default()
        };
        // 4.8 MB at 4.8 TB/s = 1 us.
        assert_eq!(plausibility(1.01e-6, &copy(4_800_000), h200), Ok(()));
        let held = plausibility(0.99e-6, &copy(4_800_000), h200).unwrap_err();
        assert!(held.to_string().contains("memory bandwidth"), "{held}");
        // A copy of nothing: 0.9 * 0.6 us = 0.54 us.
        assert_eq!(plausibility(0.55e-6, &copy(0), h200), Ok(()));
        let held = plausibility(0.53e-6, &copy(0), h200).unwrap_err();
        assert!(held.to_string().contains("an empty launch"), "{held}");
    }

    #[test]
    fn a_sample_of_three_medians_is_held() {
        assert_eq!(steadiness(&[1.0, 1.1, 0.9, 2.9]), Ok(()));
        // The median of 0.9, 1.0, 1.1, 4.0 is 1.05.
        assert_eq!(
            steadiness(&[1.0, 1.1, 4.0, 0.9]),
            Err(Implausible::Spike {
                index: 2,
                sample_s: 4.0,
                median_s: 1.05
            })
        );
        assert_eq!(steadiness(&[]), Ok(()));
        assert_eq!(steadiness(&[5.0]), Ok(()));
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
