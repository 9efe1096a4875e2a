//! Graphs, tables, calls that only run time knows, warps that part, blocks that wait for each other.

use std::collections::{BTreeMap, VecDeque};

use super::super::forms::{Agreement, Class};
use super::numbers::Chance;
use super::whole::{Source, Whole};

pub fn sources() -> Vec<Source> {
    vec![
        Source {
            name: "simulations",
            text: include_str!("simulations.cu"),
            kernels: vec![n_body(), k_means_step(), floyd_warshall(), fourier()],
        },
        Source {
            name: "sparse",
            text: include_str!("sparse.cu"),
            kernels: vec![spmv(), breadth_first(), hash_table()],
        },
        Source {
            name: "calls",
            text: include_str!("calls.cu"),
            kernels: vec![function_pointers(), virtual_calls()],
        },
        Source {
            name: "warps",
            text: include_str!("warps.cu"),
            kernels: vec![votes(), named_barriers(), relay()],
        },
    ]
}

fn n_body() -> Whole {
    let bodies = Chance(51).floats(4 * 128, 0.0, 3.0);
    let body = |i: usize| -> [f64; 4] { std::array::from_fn(|at| f64::from(bodies[4 * i + at])) };
    let pull = |i: usize| {
        let own = body(i);
        let mut sum = [0.0; 3];
        for other in (0..128).map(body) {
            let apart: [f64; 3] = std::array::from_fn(|at| other[at] - own[at]);
            let square: f64 = apart.iter().map(|d| d * d).sum();
            let pull = other[3] / (square + 0.5).powf(1.5);
            (0..3).for_each(|at| sum[at] += pull * apart[at]);
        }
        [sum[0], sum[1], sum[2], own[3]].map(|value| value as f32)
    };
    let pulls: Vec<f32> = (0..128).flat_map(pull).collect();
    Whole::new("n_body", 2, 64)
        .array(&bodies)
        .gives(&pulls)
        .value(128_i32)
        .within(Agreement::Either(1e-6))
}

fn k_means_step() -> Whole {
    let mut chance = Chance(52);
    let (points, centers) = (
        chance.integers(2 * 500, -1000, 1000),
        chance.integers(2 * 7, -900, 900),
    );
    let distance = |point: &[i32], center: &[i32]| {
        (point[0] - center[0]).pow(2) + (point[1] - center[1]).pow(2)
    };
    let mut sums = vec![0; 7 * 3];
    let nearest = |point: &[i32]| {
        let centers = centers.chunks(2).enumerate();
        let nearest = centers.min_by_key(|(_, center)| distance(point, center));
        nearest.unwrap().0
    };
    let own: Vec<usize> = points.chunks(2).map(nearest).collect();
    for (point, &cluster) in points.chunks(2).zip(&own) {
        sums[3 * cluster] += 1;
        sums[3 * cluster + 1] += point[0];
        sums[3 * cluster + 2] += point[1];
    }
    sums.extend(own.into_iter().map(|cluster| cluster as i32));
    Whole::new("k_means_step", 1, 128)
        .array(&points)
        .array(&centers)
        .gives(&sums)
        .value(500_i32)
        .value(7_i32)
}

fn floyd_warshall() -> Whole {
    let n = 20;
    let mut edges = Chance(53).integers(n * n, 1, 400);
    for (at, edge) in edges.iter_mut().enumerate() {
        // Most are missing.
        *edge = match *edge {
            _ if at % (n + 1) == 0 => 0,
            length if length <= 60 => length,
            _ => 1_000_000,
        };
    }
    let mut distances = edges.clone();
    for k in 0..n {
        for at in 0..n * n {
            let through = distances[at / n * n + k] + distances[k * n + at % n];
            distances[at] = distances[at].min(through);
        }
    }
    Whole::over("floyd_warshall", [1, 1, 1], [n as u32, n as u32, 1])
        .array(&edges)
        .gives(&distances)
        .value(n as i32)
}

fn fourier() -> Whole {
    let values = Chance(54).floats(2 * 2 * 256, -1.0, 1.0);
    let transform = |signal: &[f32]| -> Vec<f32> {
        let frequency = |at: usize| {
            let (mut real, mut imaginary) = (0.0, 0.0);
            for (i, pair) in signal.chunks(2).enumerate() {
                let turns = (at * i % 256) as f64 / 256.0;
                let (sine, cosine) = (-2.0 * std::f64::consts::PI * turns).sin_cos();
                let (x, y) = (f64::from(pair[0]), f64::from(pair[1]));
                real += x * cosine - y * sine;
                imaginary += x * sine + y * cosine;
            }
            [real as f32, imaginary as f32]
        };
        (0..256).flat_map(frequency).collect()
    };
    let results: Vec<f32> = values.chunks(512).flat_map(transform).collect();
    Whole::new("fourier", 2, 128)
        .array(&values)
        .gives(&results)
        .within(Agreement::Either(3e-6))
}

