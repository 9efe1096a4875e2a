//! Products of matrices, and what moves tiles about: asynchronous copies, clusters, groups.

use half::{bf16, f16};

use super::numbers::{Chance, Number};
use super::whole::{Source, Whole};

pub fn sources() -> Vec<Source> {
    vec![
        Source {
            name: "matmul",
            text: include_str!("matmul.cu"),
            kernels: vec![matmul_tiled(), matmul_registers()],
        },
        Source {
            name: "wmma",
            text: include_str!("wmma.cu"),
            kernels: vec![
                wmma("wmma_f16", f16::from_f32, |sum| sum),
                wmma("wmma_f16_sums", f16::from_f32, f16::from_f32),
                wmma("wmma_bf16", bf16::from_f32, |sum| sum),
                wmma("wmma_tf32", |value| value, |sum| sum),
                wmma("wmma_int8", |value| value as i8, |sum| sum as i32),
            ],
        },
        Source {
            name: "mma",
            text: include_str!("mma.cu"),
            kernels: vec![mma_ldmatrix()],
        },
        Source {
            name: "copies",
            text: include_str!("copies.cu"),
            kernels: vec![double_buffering(), bulk_copy()],
        },
        Source {
            name: "clusters",
            text: include_str!("clusters.cu"),
            kernels: vec![cluster_sums()],
        },
        Source {
            name: "groups",
            text: include_str!("groups.cu"),
            kernels: vec![group_tiles(), grid_rounds()],
        },
    ]
}

