//! Whole kernels as NVRTC compiled them (fixtures/*.cu), checked against the host.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Arguments, Device};
use emulator::Limits;

const BASIC: &str = include_str!("fixtures/basic.ptx");

fn ramp(count: usize) -> Vec<f32> {
    (0..count)
        .map(|at| ((at * 37 % 101) as f32 - 50.0) / 16.0)
        .collect()
}

#[test]
fn vector_add_with_a_ragged_end() {
    let mut device = Device::new(BASIC);
    let count = 1000;
    let (x, y) = (ramp(count), ramp(2 * count));
    let a = device.floats("a", &x);
    let b = device.floats("b", &y[..count]);
    let c = device.floats("c", &vec![0.0; count]);
    let arguments = Arguments::new()
        .pointer(a)
        .pointer(b)
        .pointer(c)
        .int(count as i32);
    let outcome = device
        .launch("vector_add", [8, 1, 1], [128, 1, 1], &arguments)
        .unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(a, b)| a + b).collect();
    assert_eq!(device.read_floats(c, count), expected);
    assert_eq!(outcome.counters.flop_f32, 1000);
    // 31 whole warps of 4 sectors, and one of 8 lanes: 1 sector.
    assert_eq!(outcome.counters.global_store_sectors, 31 * 4 + 1);
    assert_eq!(outcome.counters.global_load_sectors, 2 * (31 * 4 + 1));
    assert_eq!(outcome.counters.global_requests, 3 * 32);
}

#[test]
fn softmax_agrees_with_doubles() {
    let mut device = Device::new(BASIC);
    let (rows, count) = (5, 1000);
    let values = ramp(rows * count);
    let x = device.floats("x", &values);
    let y = device.floats("y", &vec![0.0; rows * count]);
    let arguments = Arguments::new().pointer(x).pointer(y).int(count as i32);
    device
        .launch("softmax", [rows as u32, 1, 1], [256, 1, 1], &arguments)
        .unwrap();
    let found = device.read_floats(y, rows * count);
    for (row, found) in values.chunks(count).zip(found.chunks(count)) {
        let most = row.iter().copied().fold(f32::MIN, f32::max);
        let exponentials: Vec<f64> = row.iter().map(|&x| f64::from(x - most).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        for (found, expected) in found.iter().zip(&exponentials) {
            let expected = expected / sum;
            assert!(
                (f64::from(*found) - expected).abs() <= 1e-6 * expected,
                "{found} {expected}"
            );
        }
    }
}

fn matmul(limits: &Limits) -> (Vec<f32>, Vec<f32>, emulator::Counters) {
    let mut device = Device::new(BASIC);
    let (m, n, k) = (37, 50, 29);
    let (left, right) = (ramp(m * k), ramp(k * n));
    let a = device.floats("A", &left);
    let b = device.floats("B", &right);
    let c = device.floats("C", &vec![-1.0; m * n]);
    let arguments = Arguments::new()
        .pointer(a)
        .pointer(b)
        .pointer(c)
        .int(m as i32)
        .int(n as i32)
        .int(k as i32);
    let kernel = "_Z6matmulILi16EEvPKfS1_Pfiii";
    let outcome = device
        .launch_with(kernel, [4, 3, 1], [16, 16, 1], 0, &arguments, limits)
        .unwrap();
    let mut expected = vec![0.0f32; m * n];
    for row in 0..m {
        for column in 0..n {
            expected[row * n + column] = (0..k).fold(0.0f32, |sum, at| {
                left[row * k + at].mul_add(right[at * n + column], sum)
            });
        }
    }
    (device.read_floats(c, m * n), expected, outcome.counters)
}

#[test]
fn tiled_matmul_is_bit_exact() {
    let (found, expected, counters) = matmul(&Limits::default());
    assert_eq!(found, expected);
    assert_eq!(counters.blocks, 12);
    assert_eq!(counters.warps, 12 * 8);
    // Two tiles of k, two barriers each.
    assert_eq!(counters.barriers, 12 * 8 * 2 * 2);
}

#[test]
fn host_threads_change_nothing() {
    let (one, _, counters) = matmul(&Limits::default());
    let (four, _, same) = matmul(&Limits {
        threads: 4,
        ..Limits::default()
    });
    assert_eq!(one, four);
    assert_eq!(counters, same);
}
