//! Element types as bits: encoding, decoding, spacing and poison.
//!
//! One table of formats serves every floating type, so that the generators, the tolerance and the
//! comparison agree on what a type can hold.

use domain::ElementType;
use domain::rounding::odd_f32;
use half::{bf16, f16};

/// Appends `value`, rounded to nearest even, as little-endian bytes. FP8 saturates at the largest
/// finite value, as the conversions of CUDA do; integers saturate at their range; `bool` is 0 or 1.
pub fn encode(value: f64, element: ElementType, out: &mut Vec<u8>) {
    match element {
        ElementType::F64 => out.extend(value.to_le_bytes()),
        ElementType::F32 => out.extend((value as f32).to_le_bytes()),
        ElementType::F16 => out.extend(f16::from_f32(odd_f32(value)).to_le_bytes()),
        ElementType::Bf16 => out.extend(bf16::from_f32(odd_f32(value)).to_le_bytes()),
        ElementType::Fp8E4m3 | ElementType::Fp8E5m2 => out.push(encode_fp8(value, element)),
        _ => encode_integer(value as i64, element, out),
    }
}

/// Appends an integer as little-endian bytes, saturated to the type's range.
pub fn encode_integer(value: i64, element: ElementType, out: &mut Vec<u8>) {
    match element {
        ElementType::I64 => out.extend(value.to_le_bytes()),
        ElementType::U64 => out.extend((value.max(0) as u64).to_le_bytes()),
        ElementType::I32 => out.extend(saturate(value, i32::MIN, i32::MAX).to_le_bytes()),
        ElementType::U32 => out.extend(saturate(value, u32::MIN, u32::MAX).to_le_bytes()),
        ElementType::I16 => out.extend(saturate(value, i16::MIN, i16::MAX).to_le_bytes()),
        ElementType::I8 => out.extend(saturate(value, i8::MIN, i8::MAX).to_le_bytes()),
        ElementType::U8 => out.push(saturate(value, u8::MIN, u8::MAX)),
        ElementType::Bool => out.push(u8::from(value != 0)),
        _ => encode(value as f64, element, out),
    }
}

/// The value of the element stored in `bytes`, which must be exactly its size. 64-bit integers
/// beyond 2^53 are rounded.
#[must_use]
pub fn decode(bytes: &[u8], element: ElementType) -> f64 {
    match element {
        ElementType::F64 => f64::from_le_bytes(array(bytes)),
        ElementType::F32 => f32::from_le_bytes(array(bytes)).into(),
        ElementType::F16 => f16::from_le_bytes(array(bytes)).into(),
        ElementType::Bf16 => bf16::from_le_bytes(array(bytes)).into(),
        ElementType::Fp8E4m3 | ElementType::Fp8E5m2 => decode_fp8(bytes[0], element),
        ElementType::I64 => i64::from_le_bytes(array(bytes)) as f64,
        ElementType::I32 => i32::from_le_bytes(array(bytes)).into(),
        ElementType::I16 => i16::from_le_bytes(array(bytes)).into(),
        ElementType::I8 => i8::from_le_bytes(array(bytes)).into(),
        ElementType::U64 => u64::from_le_bytes(array(bytes)) as f64,
        ElementType::U32 => u32::from_le_bytes(array(bytes)).into(),
        ElementType::U8 | ElementType::Bool => bytes[0].into(),
    }
}

/// All elements of a tensor as `f64`: how the reference sees the initial values of a floating
/// `inout` tensor.
#[must_use]
pub fn widen(bytes: &[u8], element: ElementType) -> Vec<f64> {
    bytes
        .chunks_exact(size(element))
        .map(|one| decode(one, element))
        .collect()
}

/// The distance between neighbouring values of a floating type around `value` (its unit in the
/// last place). In the range of subnormal numbers it is their constant spacing. Zero for integers.
#[must_use]
pub fn ulp(value: f64, element: ElementType) -> f64 {
    let Some(format) = Format::of(element) else {
        return 0.0;
    };
    let exponent = exponent(value).clamp(format.min_exponent, format.max_exponent);
    exp2(exponent - format.fraction_bits)
}

/// The largest finite value of a floating type; infinite for integers, which have no rounding.
#[must_use]
pub fn largest(element: ElementType) -> f64 {
    Format::of(element).map_or(f64::INFINITY, |f| f.largest)
}

/// Unit roundoff of a floating type: half the distance from 1 to the next value.
#[must_use]
pub fn unit_roundoff(element: ElementType) -> f64 {
    Format::of(element).map_or(0.0, |f| exp2(-f.fraction_bits - 1))
}