/// Row-major; exact for small whole numbers, in any order.
fn product(a: &[f32], b: &[f32], n: usize, k: usize) -> Vec<f32> {
    let m = a.len() / k;
    let sum = |at: usize| {
        let (row, column) = (at / n, at % n);
        (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum()
    };
    (0..m * n).map(sum).collect()
}

fn matmul_tiled() -> Whole {
    let (m, n, k) = (21, 35, 40);
    let mut chance = Chance(31);
    let (a, b) = (
        chance.whole_floats(m * k, -9, 9),
        chance.whole_floats(k * n, -9, 9),
    );
    Whole::over("matmul_tiled", [3, 2, 1], [16, 16, 1])
        .array(&a)
        .array(&b)
        .gives(&product(&a, &b, n, k))
        .value(m as i32)
        .value(n as i32)
        .value(k as i32)
}

fn matmul_registers() -> Whole {
    let (m, n, k) = (64, 32, 24);
    let mut chance = Chance(32);
    // No whole numbers here: one thread adds in one order, with one rounding a step.
    let (a, b) = (
        chance.floats(m * k, -1.0, 1.0),
        chance.floats(k * n, -1.0, 1.0),
    );
    let sum = |at: usize| {
        let (row, column) = (at / n, at % n);
        let terms = (0..k).map(|i| (a[row * k + i], b[i * n + column]));
        terms.fold(0.0_f32, |sum, (a, b)| a.mul_add(b, sum))
    };
    let sums: Vec<f32> = (0..m * n).map(sum).collect();
    Whole::over("matmul_registers", [1, 2, 1], [8, 8, 1])
        .array(&a)
        .array(&b)
        .gives(&sums)
        .value(m as i32)
        .value(n as i32)
        .value(k as i32)
}

fn wmma<T: Number, Sum: Number>(
    name: &'static str,
    factor: fn(f32) -> T,
    sum: fn(f32) -> Sum,
) -> Whole {
    let (m, n, k) = (32, 16, 48);
    let mut chance = Chance(33);
    let (a, b) = (
        chance.whole_floats(m * k, -4, 5),
        chance.whole_floats(k * n, -5, 4),
    );
    let typed = |values: &[f32]| -> Vec<T> { values.iter().copied().map(factor).collect() };
    let sums: Vec<Sum> = product(&a, &b, n, k).into_iter().map(sum).collect();
    Whole::over(name, [1, 2, 1], [32, 1, 1])
        .array(&typed(&a))
        .array(&typed(&b))
        .gives(&sums)
        .value(n as i32)
        .value(k as i32)
}

fn mma_ldmatrix() -> Whole {
    let mut chance = Chance(34);
    let (a, b) = (
        chance.whole_floats(16 * 64, -9, 9),
        chance.whole_floats(64 * 8, -9, 9),
    );
    let halves =
        |values: &[f32]| -> Vec<f16> { values.iter().copied().map(f16::from_f32).collect() };
    Whole::new("mma_ldmatrix", 1, 32)
        .array(&halves(&a))
        .array(&halves(&b))
        .gives(&product(&a, &b, 8, 64))
}

fn double_buffering() -> Whole {
    let (blocks, rows) = (2, 5);
    let words = Chance(35).words(blocks * rows * 512);
    let sum = |at: usize| {
        let (block, thread) = (at / 128, at % 128);
        (0..rows * 4).fold(0_u32, |sum, step| {
            let (row, i) = (step / 4, step % 4);
            let word = words[(block * rows + row) * 512 + i * 128 + (thread ^ row)];
            sum.wrapping_mul(31).wrapping_add(word)
        })
    };
    let sums: Vec<u32> = (0..blocks * 128).map(sum).collect();
    Whole::new("double_buffering", blocks as u32, 128)
        .array(&words)
        .gives(&sums)
        .value(rows as i32)
}

fn bulk_copy() -> Whole {
    let tiles = 5;
    let words = Chance(36).words(tiles * 256);
    let turned = words
        .chunks(256)
        .flat_map(|tile| tile.iter().rev().copied());
    let turned: Vec<u32> = turned.collect();
    Whole::new("bulk_copy", 2, 256)
        .array(&words)
        .gives(&turned)
        .value(tiles as i32)
}

fn cluster_sums() -> Whole {
    let words = Chance(37).words(8 * 128);
    let results = (0..8).flat_map(|block| {
        let first = block / 4 * 4;
        let words = &words;
        let sum = move |t: usize| {
            (0..4).fold(0_u32, |sum, step| {
                let word = words[(first + (block + step) % 4) * 128 + t];
                sum.wrapping_mul(17).wrapping_add(word)
            })
        };
        let cluster = &words[first * 128..(first + 4) * 128];
        let bin = move |t: usize| {
            let wanted = (block % 4 * 16 + t) as u32;
            cluster.iter().filter(|&&word| word % 64 == wanted).count() as u32
        };
        (0..128).map(sum).chain((0..16).map(bin))
    });
    let results: Vec<u32> = results.collect();
    Whole::new("cluster_sums", 8, 128)
        .array(&words)
        .gives(&results)
}

fn group_tiles() -> Whole {
    let values: Vec<u32> = Chance(38).words(128).iter().map(|word| word >> 8).collect();
    let results = values.chunks(32).flat_map(|warp| {
        let odd = (0..32).fold(0, |odd, lane| odd | (warp[lane] & 1) << lane);
        let most = *warp.iter().max().unwrap();
        let threes = warp.iter().filter(|&&value| value % 3 == 0).count() as u32;
        (0..32).map(move |lane| {
            let eight = &warp[lane / 8 * 8..lane / 8 * 8 + 8];
            let mut found = eight.iter().sum::<u32>();
            found = found.wrapping_mul(3).wrapping_add(eight[(lane + 3) % 8]);
            let more = warp[lane ^ 5].wrapping_add(odd);
            found = found.wrapping_mul(3).wrapping_add(more);
            found = found.wrapping_mul(3).wrapping_add(most);
            if warp[lane] % 3 == 0 {
                let before = warp[..lane].iter().filter(|&&value| value % 3 == 0).count();
                found = found.wrapping_add(threes * 1000 + before as u32);
            }
            found
        })
    });
    let results: Vec<u32> = results.collect();
    Whole::new("group_tiles", 2, 64)
        .array(&values)
        .gives(&results)
}

fn grid_rounds() -> Whole {
    let (blocks, threads, rounds) = (6, 64, 5);
    let count = blocks * threads;
    let first = Chance(39).words(count);
    let round = |data: Vec<u32>| -> Vec<u32> {
        let next = |i: usize| {
            let other = data[(i + threads + 7) % count];
            data[i].wrapping_mul(5).wrapping_add(other)
        };
        (0..count).map(next).collect()
    };
    let last = (0..rounds).fold(first.clone(), |data, _| round(data));
    let mut buffers = first;
    buffers.resize(2 * count, 0);
    Whole::new("grid_rounds", blocks as u32, threads as u32)
        .array(&buffers)
        .gives(&last)
        .value(rounds)
        .cooperative()
}
