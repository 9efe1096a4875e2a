//! Atomics, and arithmetic as libraries do it.

use half::{bf16, f16};

use super::super::forms::{Agreement, Class};
use super::numbers::Chance;
use super::whole::{Source, Whole};

pub fn sources() -> Vec<Source> {
    vec![
        Source {
            name: "atomics",
            text: include_str!("atomics.cu"),
            kernels: vec![atomics(), wide_atomics(), paired_atomics()],
        },
        Source {
            name: "halves",
            text: include_str!("halves.cu"),
            kernels: vec![half2_math(), bfloat162_math()],
        },
        Source {
            name: "integers",
            text: include_str!("integers.cu"),
            kernels: vec![bit_tricks(), divisions(), byte_products()],
        },
        Source {
            name: "mathematics",
            text: include_str!("mathematics.cu"),
            kernels: vec![double_math(), float_math(), fast_math(), rounding()],
        },
        Source {
            name: "random_numbers",
            text: include_str!("random_numbers.cu"),
            kernels: vec![philox(), mersenne_twister()],
        },
    ]
}

/// What a block's seven counters come to, of values taken as signed numbers or not.
fn counters(values: &[u32], is_signed: bool) -> [u32; 8] {
    let fold = |first: u32, next: fn(u32, u32) -> u32| {
        values.iter().fold(first, |sum, &value| next(sum, value))
    };
    let (least, most) = match is_signed {
        true => (
            fold(i32::MAX as u32, |a, b| (a as i32).min(b as i32) as u32),
            fold(0, |a, b| (a as i32).max(b as i32) as u32),
        ),
        false => (fold(u32::MAX, u32::min), fold(0, u32::max)),
    };
    [
        fold(0, u32::wrapping_add),
        least,
        most,
        fold(u32::MAX, |and, value| and & (value | 0x00ff_00f0)),
        fold(0, |or, value| or | value & 0x0f0f_0f0f),
        fold(0, |xor, value| xor ^ value),
        fold(1, |product, value| product.wrapping_mul(value | 1)),
        0,
    ]
}

fn atomics() -> Whole {
    let threads = 64;
    let values = Chance(71).words(2 * threads);
    let mut words = vec![0; 32 + 8 + 2 * threads];
    for block in values.chunks(threads) {
        let both = [counters(block, false), counters(block, true)].concat();
        both.iter()
            .enumerate()
            .for_each(|(at, value)| words[at] ^= value);
    }
    let sum = |part: fn(u32) -> u32| values.iter().map(|&value| part(value)).sum::<u32>();
    words[16] = (sum(|value| value & 255) as f32).to_bits();
    words[17] = (0.5 * sum(|value| value & 15) as f32).to_bits();
    let half = |value: f32| u32::from(f16::from_f32(value).to_bits());
    let brain = |value: f32| u32::from(bf16::from_f32(value).to_bits());
    words[18] = half(sum(|value| value & 3) as f32) | half(-128.0) << 16;
    words[19] = brain(64.0) | brain(32.0) << 16;
    words[20] = half(64.0);
    words[21] = brain(50.0);
    let quarters: f64 = values.iter().map(|&value| 0.25 * f64::from(value)).sum();
    words[22] = quarters.to_bits() as u32;
    words[23] = (quarters.to_bits() >> 32) as u32;
    words[24] = 128_f32.to_bits();
    words[25] = (sum(|value| value & 7) as f32).to_bits();
    let count = 2 * threads as u32;
    let places: u32 = (0..count).sum();
    // Down from 0 to 77, and then one by one; up to 99 and then to 0.
    words[32..37].copy_from_slice(&[
        places.wrapping_neg(),
        count % 100,
        (78 - count % 78) % 78,
        3 * places,
        count - 1,
    ]);
    for t in 0..2 * threads {
        words[32 + 8 + t] = 5 * t as u32;
    }
    Whole::new("atomics", 2, threads as u32)
        .array(&values)
        .gives(&words)
}

fn wide_atomics() -> Whole {
    let mut chance = Chance(72);
    let values: Vec<u64> = (0..96).map(|_| chance.word()).collect();
    let mut words = vec![0_u64; 16 + 96];
    for block in values.chunks(48) {
        let fold =
            |first: u64, next: fn(u64, u64) -> u64| block.iter().fold(first, |a, &b| next(a, b));
        let counters = [
            fold(0, u64::wrapping_add),
            fold(u64::MAX, u64::min),
            fold(0, u64::max),
            fold(u64::MAX, |and, value| and & (value | 0x00ff_00f0)),
            fold(0, |or, value| or | value & 0x0f0f_0f0f),
            fold(0, |xor, value| xor ^ value),
            fold(1, |product, value| product.wrapping_mul(value | 1)),
        ];
        counters
            .iter()
            .enumerate()
            .for_each(|(at, value)| words[at] ^= value);
    }
    let signed = || values.iter().map(|&value| value as i64).chain([0]);
    words[8] = signed().min().unwrap() as u64;
    words[9] = signed().max().unwrap() as u64;
    words[16..].fill(7);
    Whole::new("wide_atomics", 2, 48)
        .array(&values)
        .gives(&words)
}