/// The bytes an output element holds before anything is written: a NaN that arithmetic does not
/// produce for floats, 0xA5 throughout for integers.
#[must_use]
pub fn poison(element: ElementType) -> &'static [u8] {
    match element {
        ElementType::F64 => &[0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xf8, 0x7f],
        ElementType::F32 => &[0xa5, 0xa5, 0xe5, 0x7f],
        ElementType::F16 => &[0xa5, 0x7e],
        ElementType::Bf16 => &[0xe5, 0x7f],
        ElementType::Fp8E4m3 => &[0xff],
        ElementType::Fp8E5m2 => &[0xfd],
        ElementType::I64 | ElementType::U64 => &[0xa5; 8],
        ElementType::I32 | ElementType::U32 => &[0xa5; 4],
        ElementType::I16 => &[0xa5; 2],
        ElementType::I8 | ElementType::U8 | ElementType::Bool => &[0xa5],
    }
}

/// Fills `out` with `elements` poisoned elements.
pub fn fill_poison(element: ElementType, elements: usize, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(elements * size(element));
    for _ in 0..elements {
        out.extend(poison(element));
    }
}

pub(crate) fn size(element: ElementType) -> usize {
    usize::try_from(element.size_bytes()).expect("an element has at most 8 bytes")
}

/// A binary floating format: values are `m * 2^(e - fraction_bits)`.
struct Format {
    fraction_bits: i32,
    min_exponent: i32,
    max_exponent: i32,
    largest: f64,
}

impl Format {
    fn of(element: ElementType) -> Option<Self> {
        let (fraction_bits, min_exponent, max_exponent, largest) = match element {
            ElementType::F64 => (52, -1022, 1023, f64::MAX),
            ElementType::F32 => (23, -126, 127, f64::from(f32::MAX)),
            ElementType::F16 => (10, -14, 15, 65_504.0),
            ElementType::Bf16 => (7, -126, 127, f64::from(bf16::MAX)),
            ElementType::Fp8E4m3 => (3, -6, 8, 448.0),
            ElementType::Fp8E5m2 => (2, -14, 15, 57_344.0),
            _ => return None,
        };
        Some(Self {
            fraction_bits,
            min_exponent,
            max_exponent,
            largest,
        })
    }

    fn bias(&self) -> i32 {
        1 - self.min_exponent
    }
}

fn encode_fp8(value: f64, element: ElementType) -> u8 {
    let format = Format::of(element).expect("FP8 has a format");
    let sign = u8::from(value.is_sign_negative()) << 7;
    if value.is_nan() {
        return sign | 0x7f;
    }
    let step = ulp(value, element);
    let rounded = ((value.abs() / step).round_ties_even() * step).min(format.largest);
    let exponent = exponent(rounded).max(format.min_exponent);
    // In units of the spacing, the value counts up from the start of its binade.
    let units = rounded / exp2(exponent - format.fraction_bits);
    let binades = f64::from(exponent - format.min_exponent) * exp2(format.fraction_bits);
    sign | (units + binades) as u8
}

fn decode_fp8(byte: u8, element: ElementType) -> f64 {
    let format = Format::of(element).expect("FP8 has a format");
    let sign = if byte & 0x80 == 0 { 1.0 } else { -1.0 };
    let bits = byte & 0x7f;
    match (element, bits) {
        (ElementType::Fp8E4m3, 0x7f) | (ElementType::Fp8E5m2, 0x7d..) => return f64::NAN,
        (ElementType::Fp8E5m2, 0x7c) => return sign * f64::INFINITY,
        _ => {}
    }
    let fraction = f64::from(bits & ((1 << format.fraction_bits) - 1));
    let biased = i32::from(bits >> format.fraction_bits);
    if biased == 0 {
        return sign * fraction * exp2(format.min_exponent - format.fraction_bits);
    }
    let hidden = exp2(format.fraction_bits);
    sign * (hidden + fraction) * exp2(biased - format.bias() - format.fraction_bits)
}

/// The exponent of the binade that holds `value`; very small for zero and `f64` subnormals.
fn exponent(value: f64) -> i32 {
    let biased = (value.to_bits() >> 52) & 0x7ff;
    i32::try_from(biased).expect("11 bits fit") - 1023
}

fn exp2(exponent: i32) -> f64 {
    f64::from(exponent).exp2()
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("a slice of exactly one element")
}

