//! Operands: the awkward values of each class against each other, then random bits. The same on every machine.

use super::forms::Class;

/// Values of an operand; a multiple of a warp.
pub const COUNT: usize = 256;

/// What the operand in this position reads, by thread.
pub fn values(class: Class, position: usize) -> Vec<u64> {
    let awkward = awkward(class);
    let side = awkward.len().min(15);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ ((class as u64) << 8) ^ position as u64;
    (0..COUNT)
        .map(|i| {
            let random = splitmix(&mut state);
            if i >= side * side {
                return fit(class, random);
            }
            // Every pair of awkward values meets in the first two operands.
            match position {
                0 => awkward[i % side],
                1 => awkward[i / side],
                _ => awkward[(i * 5 + i / side * 3) % awkward.len()],
            }
        })
        .collect()
}

/// Sebastiano Vigna's splitmix64.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random bits as a value of the class; of floating-point numbers three in four of middling size, as those
/// of all sizes rarely meet.
fn fit(class: Class, random: u64) -> u64 {
    let middling = random >> 62 != 0;
    match class {
        Class::F32 if middling => u64::from(f32_near_one(random).to_bits()),
        Class::F64 if middling => {
            let exponent = 1023 - 6 + (random >> 52) % 12;
            (random & 0x800f_ffff_ffff_ffff) | exponent << 52
        }
        Class::F16 | Class::F16x2 if middling => {
            let one = |bits: u64| (bits & 0x83ff) | (15 - 3 + (bits >> 20) % 6) << 10;
            let low = one(random);
            let high = one(random >> 24);
            trim(class, low | high << 16)
        }
        Class::Bf16 | Class::Bf16x2 if middling => {
            let one = |bits: u64| u64::from(f32_near_one(bits).to_bits() >> 16);
            trim(class, one(random) | one(random.rotate_left(23)) << 16)
        }
        Class::Count => random % 41,
        _ => trim(class, random),
    }
}

fn f32_near_one(random: u64) -> f32 {
    let exponent = 127 - 6 + ((random >> 32) % 12) as u32;
    f32::from_bits((random as u32 & 0x807f_ffff) | exponent << 23)
}

fn trim(class: Class, bits: u64) -> u64 {
    match class.bits() {
        64 => bits,
        bits_kept => bits & ((1 << bits_kept) - 1),
    }
}

fn awkward(class: Class) -> Vec<u64> {
    let halves = |one: &[u64]| one.to_vec();
    let pairs = |one: &[u64]| {
        let shifted = one.iter().cycle().skip(5);
        one.iter()
            .zip(shifted)
            .map(|(low, high)| low | high << 16)
            .collect()
    };
    match class {
        Class::B16 => vec![
            0, 1, 2, 7, 0xff, 0x7f, 0x80, 0x7fff, 0x8000, 0x8001, 0xffff, 0xfffe, 0x1234, 0xff80,
        ],
        Class::B32 => vec![
            0,
            1,
            2,
            31,
            0xff,
            0x7fff,
            0xffff,
            0x1_0000,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_ffff,
            0xffff_fffe,
            0x1234_5678,
        ],
        Class::B64 => vec![
            0,
            1,
            2,
            63,
            0xffff_ffff,
            0x1_0000_0000,
            0x7fff_ffff,
            0x8000_0000,
            0x7fff_ffff_ffff_ffff,
            0x8000_0000_0000_0000,
            0x8000_0000_0000_0001,
            u64::MAX,
            u64::MAX - 1,
            0x0123_4567_89ab_cdef,
        ],
        Class::Count => vec![0, 1, 2, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 0xffff_ffff],
        Class::F16 => halves(&F16),
        Class::F16x2 => pairs(&F16),
        Class::Bf16 => halves(&BF16),
        Class::Bf16x2 => pairs(&BF16),
        Class::F32 => [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1.5,
            0.5 + f32::EPSILON,
            f32::MIN_POSITIVE,
            -f32::MIN_POSITIVE / 2.0,
            f32::MAX,
            -f32::MAX,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::from_bits(0x7fc0_1234),
            f32::from_bits(1),
            f32::from_bits(0xffa0_5678),
        ]
        .map(|value: f32| u64::from(value.to_bits()))
        .to_vec(),
        Class::F64 => [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1.5,
            0.5 + f64::EPSILON,
            f64::MIN_POSITIVE,
            -f64::MIN_POSITIVE / 2.0,
            f64::MAX,
            -f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::from_bits(0x7ff8_0000_0000_1234),
            f64::from_bits(1),
            f64::from_bits(0xfff4_0000_0000_5678),
        ]
        .map(f64::to_bits)
        .to_vec(),
    }
}

/// Zeros, ones, a tie, the smallest normal, subnormals, the largest, infinities, NaNs with a payload: a
/// quiet one, and a negative one that signals.
const F16: [u64; 15] = [
    0, 0x8000, 0x3c00, 0xbc00, 0x3e00, 0x3801, 0x0400, 0x8200, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
    0x7e12, 1, 0xfd35,
];
const BF16: [u64; 15] = [
    0, 0x8000, 0x3f80, 0xbf80, 0x3fc0, 0x3f01, 0x0080, 0x8040, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
    0x7fc1, 1, 0xff85,
];
