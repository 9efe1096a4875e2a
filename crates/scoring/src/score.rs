//! From times to scores: per shape, and over a distribution.
//!
//! Weights are shares; they are divided by their sum, so that rounded tables and parts of a
//! distribution (its public draws alone) are on the same scale. A shape without a time has no row:
//! the caller scores only judgings in which every shape was right and timed.

use crate::limit::Limit;

/// One timed shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The shape's id.
    pub id: String,
    /// Share of the score.
    pub weight: f64,
    /// Share of real invocations.
    pub calls: f64,
    /// Measured time, s.
    pub t_s: f64,
    /// Limit, s.
    pub t_sol_s: f64,
}

/// `T_SOL / T`. 1 is the limit.
#[must_use]
pub fn sol(t_sol_s: f64, t_s: f64) -> f64 {
    t_sol_s / t_s
}

/// Model FLOP utilisation: FLOP/s reached over the peak of the pipes the FLOP are priced at. For one
/// pipe this is `(flop / T) / peak`; for several, `flop / t_compute` is the peak of their mix.
/// `None` where nothing is computed.
#[must_use]
pub fn mfu(limit: &Limit, t_s: f64) -> Option<f64> {
    (limit.t_compute_s > 0.0).then(|| limit.t_compute_s / t_s)
}

/// Bandwidth reached over the peak: `(fused_bytes / T) / peak`.
#[must_use]
pub fn bandwidth_utilisation(limit: &Limit, t_s: f64) -> f64 {
    limit.t_memory_s / t_s
}

/// `S = (T_b - T_SOL) / ((T_b - T_SOL) + (T - T_SOL))`: 0.5 at the baseline, 1 at the limit. `None`
/// where the baseline is at the limit already. Not clipped: below the limit S exceeds 1 or loses its
/// meaning, which [`crate::plausibility()`] catches.
#[must_use]
pub fn vs_baseline(t_s: f64, t_baseline_s: f64, t_sol_s: f64) -> Option<f64> {
    let headroom = t_baseline_s - t_sol_s;
    (headroom > 0.0).then(|| headroom / (headroom + (t_s - t_sol_s)))
}

/// The weighted mean of [`vs_baseline`].
#[derive(Clone, Debug, PartialEq)]
pub struct VsBaseline {
    /// The mean over the shapes that have a value; `None` if none has.
    pub mean: Option<f64>,
    /// Shapes left out because their baseline is at the limit.
    pub left_out: Vec<String>,
}

/// The weighted mean of [`vs_baseline`] over `rows`, each with its baseline's time in s.
#[must_use]
pub fn vs_baseline_mean<'a>(rows: impl IntoIterator<Item = (&'a Row, f64)>) -> VsBaseline {
    let (mut sum, mut weights, mut left_out) = (0.0, 0.0, Vec::new());
    for (row, t_baseline_s) in rows {
        match vs_baseline(row.t_s, t_baseline_s, row.t_sol_s) {
            Some(s) => {
                sum += row.weight * s;
                weights += row.weight;
            }
            None => left_out.push(row.id.clone()),
        }
    }
    VsBaseline {
        mean: (weights > 0.0).then(|| sum / weights),
        left_out,
    }
}

/// The headline: `exp(sum w ln(max(T_SOL, launch_floor) / T))`. `None` without rows.
#[must_use]
pub fn sol_score(rows: &[Row], launch_floor_s: f64) -> Option<f64> {
    let ratios = rows
        .iter()
        .map(|r| (r.weight, floored_ratio(r, launch_floor_s)));
    weighted_geometric_mean(ratios)
}

/// The same with T_SOL alone. Shown beside the headline.
#[must_use]
pub fn strict_sol_score(rows: &[Row]) -> Option<f64> {
    sol_score(rows, 0.0)
}

/// The row with the lowest ratio of the headline, and that ratio.
#[must_use]
pub fn worst_shape(rows: &[Row], launch_floor_s: f64) -> Option<(&Row, f64)> {
    rows.iter()
        .map(|row| (row, floored_ratio(row, launch_floor_s)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// `sum calls T_SOL / sum calls T`: the share of the paid GPU time that physics required.
#[must_use]
pub fn fleet_efficiency(rows: &[Row]) -> Option<f64> {
    let required: f64 = rows.iter().map(|r| r.calls * r.t_sol_s).sum();
    let paid: f64 = rows.iter().map(|r| r.calls * r.t_s).sum();
    (paid > 0.0).then(|| required / paid)
}

/// Scores of a submission and of the baseline on one kind of draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScorePair {
    /// The submission's.
    pub submission: f64,
    /// The baseline's.
    pub baseline: f64,
}

/// A gap above this is flagged.
pub const HELD_OUT_GAP_FLAGGED: f64 = 5.0;

/// `(score / baseline's) on public draws - the same on held-out draws`, times 100. Dividing by the
/// baseline takes out what the sizes themselves do.
#[must_use]
pub fn held_out_gap(public: ScorePair, held_out: ScorePair) -> f64 {
    let relative = |pair: ScorePair| pair.submission / pair.baseline;
    100.0 * (relative(public) - relative(held_out))
}

/// Price of a million calls, in the currency of `price_per_hour`.
#[must_use]
pub fn cost_per_million_calls(rows: &[Row], price_per_hour: f64) -> Option<f64> {
    let calls: f64 = rows.iter().map(|r| r.calls).sum();
    let t_s: f64 = rows.iter().map(|r| r.calls * r.t_s).sum();
    (calls > 0.0).then(|| t_s / calls / 3600.0 * price_per_hour * 1e6)
}

/// Energy of one call, J, from a counter that rose by `energy_j` over `calls` calls.
#[must_use]
pub fn energy_per_call_j(energy_j: f64, calls: u64) -> Option<f64> {
    (calls > 0).then(|| energy_j / calls as f64)
}

/// `fused_bytes / (32 x sectors)`: 1 if every byte of every sector was needed and moved once.
/// `None` if nothing moved. Above 1 where caches held what the rule counts as one access.
#[must_use]
pub fn traffic_efficiency(fused_bytes: u64, sectors: u64) -> Option<f64> {
    (sectors > 0).then(|| fused_bytes as f64 / (SECTOR_BYTES * sectors as f64))
}

const SECTOR_BYTES: f64 = 32.0;

fn floored_ratio(row: &Row, launch_floor_s: f64) -> f64 {
    row.t_sol_s.max(launch_floor_s) / row.t_s
}

fn weighted_geometric_mean(rows: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (weight, value) in rows {
        sum += weight * value.ln();
        weights += weight;
    }
    (weights > 0.0).then(|| (sum / weights).exp())
}

#[cfg(test)]
mod tests;