fn paired_atomics() -> Whole {
    let mut chance = Chance(82);
    let values: Vec<u64> = (0..96).map(|_| chance.word()).collect();
    let sum = values.iter().fold(0_u64, |sum, &v| sum.wrapping_add(v));
    let mixed = values.iter().fold(0_u64, |xor, v| xor ^ v.wrapping_mul(3));
    let own = values.iter().flat_map(|&v| [v.wrapping_add(7 + 5), v]);
    let words: Vec<u64> = [sum, mixed].into_iter().chain(own).collect();
    Whole::new("paired_atomics", 2, 48)
        .array(&values)
        .gives(&words)
}

fn half2_math() -> Whole {
    let mut chance = Chance(73);
    let mut halves = || -> Vec<f16> {
        let floats = chance.floats(256, -6.0, 6.0);
        floats.into_iter().map(f16::from_f32).collect()
    };
    let (a, b) = (halves(), halves());
    Whole::new("half2_math", 2, 64)
        .array(&a)
        .array(&b)
        .fills(Class::F16, 8 * 128)
        // The quotient goes by an approximate reciprocal.
        .within(Agreement::Either(2f64.powi(-11)))
}

fn bfloat162_math() -> Whole {
    let mut chance = Chance(74);
    let floats = [chance.floats(256, -6.0, 6.0), chance.floats(256, -6.0, 6.0)];
    let [a, b] =
        floats.map(|floats| -> Vec<bf16> { floats.into_iter().map(bf16::from_f32).collect() });
    // Each operation is worked out in double and rounded once.
    let round = |value: f64| bf16::from_f64(value).to_f64();
    let pair = |at: usize, of: &[bf16]| [of[2 * at].to_f64(), of[2 * at + 1].to_f64()];
    let results = (0..128).flat_map(|at| {
        let (x, y) = (pair(at, &a), pair(at, &b));
        let each = |of: &dyn Fn(f64, f64) -> f64| [of(x[0], y[0]), of(x[1], y[1])];
        let third = (x[1] as f32 / 3.0_f32).into();
        [
            each(&|x, y| round(x * y + round(x + round(y * 0.5)))),
            each(&|x, y| x.min(-y).max(round(x - y).abs())),
            each(&|x, y| round(x * y - 1.0).max(0.0)),
            [round(x[0] * 3.0 + y[1].floor()), round(third)],
        ]
    });
    let results: Vec<bf16> = results.flatten().map(bf16::from_f64).collect();
    Whole::new("bfloat162_math", 2, 64)
        .array(&a)
        .array(&b)
        .gives(&results)
}

fn bit_tricks() -> Whole {
    let mut words = Chance(75).words(256);
    words[..8].copy_from_slice(&[0, 0, u32::MAX, u32::MAX, 1, 1 << 31, 1 << 31, 0]);
    Whole::new("bit_tricks", 2, 64)
        .array(&words)
        .fills(Class::B32, 128)
}

fn divisions() -> Whole {
    let mut chance = Chance(76);
    // Of every length, so that quotients are too.
    let mut numbers = || -> Vec<i64> {
        let number = |at: u64| (chance.word() as i64 >> (at * 7 % 60)) | 1;
        (0..64).map(number).collect()
    };
    let (mut a, mut b) = (numbers(), numbers());
    b.reverse();
    (a[0], b[0]) = (i64::MIN, 3);
    (a[1], b[1]) = (-1, i64::MIN);
    let results = a.iter().zip(&b).flat_map(|(&x, &y)| {
        let (ux, uy) = (x as u64, y as u64);
        let short = (x as i32).wrapping_div((y | 1) as i32);
        let unsigned = ux as u32 % (uy | 1) as u32;
        [
            x.wrapping_div(y),
            x.wrapping_rem(y),
            (ux / uy) as i64,
            (ux % uy) as i64,
            x / 1_000_003 + x % 1_000_003 * 2,
            i64::from(short) + 3 * i64::from(unsigned),
        ]
    });
    let results: Vec<i64> = results.collect();
    Whole::new("divisions", 2, 32)
        .array(&a)
        .array(&b)
        .gives(&results)
}

fn byte_products() -> Whole {
    let words = 6;
    let mut chance = Chance(77);
    let (a, b) = (chance.words(64 * words), chance.words(64 * words));
    let results = (0..64).flat_map(|i| {
        let (mut signed, mut unsigned) = (0_i32, 0_u32);
        for at in i * words..(i + 1) * words {
            for (a, b) in a[at].to_le_bytes().into_iter().zip(b[at].to_le_bytes()) {
                signed += i32::from(a as i8) * i32::from(b as i8);
                unsigned += u32::from(a) * u32::from(b);
            }
        }
        signed = signed.wrapping_add(dp2a_low(signed, a[i]));
        [signed, unsigned as i32]
    });
    let results: Vec<i32> = results.collect();
    Whole::new("byte_products", 2, 32)
        .array(&a)
        .array(&b)
        .gives(&results)
        .value(words as i32)
}

