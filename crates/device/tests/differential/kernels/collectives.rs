//! What threads work out together: reductions, scans, histograms, sorts, normalizations.

use super::super::forms::Agreement;
use super::numbers::Chance;
use super::whole::{Source, Whole};

pub fn sources() -> Vec<Source> {
    vec![
        Source {
            name: "reductions",
            text: include_str!("reductions.cu"),
            kernels: vec![
                reduce("reduce_shared", 128).shared(4 * 128),
                reduce("reduce_shuffle", 96),
                reduce_warp(),
            ],
        },
        Source {
            name: "scans",
            text: include_str!("scans.cu"),
            kernels: vec![
                scan_of_blocks("scan_hillis_steele", 256),
                scan_of_blocks("scan_warps", 512),
                scan_look_back(),
            ],
        },
        Source {
            name: "histograms",
            text: include_str!("histograms.cu"),
            kernels: vec![histogram("histogram_shared"), histogram("histogram_global")],
        },
        Source {
            name: "sorting",
            text: include_str!("sorting.cu"),
            kernels: vec![bitonic_sort(), top_k(), quicksort()],
        },
        Source {
            name: "normalizations",
            text: include_str!("normalizations.cu"),
            kernels: vec![softmax(), layer_norm()],
        },
    ]
}

/// Whole numbers: their sum is exact in any order.
fn reduce(name: &'static str, threads: u32) -> Whole {
    let blocks = 4;
    let values = Chance(11).whole_floats(2000, -1000, 1000);
    let wide = if name == "reduce_shuffle" { 4 } else { 1 };
    let owner = |at: usize| at / wide / threads as usize % blocks as usize;
    let mut sums = vec![0.0_f32; blocks as usize];
    for (at, value) in values.iter().enumerate() {
        sums[owner(at)] += value;
    }
    Whole::new(name, blocks, threads)
        .array(&values)
        .gives(&sums)
        .value(values.len() as i32)
}

fn reduce_warp() -> Whole {
    let values = Chance(12).words(128);
    let results = values.chunks(32).flat_map(|warp| {
        let signed = || warp.iter().map(|&word| word as i32);
        let sum = warp.iter().fold(0_u32, |sum, &word| sum.wrapping_add(word));
        let least = *warp.iter().min().unwrap();
        let most = *warp.iter().max().unwrap();
        let signed_least = signed().min().unwrap() as u32;
        let signed_most = signed().max().unwrap() as u32;
        let all = sum
            ^ least.wrapping_mul(3)
            ^ most.wrapping_mul(5)
            ^ signed_least.wrapping_mul(7)
            ^ signed_most.wrapping_mul(11);
        let odd = || warp.iter().skip(1).step_by(2);
        let and = odd().fold(u32::MAX, |and, word| and & (word | 0xf0f0_f000));
        let or = odd().fold(0, |or, word| or | word & 0x0f0f_0f0f);
        let xor = odd().fold(0, |xor, word| xor ^ word);
        let sum = odd().fold(0_u32, |sum, &word| sum.wrapping_add(word));
        let more = (and ^ or).wrapping_add(xor ^ sum);
        (0..32).map(move |lane| match lane % 2 {
            0 => all,
            _ => all.wrapping_add(more),
        })
    });
    let results: Vec<u32> = results.collect();
    Whole::new("reduce_warp", 2, 64)
        .array(&values)
        .gives(&results)
}

fn sums_so_far(values: &[u32]) -> Vec<u32> {
    let sums = values.iter().scan(0_u32, |sum, &value| {
        *sum = sum.wrapping_add(value);
        Some(*sum)
    });
    sums.collect()
}

fn scan_of_blocks(name: &'static str, threads: usize) -> Whole {
    let values = Chance(13).words(2 * threads);
    let sums: Vec<u32> = values.chunks(threads).flat_map(sums_so_far).collect();
    Whole::new(name, 2, threads as u32)
        .array(&values)
        .gives(&sums)
}

fn scan_look_back() -> Whole {
    let values = Chance(14).words(12 * 128);
    Whole::new("scan_look_back", 12, 128)
        .array(&values)
        .array(&[0_u64; 13])
        .gives(&sums_so_far(&values))
}

fn histogram(name: &'static str) -> Whole {
    let words = Chance(15).words(3000);
    // Few values often, so that threads of a warp meet on one bin.
    let bytes: Vec<u8> = words
        .iter()
        .map(|&word| (word & word >> 8 & word >> 16) as u8)
        .collect();
    let mut bins = [0_u32; 256];
    for &byte in &bytes {
        bins[usize::from(byte)] += 1;
    }
    Whole::new(name, 4, 128)
        .array(&bytes)
        .gives(&bins)
        .value(bytes.len() as i32)
}

fn bitonic_sort() -> Whole {
    let keys = Chance(16).words(512);
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    Whole::new("bitonic_sort", 1, 256)
        .array(&keys)
        .gives(&sorted)
}

fn top_k() -> Whole {
    // With repetitions, each of which counts.
    let values = Chance(17).integers(4 * 128, -60, 60);
    let largest = values.chunks(128).flat_map(|own| {
        let mut own = own.to_vec();
        own.sort_unstable_by(|a, b| b.cmp(a));
        own.truncate(8);
        own
    });
    let largest: Vec<i32> = largest.collect();
    Whole::new("top_k", 2, 64)
        .array(&values)
        .gives(&largest)
        .value(8_i32)
}

fn quicksort() -> Whole {
    let each = 24;
    let keys = Chance(18).integers(40 * each, -500, 500);
    let sorted = keys.chunks(each).flat_map(|own| {
        let mut own = own.to_vec();
        own.sort_unstable();
        own
    });
    let sorted: Vec<i32> = sorted.collect();
    Whole::new("quicksort", 2, 20)
        .array(&keys)
        .gives(&sorted)
        .value(each as i32)
}

fn softmax() -> Whole {
    let columns = 200;
    let values = Chance(19).floats(3 * columns, -8.0, 8.0);
    let rows = values.chunks(columns).flat_map(|row| {
        let most = row.iter().copied().fold(f32::MIN, f32::max);
        let powers = row.iter().map(|&x| f64::from(x - most).exp());
        let powers: Vec<f64> = powers.collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(move |power| (power / sum) as f32)
    });
    let results: Vec<f32> = rows.collect();
    Whole::new("softmax", 3, 128)
        .array(&values)
        .gives(&results)
        .value(columns as i32)
        .within(Agreement::Relative(5e-7))
}

fn layer_norm() -> Whole {
    let columns = 150;
    let mut chance = Chance(20);
    let (values, gain) = (
        chance.floats(3 * columns, -4.0, 6.0),
        chance.floats(columns, 0.5, 2.0),
    );
    let rows = values.chunks(columns).flat_map(|row| {
        let row: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
        let count = columns as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
        let scale = 1.0 / (variance + 1e-5).sqrt();
        let normal = row.into_iter().zip(&gain);
        let normal = normal.map(move |(x, &gain)| ((x - mean) * scale * f64::from(gain)) as f32);
        normal.collect::<Vec<f32>>()
    });
    let results: Vec<f32> = rows.collect();
    Whole::new("layer_norm", 3, 64)
        .array(&values)
        .array(&gain)
        .gives(&results)
        .value(columns as i32)
        .within(Agreement::Either(1e-6))
}
