//! Hand-worked cases.

use std::collections::BTreeMap;

use domain::DeviceName;

use super::*;
use crate::device::device;
use crate::limit::limit;
use crate::pipe::{Cost, Pipe};

fn row(id: &str, weight: f64, calls: f64, t_s: f64, t_sol_s: f64) -> Row {
    Row {
        id: id.to_owned(),
        weight,
        calls,
        t_s,
        t_sol_s,
    }
}

fn close(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() <= 1e-9 * expected.abs().max(1e-6),
        "{actual} is not {expected}"
    );
}

#[test]
fn sol_and_mfu_of_a_gemm() {
    // 4096^3 in bf16 on an H200 in 193 us: limit 138.967597 us, so SOL = MFU = 0.72004.
    let gemm = Cost {
        flop: BTreeMap::from([(Pipe::Bf16, 137_438_953_472.0)]),
        fp32_product_flop: 0.0,
        fused_bytes: 100_663_296,
    };
    let limit = limit(&gemm, device(DeviceName::H200));
    let t_s = 193e-6;
    assert!((sol(limit.t_sol_s, t_s) - 0.720_039).abs() < 1e-6);
    // (137438953472 / 193e-6) / 989e12 = 0.720039
    assert!((mfu(&limit, t_s).unwrap() - 0.720_039).abs() < 1e-6);
    // 20.97152 / 193
    assert!((bandwidth_utilisation(&limit, t_s) - 0.108_661).abs() < 1e-6);
}

#[test]
fn a_copy_has_no_mfu() {
    let copy = Cost {
        fused_bytes: 2 << 30,
        ..Cost::default()
    };
    let limit = limit(&copy, device(DeviceName::H200));
    assert_eq!(mfu(&limit, 500e-6), None);
    // 447.392427 / 500
    assert!((bandwidth_utilisation(&limit, 500e-6) - 0.894_785).abs() < 1e-6);
}

#[test]
fn vs_baseline_is_half_at_the_baseline_and_one_at_the_limit() {
    // T_SOL = 1, T_b = 3: headroom 2.
    assert_eq!(vs_baseline(3.0, 3.0, 1.0), Some(0.5));
    assert_eq!(vs_baseline(1.0, 3.0, 1.0), Some(1.0));
    // Half of the headroom closed: T = 2, S = 2 / (2 + 1) = 1 / (2 - 0.5).
    close(vs_baseline(2.0, 3.0, 1.0).unwrap(), 2.0 / 3.0);
    // A share f of the headroom closed gives 1 / (2 - f).
    for f in [0.0, 0.1, 0.25, 0.9] {
        close(
            vs_baseline(3.0 - 2.0 * f, 3.0, 1.0).unwrap(),
            1.0 / (2.0 - f),
        );
    }
    // Far slower: towards 0. T = 201: 2 / (2 + 200).
    close(vs_baseline(201.0, 3.0, 1.0).unwrap(), 2.0 / 202.0);
}

#[test]
fn half_the_baseline_time_where_headroom_is_large_and_where_it_is_small() {
    // With r = T_b / T_SOL, a time of T_b / 2 gives S = (r - 1) / (1.5 r - 2).
    // r = 10.8, the median of the published set: 9.8 / 14.2 = 0.6901. r = 30: 29 / 43 = 0.6744.
    close(vs_baseline(5.4, 10.8, 1.0).unwrap(), 9.8 / 14.2);
    close(vs_baseline(15.0, 30.0, 1.0).unwrap(), 29.0 / 43.0);
    // r below 2 puts T_b / 2 under the limit. Nothing is clipped:
    // r = 1.708: 0.708 / 0.562 = 1.2598; r = 1.185: 0.185 / -0.2225 = -0.8315.
    assert!((vs_baseline(0.854, 1.708, 1.0).unwrap() - 1.26).abs() < 1e-3);
    assert!((vs_baseline(0.5925, 1.185, 1.0).unwrap() + 0.83).abs() < 2e-3);
}