/// Two halves of `a` times the two low bytes of `b`, all signed.
fn dp2a_low(a: i32, b: u32) -> i32 {
    let low = i32::from(a as i16) * i32::from(b as i8);
    let high = (a >> 16).wrapping_mul(i32::from((b >> 8) as i8));
    low.wrapping_add(high)
}

/// Eight functions of each number, worked out in double.
fn of_each(values: &[f64], functions: [fn(f64) -> f64; 8]) -> Vec<f64> {
    let all = values
        .iter()
        .flat_map(|&x| functions.map(|function| function(x)));
    all.collect()
}

fn double_math() -> Whole {
    let values: Vec<f64> = Chance(78)
        .floats(128, 0.05, 4.0)
        .iter()
        .map(|&x| f64::from(x) * 0.731)
        .collect();
    let results = of_each(
        &values,
        [
            f64::exp,
            f64::ln,
            f64::sin,
            f64::cos,
            |x| x.powf(1.7),
            error_function,
            f64::tanh,
            |x| x.cbrt() + 1.0 / x.sqrt(),
        ],
    );
    Whole::new("double_math", 2, 64)
        .array(&values)
        .gives(&results)
        .within(Agreement::Either(5e-16))
}

/// By the series of positive terms, which loses nothing.
fn error_function(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        term *= 2.0 * x * x / (2.0 * f64::from(n) + 1.0);
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

fn float_math() -> Whole {
    let values = Chance(79).floats(128, 0.05, 9.0);
    let wide: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let results = of_each(
        &wide,
        [
            f64::exp,
            f64::ln,
            f64::sin,
            // The product is rounded to float first.
            |x| f64::from(x as f32 * 40_000.0).cos(),
            |x| x.powf(1.75),
            error_function,
            f64::tanh,
            |x| 1.0 / x.sqrt(),
        ],
    );
    let results: Vec<f32> = results.into_iter().map(|y| y as f32).collect();
    Whole::new("float_math", 2, 64)
        .array(&values)
        .gives(&results)
        // Twice this apart: the four units in the last place that the programming guide allows at most.
        .within(Agreement::Relative(2f64.powi(-22)))
}

fn fast_math() -> Whole {
    let values = Chance(80).floats(128, 0.1, 3.0);
    let wide: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let results = of_each(
        &wide,
        [
            f64::exp,
            f64::ln,
            f64::sin,
            f64::cos,
            |x| x.powf(1.75),
            |x| x / (x + 3.0),
            |x| 10f64.powf(x),
            |x| x.log2() + x.log10(),
        ],
    );
    let results: Vec<f32> = results.into_iter().map(|y| y as f32).collect();
    Whole::new("fast_math", 2, 64)
        .array(&values)
        .gives(&results)
        .within(Agreement::Either(1e-6))
}

fn rounding() -> Whole {
    let mut chance = Chance(81);
    let (a, b) = (
        chance.floats(128, -90.0, 90.0),
        chance.floats(128, -9.0, 9.0),
    );
    Whole::new("rounding", 2, 64)
        .array(&a)
        .array(&b)
        .fills(Class::B32, 128)
}

fn philox() -> Whole {
    let key = [0x1234_5678_u32, 0x9abc_def0];
    let block = |t: u32| {
        let (mut c, mut key) = ([t, 0, 7, t.wrapping_mul(t)], key);
        for _ in 0..10 {
            let first = u64::from(c[0]) * 0xd251_1f53;
            let second = u64::from(c[2]) * 0xcd9e_8d57;
            c = [
                (second >> 32) as u32 ^ c[1] ^ key[0],
                second as u32,
                (first >> 32) as u32 ^ c[3] ^ key[1],
                first as u32,
            ];
            key = [
                key[0].wrapping_add(0x9e37_79b9),
                key[1].wrapping_add(0xbb67_ae85),
            ];
        }
        c
    };
    let results: Vec<u32> = (0..128).flat_map(block).collect();
    Whole::new("philox", 2, 64)
        .gives(&results)
        .value(key[0])
        .value(key[1])
}

fn mersenne_twister() -> Whole {
    let mut state = vec![5489_u32];
    for i in 1..624 {
        let last = state[i - 1];
        state.push(
            (last ^ last >> 30)
                .wrapping_mul(1_812_433_253)
                .wrapping_add(i as u32),
        );
    }
    for i in 0..624 {
        let mixed = state[i] & 0x8000_0000 | state[(i + 1) % 624] & 0x7fff_ffff;
        let odd = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
        state[i] = state[(i + 397) % 624] ^ mixed >> 1 ^ odd;
    }
    let numbers = state.into_iter().map(|mut y| {
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    });
    let numbers: Vec<u32> = numbers.collect();
    // The first number of the generator's well-known seed.
    assert_eq!(numbers[0], 3_499_211_612);
    Whole::new("mersenne_twister", 1, 32)
        .gives(&numbers)
        .value(5489_u32)
}
