//! Input generators. Counter-based: element `i` depends on the subkey and on `i` alone, so that a
//! device can fill a tensor in parallel and a checker can look at any element without the others.
//!
//! Element `i` takes the four words `4 i .. 4 i + 4` of the ChaCha8 stream keyed by the subkey.

use domain::ElementType;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::element;
use crate::subkey::Subkey;

/// What a tensor is filled with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Generator {
    /// Normally distributed.
    Normal {
        /// Mean; not zero by default in packages, so that an answer of zeros is far off.
        mean: f64,
        /// Standard deviation.
        std: f64,
        /// Rare large elements.
        outliers: Option<Outliers>,
    },
    /// Uniform in `[low, high)`.
    Uniform {
        /// Lower end, included.
        low: f64,
        /// Upper end, excluded before rounding to the element type.
        high: f64,
        /// Rare large elements.
        outliers: Option<Outliers>,
    },
    /// Uniform integers in `[low, high]`.
    Integers {
        /// Lower end, included.
        low: i64,
        /// Upper end, included.
        high: i64,
    },
    /// Every element the same.
    Constant {
        /// The value.
        value: f64,
    },
    /// `start + i * step` at element `i` (row-major index).
    Sequence {
        /// Value of element 0.
        start: f64,
        /// Increment.
        step: f64,
    },
}

/// Rare elements multiplied by a factor, so that skipping the rest does not pay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outliers {
    /// Expected share of elements, 0 to 1.
    pub share: f64,
    /// What they are multiplied by.
    pub factor: f64,
}

/// Fills `out` with the elements of a tensor of `dims`, row-major, little-endian.
pub fn fill(
    generator: &Generator,
    element: ElementType,
    dims: &[u64],
    subkey: Subkey,
    out: &mut Vec<u8>,
) {
    let elements = dims.iter().product();
    out.clear();
    fill_range(generator, element, subkey, 0..elements, out);
}

/// Appends the elements with row-major indices in `range`.
pub fn fill_range(
    generator: &Generator,
    element: ElementType,
    subkey: Subkey,
    range: std::ops::Range<u64>,
    out: &mut Vec<u8>,
) {
    let elements = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0);
    out.reserve(elements.saturating_mul(element::size(element)));
    let mut words = Words::at(subkey, range.start);
    for index in range {
        let words = words.next();
        match *generator {
            Generator::Normal {
                mean,
                std,
                outliers,
            } => {
                let value = outlying(mean + std * standard_normal(words), outliers, words);
                element::encode(value, element, out);
            }
            Generator::Uniform {
                low,
                high,
                outliers,
            } => {
                let value = outlying(low + (high - low) * unit(words), outliers, words);
                element::encode(value, element, out);
            }
            Generator::Integers { low, high } => {
                element::encode_integer(integer(low, high, words), element, out);
            }
            Generator::Constant { value } => element::encode(value, element, out),
            Generator::Sequence { start, step } => {
                element::encode(start + step * index as f64, element, out);
            }
        }
    }
}

/// The words of successive elements.
struct Words(ChaCha8Rng);

impl Words {
    fn at(subkey: Subkey, element: u64) -> Self {
        let mut stream = ChaCha8Rng::from_seed(subkey);
        stream.set_word_pos(u128::from(element) * 4);
        Self(stream)
    }

    fn next(&mut self) -> [u32; 4] {
        std::array::from_fn(|_| self.0.next_u32())
    }
}