#[test]
fn a_baseline_at_the_limit_is_left_out_and_named() {
    assert_eq!(vs_baseline(1.0, 1.0, 1.0), None);
    assert_eq!(vs_baseline(1.0, 0.9, 1.0), None);
    let rows = [
        row("a", 0.2, 0.2, 3.0, 1.0),
        row("b", 0.3, 0.3, 2.0, 1.0),
        row("c", 0.5, 0.5, 1.0, 1.0),
    ];
    // a: S = 0.5 at T_b = 3. b: T_b = 3, S = 2/3. c: T_b = T_SOL.
    // (0.2 * 0.5 + 0.3 * 2/3) / 0.5 = 0.6
    let found = vs_baseline_mean(rows.iter().zip([3.0, 3.0, 1.0]));
    close(found.mean.unwrap(), 0.6);
    assert_eq!(found.left_out, ["c"]);
    let none = vs_baseline_mean(rows[2..].iter().zip([1.0]));
    assert_eq!(none.mean, None);
}

#[test]
fn the_headline_is_a_weighted_geometric_mean() {
    // Ratios 0.25 and 0.81 with weights 1/2: sqrt(0.25 * 0.81) = 0.45.
    let rows = [
        row("a", 0.5, 0.9, 40e-6, 10e-6),
        row("b", 0.5, 0.1, 100e-6, 81e-6),
    ];
    close(sol_score(&rows, 0.6e-6).unwrap(), 0.45);
    close(strict_sol_score(&rows).unwrap(), 0.45);
    let (worst, ratio) = worst_shape(&rows, 0.6e-6).unwrap();
    assert_eq!(worst.id, "a");
    close(ratio, 0.25);
    // Fleet: (0.9 * 10 + 0.1 * 81) / (0.9 * 40 + 0.1 * 100) = 17.1 / 46.
    close(fleet_efficiency(&rows).unwrap(), 17.1 / 46.0);
    assert_eq!(sol_score(&[], 0.6e-6), None);
    assert_eq!(fleet_efficiency(&[]), None);
    assert!(worst_shape(&[], 0.6e-6).is_none());
}

#[test]
fn a_quarter_weighs_a_quarter() {
    // 0.5^0.25 * 1^0.75 = 0.840896
    let rows = [row("a", 0.25, 0.5, 2.0, 1.0), row("b", 0.75, 0.5, 1.0, 1.0)];
    assert!((strict_sol_score(&rows).unwrap() - 0.840_896_415).abs() < 1e-9);
}

#[test]
fn the_floor_keeps_the_scale_honest_for_tiny_shapes() {
    // 8 rows of rms_norm: T_SOL 0.05 us, best possible T about 0.6 us.
    let rows = [row("tiny", 1.0, 1.0, 0.6e-6, 0.05e-6)];
    close(sol_score(&rows, 0.6e-6).unwrap(), 1.0);
    close(strict_sol_score(&rows).unwrap(), 0.05 / 0.6);
}

#[test]
fn a_part_of_the_distribution_is_on_the_same_scale() {
    let rows = [row("a", 0.3, 0.5, 2.0, 1.0), row("b", 0.2, 0.5, 2.0, 1.0)];
    close(strict_sol_score(&rows).unwrap(), 0.5);
}

#[test]
fn the_gap_cancels_what_sizes_do() {
    // Public 0.60 against 0.50, held-out 0.54 against 0.48: 100 * (1.2 - 1.125) = 7.5: flagged.
    let pair = |submission, baseline| ScorePair {
        submission,
        baseline,
    };
    let gap = held_out_gap(pair(0.60, 0.50), pair(0.54, 0.48));
    close(gap, 7.5);
    assert!(gap > HELD_OUT_GAP_FLAGGED);
    // Both harder by the same factor: no gap.
    assert!(held_out_gap(pair(0.60, 0.50), pair(0.30, 0.25)).abs() < 1e-9);
}

#[test]
fn cost_and_energy() {
    // Half of the calls take 1 ms, half 3 ms: 2 ms at 3.60 an hour = 2e-6 a call, 2 a million.
    let rows = [
        row("a", 0.5, 0.5, 1e-3, 1e-4),
        row("b", 0.5, 0.5, 3e-3, 1e-4),
    ];
    close(cost_per_million_calls(&rows, 3.6).unwrap(), 2.0);
    assert_eq!(energy_per_call_j(50.0, 1000), Some(0.05));
    assert_eq!(energy_per_call_j(50.0, 0), None);
}

#[test]
fn traffic_efficiency_of_counted_sectors() {
    // vector_add of 1024 elements: 3 * 4096 bytes = 384 sectors of 32: all used.
    assert_eq!(traffic_efficiency(12_288, 384), Some(1.0));
    // A stride of 8 floats takes a sector an element: 3 * 1024.
    assert_eq!(traffic_efficiency(12_288, 3072), Some(0.125));
    assert_eq!(traffic_efficiency(12_288, 0), None);
}
