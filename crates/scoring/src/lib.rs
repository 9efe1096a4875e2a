//! T_SOL, SOL, MFU, aggregation and plausibility. Pure: formulas and device descriptions, no I/O.
//!
//! Units are in the names: `_s`, `_bytes`, `_flop`, `_flop_per_s`, `_j`. Scores and ratios have none.
//! Work is a [`Cost`]; with a [`Device`] it has a [`Limit`]; with a time it has a ratio; over a
//! distribution, ratios have a score. Scores are never clipped: a time below the limit is held by
//! [`plausibility()`] instead.
//!
//! | figure | formula |
//! | --- | --- |
//! | t_compute | max over units of the sum over their pipes of flop / peak; units: FP32, FP64, tensor |
//! | t_memory | fused bytes / peak bandwidth |
//! | T_SOL | max(t_compute, t_memory) |
//! | SOL | T_SOL / T |
//! | SOL score | exp(sum w ln(max(T_SOL, launch floor) / T)) |
//! | traffic efficiency | fused bytes / (32 x global sectors) |
//!
//! A score is bound to [`SCORING_VERSION`]: formulas and device figures together.

pub mod device;
pub mod limit;
pub mod occupancy;
pub mod pipe;
pub mod plausibility;
pub mod score;

pub use device::{Device, device, devices};
pub use limit::{Limit, limit};
pub use occupancy::{occupancy, occupancy_limiter, resident_blocks};
pub use pipe::{Cost, Pipe, Unit};
pub use plausibility::{Implausible, median, plausibility, steadiness};
pub use score::{
    Row, bandwidth_utilisation, cost_per_million_calls, energy_per_call_j, fleet_efficiency,
    held_out_gap, mfu, sol, sol_score, strict_sol_score, traffic_efficiency, vs_baseline,
    vs_baseline_mean, worst_shape,
};

/// Version of the formulas and device figures. Raised with any change that moves a score.
pub const SCORING_VERSION: u32 = 1;