/// Box-Muller on words 0 and 1. The first is moved half a step from zero, so the logarithm is
/// finite and no value exceeds 6.8 standard deviations.
fn standard_normal(words: [u32; 4]) -> f64 {
    let radius = (f64::from(words[0]) + 0.5) * 2_f64.powi(-32);
    let angle = f64::from(words[1]) * 2_f64.powi(-32) * std::f64::consts::TAU;
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

/// 53 bits of words 0 and 1 as a number in `[0, 1)`.
fn unit(words: [u32; 4]) -> f64 {
    let bits = u64::from(words[0]) << 32 | u64::from(words[1]);
    (bits >> 11) as f64 * 2_f64.powi(-53)
}

/// Multiply-shift on 64 bits: over a range of n values the bias is below n / 2^64.
fn integer(low: i64, high: i64, words: [u32; 4]) -> i64 {
    let bits = u64::from(words[0]) << 32 | u64::from(words[1]);
    let count = (i128::from(high) - i128::from(low) + 1).max(1) as u128;
    let offset = (u128::from(bits) * count) >> 64;
    (i128::from(low) + offset as i128) as i64
}

/// Word 2 decides whether the element is an outlier.
fn outlying(value: f64, outliers: Option<Outliers>, words: [u32; 4]) -> f64 {
    match outliers {
        Some(Outliers { share, factor }) if f64::from(words[2]) * 2_f64.powi(-32) < share => {
            value * factor
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Subkey = [7; 32];
    const SAMPLES: u64 = 100_000;

    fn values(generator: &Generator, element: ElementType, count: u64) -> Vec<f64> {
        let mut out = Vec::new();
        fill(generator, element, &[count], KEY, &mut out);
        element::widen(&out, element)
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        (mean, variance.sqrt())
    }

    #[test]
    fn an_element_depends_on_key_and_index_alone() {
        let generator = Generator::Normal {
            mean: 0.0,
            std: 1.0,
            outliers: None,
        };
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        fill(&generator, ElementType::F32, &[10, 10], KEY, &mut whole);
        fill_range(&generator, ElementType::F32, KEY, 37..41, &mut part);
        assert_eq!(whole[37 * 4..41 * 4], part[..]);
        let mut other = Vec::new();
        fill(&generator, ElementType::F32, &[100], [8; 32], &mut other);
        assert_ne!(whole, other);
        let same = whole.chunks(4).zip(other.chunks(4)).filter(|(a, b)| a == b);
        assert_eq!(same.count(), 0);
    }

    #[test]
    fn normal_has_its_moments() {
        let generator = Generator::Normal {
            mean: 0.5,
            std: 2.0,
            outliers: None,
        };
        let sample = values(&generator, ElementType::F32, SAMPLES);
        let (mean, std) = moments(&sample);
        // Standard error of the mean: 2 / sqrt(1e5) = 0.0063; of the deviation: 0.0045.
        assert!((mean - 0.5).abs() < 0.03, "{mean}");
        assert!((std - 2.0).abs() < 0.02, "{std}");
        let within = sample.iter().filter(|v| (**v - 0.5).abs() < 2.0).count() as f64;
        // 68.27 % lie within one deviation; standard error 0.15 %.
        assert!((within / SAMPLES as f64 - 0.6827).abs() < 0.007);
    }

    #[test]
    fn uniform_fills_its_range() {
        let generator = Generator::Uniform {
            low: -1.0,
            high: 3.0,
            outliers: None,
        };
        let sample = values(&generator, ElementType::F64, SAMPLES);
        let (mean, std) = moments(&sample);
        // Deviation of a uniform variable: width / sqrt(12) = 1.1547.
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((std - 1.1547).abs() < 0.01, "{std}");
        assert!(sample.iter().all(|v| (-1.0..3.0).contains(v)));
    }

    #[test]
    fn integers_meet_both_ends_equally_often() {
        let generator = Generator::Integers { low: -2, high: 2 };
        let sample = values(&generator, ElementType::I32, SAMPLES);
        for wanted in -2..=2 {
            let count = sample.iter().filter(|v| **v == f64::from(wanted)).count() as f64;
            // A fifth each; standard error 0.13 %.
            assert!((count / SAMPLES as f64 - 0.2).abs() < 0.006, "{wanted}");
        }
        let all = Generator::Integers {
            low: i64::MIN,
            high: i64::MAX,
        };
        let mut out = Vec::new();
        fill(&all, ElementType::I64, &[64], KEY, &mut out);
        let negative = out.chunks(8).filter(|c| c[7] >= 0x80).count();
        assert!((16..48).contains(&negative), "{negative}");
    }

    #[test]
    fn outliers_are_as_rare_and_as_large_as_asked() {
        let generator = Generator::Uniform {
            low: 1.0,
            high: 2.0,
            outliers: Some(Outliers {
                share: 0.01,
                factor: 30.0,
            }),
        };
        let sample = values(&generator, ElementType::F32, SAMPLES);
        let large = sample.iter().filter(|v| **v >= 30.0).count() as f64;
        assert!((large / SAMPLES as f64 - 0.01).abs() < 0.002, "{large}");
        assert!(
            sample
                .iter()
                .all(|v| *v < 2.0 + 1e-6 || (30.0..60.1).contains(v))
        );
    }

    #[test]
    fn constants_and_sequences_are_exact() {
        let constant = Generator::Constant { value: 2.5 };
        assert_eq!(values(&constant, ElementType::Bf16, 3), [2.5; 3]);
        let sequence = Generator::Sequence {
            start: 10.0,
            step: -3.0,
        };
        assert_eq!(values(&sequence, ElementType::I16, 3), [10.0, 7.0, 4.0]);
        let mut out = vec![9];
        fill(&constant, ElementType::F32, &[0, 5], KEY, &mut out);
        assert!(out.is_empty());
    }
}