/// Rows or nodes with 0 to `most` entries each: where each begins, and the entries.
fn lists(chance: &mut Chance, count: usize, most: i32) -> (Vec<i32>, Vec<i32>) {
    let mut starts = vec![0];
    let mut entries = Vec::new();
    for length in chance.integers(count, 0, most) {
        entries.extend(chance.integers(length as usize, 0, count as i32 - 1));
        starts.push(entries.len() as i32);
    }
    (starts, entries)
}

fn spmv() -> Whole {
    let mut chance = Chance(55);
    let (starts, columns) = lists(&mut chance, 60, 70);
    let values = chance.whole_floats(columns.len(), -20, 20);
    let x = chance.whole_floats(60, -20, 20);
    let row = |row: usize| {
        let entries = starts[row] as usize..starts[row + 1] as usize;
        let terms = entries.map(|i| values[i] * x[columns[i] as usize]);
        // From 0, not from the -0 that an empty sum begins with.
        terms.fold(0.0, |sum, term| sum + term)
    };
    let y: Vec<f32> = (0..60).map(row).collect();
    Whole::new("spmv", 15, 128)
        .array(&starts)
        .array(&columns)
        .array(&values)
        .array(&x)
        .gives(&y)
        .value(60_i32)
}

fn breadth_first() -> Whole {
    let nodes = 300;
    let (starts, edges) = lists(&mut Chance(56), nodes, 3);
    let mut distances = vec![-1; nodes];
    distances[0] = 0;
    let mut next = VecDeque::from([0]);
    while let Some(node) = next.pop_front() {
        for &to in &edges[starts[node] as usize..starts[node + 1] as usize] {
            if distances[to as usize] < 0 {
                distances[to as usize] = distances[node] + 1;
                next.push_back(to as usize);
            }
        }
    }
    Whole::new("breadth_first", 1, 128)
        .array(&starts)
        .array(&edges)
        .gives(&distances)
        .value(nodes as i32)
}

fn hash_table() -> Whole {
    let keys: Vec<u32> = Chance(57)
        .words(700)
        .iter()
        .map(|word| word % 400 + 1)
        .collect();
    let mut held = BTreeMap::new();
    for key in &keys {
        *held.entry(key).or_insert(0) += 1;
    }
    let counts: Vec<u32> = keys.iter().map(|key| held[key]).collect();
    Whole::new("hash_table", 1, 256)
        .array(&keys)
        .gives(&counts)
        .value(700_i32)
}

fn function_pointers() -> Whole {
    let values = Chance(58).words(128);
    let result = |(i, &value): (usize, &u32)| {
        let i = i as i32;
        (0..6).fold(value as i32, |value, step| {
            let other = i + step;
            match (i + step * 3).wrapping_add(value) & 3 {
                0 => value.wrapping_add(other),
                1 => value.wrapping_mul(other),
                2 => value.wrapping_sub(other),
                _ => (value ^ other).wrapping_add((value & other) % 7),
            }
        })
    };
    let results: Vec<i32> = values.iter().enumerate().map(result).collect();
    Whole::new("function_pointers", 2, 64)
        .array(&values)
        .gives(&results)
}

fn virtual_calls() -> Whole {
    let values = Chance(59).integers(96, 0, 50);
    let result = |(i, &n): (usize, &i32)| {
        let i = i as i32;
        let area = |shape: i32| match shape % 3 {
            0 => n * n,
            1 => n * i,
            _ => -(i % 5) * (i % 5),
        };
        (0..3).fold(0, |sum, at| sum * 3 + area(at + n) + 2 * area(i + at))
    };
    let results: Vec<i32> = values.iter().enumerate().map(result).collect();
    Whole::new("virtual_calls", 1, 96)
        .array(&values)
        .gives(&results)
}

fn votes() -> Whole {
    let values: Vec<u32> = Chance(60)
        .words(256)
        .iter()
        .map(|word| word >> 24)
        .collect();
    Whole::new("votes", 2, 128)
        .array(&values)
        .fills(Class::B32, 256)
}

fn named_barriers() -> Whole {
    let rounds = 7;
    let values = Chance(61).words(rounds * 64);
    let sums = (0..64).map(|t| {
        (0..rounds).fold(0_u32, |sum, round| {
            let word = values[round * 64 + 63 - t].wrapping_mul(3);
            sum.wrapping_mul(5).wrapping_add(word)
        })
    });
    let sums: Vec<u32> = sums.collect();
    // The makers' sums are zero.
    let odd = sums.iter().filter(|&sum| sum & 1 == 1).count() as u32;
    let all = u32::from(!sums.contains(&1));
    let results: Vec<u32> = sums
        .iter()
        .map(|sum| sum.wrapping_add(odd * 4 + 2 + all))
        .collect();
    Whole::new("named_barriers", 1, 128)
        .array(&values)
        .gives(&results)
        .value(rounds as i32)
}

fn relay() -> Whole {
    let mut word = 12345_u32;
    let mut results = Vec::new();
    for _ in 0..16 {
        let first = word.wrapping_mul(1_664_525);
        results.extend((0..64).map(|t| first.wrapping_add(t)));
        word = first.wrapping_add(63);
    }
    Whole::new("relay", 16, 64)
        .array(&[0_u32, 12345])
        .gives(&results)
}