fn saturate<T: TryFrom<i64> + Into<i64> + Copy>(value: i64, low: T, high: T) -> T {
    let clamped = value.clamp(low.into(), high.into());
    T::try_from(clamped).unwrap_or(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: f64, element: ElementType) -> Vec<u8> {
        let mut out = Vec::new();
        encode(value, element, &mut out);
        out
    }

    #[test]
    fn known_encodings() {
        assert_eq!(bits(1.0, ElementType::F32), 1.0_f32.to_le_bytes());
        assert_eq!(bits(1.0, ElementType::F16), [0x00, 0x3c]);
        assert_eq!(bits(1.0, ElementType::Bf16), [0x80, 0x3f]);
        // E4M3: bias 7, so 1.0 = 0 0111 000; 448 = 0 1111 110. E5M2: bias 15, 1.0 = 0 01111 00.
        assert_eq!(bits(1.0, ElementType::Fp8E4m3), [0x38]);
        assert_eq!(bits(-1000.0, ElementType::Fp8E4m3), [0xfe]);
        assert_eq!(bits(1.0, ElementType::Fp8E5m2), [0x3c]);
        assert_eq!(bits(-3.9, ElementType::I8), [0xfd]);
        assert_eq!(bits(1e9, ElementType::U8), [0xff]);
        let mut out = Vec::new();
        encode_integer(i64::MAX, ElementType::I64, &mut out);
        assert_eq!(out, i64::MAX.to_le_bytes());
    }

    #[test]
    fn sixteen_bits_are_rounded_once() {
        // 11 bits: 1 + 2^-11 lies halfway between 1 (0x3c00) and 1 + 2^-10. What a float cannot hold decides.
        let half = |value| u16::from_le_bytes(bits(value, ElementType::F16).try_into().unwrap());
        let (halfway, little) = (0.5_f64.powi(11), 0.5_f64.powi(40));
        assert_eq!(half(1.0 + halfway), 0x3c00, "a tie goes to even");
        assert_eq!(half(1.0 + halfway + little), 0x3c01);
        assert_eq!(half(1.0 + 3.0 * halfway - little), 0x3c01);
        assert_eq!(half(-1.0 - halfway - little), 0xbc01);
        // 8 bits: the same with 1 + 2^-8.
        let bf16 = |value| u16::from_le_bytes(bits(value, ElementType::Bf16).try_into().unwrap());
        let halfway = 0.5_f64.powi(8);
        assert_eq!(bf16(1.0 + halfway), 0x3f80);
        assert_eq!(bf16(1.0 + halfway + little), 0x3f81);
        assert_eq!(bf16(1.0 + 3.0 * halfway - little), 0x3f81);
    }

    #[test]
    fn every_fp8_value_survives_the_round_trip() {
        for element in [ElementType::Fp8E4m3, ElementType::Fp8E5m2] {
            for byte in 0..=255_u8 {
                let value = decode_fp8(byte, element);
                if value.is_finite() {
                    assert_eq!(bits(value, element), [byte], "{element:?} {value}");
                }
            }
        }
    }

    #[test]
    fn ties_go_to_even() {
        // E4M3 around 1: spacing 1/8. 1 + 1/16 is halfway and goes to 1.0; 1 + 3/16 to 1.25.
        assert_eq!(bits(1.0625, ElementType::Fp8E4m3), [0x38]);
        assert_eq!(bits(1.1875, ElementType::Fp8E4m3), [0x3a]);
        // Carry into the next binade: 1.96875 rounds to 2.0 = 0 1000 000.
        assert_eq!(bits(1.96875, ElementType::Fp8E4m3), [0x40]);
    }

    #[test]
    fn spacing_is_that_of_the_type() {
        assert_eq!(ulp(1.0, ElementType::F32), 2_f64.powi(-23));
        assert_eq!(ulp(-3.0, ElementType::F32), 2_f64.powi(-22));
        assert_eq!(ulp(0.0, ElementType::F32), 2_f64.powi(-149));
        assert_eq!(ulp(1.0, ElementType::Bf16), 2_f64.powi(-7));
        assert_eq!(ulp(1e-9, ElementType::F16), 2_f64.powi(-24));
        assert_eq!(ulp(5.0, ElementType::I32), 0.0);
        assert_eq!(unit_roundoff(ElementType::F32), 2_f64.powi(-24));
    }

    #[test]
    fn poison_is_nan_for_floats_and_fills_elements() {
        for element in [
            ElementType::F64,
            ElementType::F32,
            ElementType::F16,
            ElementType::Bf16,
            ElementType::Fp8E4m3,
            ElementType::Fp8E5m2,
        ] {
            assert_eq!(poison(element).len(), size(element));
            assert!(decode(poison(element), element).is_nan(), "{element:?}");
        }
        let mut out = vec![1, 2, 3];
        fill_poison(ElementType::I32, 2, &mut out);
        assert_eq!(out, [0xa5; 8]);
    }

    #[test]
    fn widening_keeps_values() {
        let bytes: Vec<u8> = [1.5_f32, -2.0]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        assert_eq!(widen(&bytes, ElementType::F32), [1.5, -2.0]);
    }
}
