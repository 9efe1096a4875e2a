//! Eight-bit floats: e4m3 (no infinity, NaN 0x7f, largest 448) and e5m2 (largest 57344).

use super::Rounding;
use super::exact::{self, Format, Value};

const E5M2: Format = Format {
    precision: 3,
    exponent_bits: 5,
};

/// f32 to e4m3, to nearest, clamped to +-448; NaN becomes 0x7f.
pub(crate) fn to_e4m3(bits: u32) -> u8 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        return 0x7f;
    }
    let sign = if bits >> 31 != 0 { 0x80 } else { 0 };
    let magnitude = value.abs();
    if magnitude >= 448.0 {
        return sign | 0x7e;
    }
    // One exponent more than IEEE's layout has: round with a wider exponent and re-bias.
    let wide = Format {
        precision: 4,
        exponent_bits: 5,
    };
    let Value::Finite(exact) = exact::unpack(u64::from(magnitude.to_bits()), exact::F32) else {
        return sign | 0x7e;
    };
    // Scaling by 2^-8 turns e4m3's bias of 7 into the wider format's 15, subnormals included.
    let scaled = exact::Exact {
        exponent: exact.exponent - 8,
        ..exact
    };
    sign | exact::round(scaled, wide, Rounding::Nearest).min(0x7e) as u8
}

/// f32 to e5m2, to nearest, clamped to +-57344; NaN becomes 0x7f.
pub(crate) fn to_e5m2(bits: u32) -> u8 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        return 0x7f;
    }
    let rounded = exact::convert(u64::from(bits), exact::F32, E5M2, Rounding::Nearest) as u8;
    if rounded & 0x7f == E5M2.infinity() as u8 {
        rounded - 1
    } else {
        rounded
    }
}

pub(crate) fn from_e4m3(bits: u8) -> f32 {
    let magnitude = bits & 0x7f;
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    if magnitude == 0x7f {
        return f32::from_bits(super::single::NAN);
    }
    let (exponent, fraction) = (i32::from(magnitude >> 3), f32::from(magnitude & 7));
    let value = if exponent == 0 {
        fraction * 2f32.powi(-9)
    } else {
        (8.0 + fraction) * 2f32.powi(exponent - 10)
    };
    sign * value
}

pub(crate) fn from_e5m2(bits: u8) -> f32 {
    use super::half::{F16, Half};
    F16::widen(u16::from(bits) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_survives_a_round_trip() {
        for bits in 0..=u8::MAX {
            let value = from_e4m3(bits);
            if !value.is_nan() {
                assert_eq!(to_e4m3(value.to_bits()), bits, "e4m3 {bits:#x}");
            }
            let value = from_e5m2(bits);
            if value.is_finite() {
                assert_eq!(to_e5m2(value.to_bits()), bits, "e5m2 {bits:#x}");
            }
        }
    }

    #[test]
    fn known_values_and_clamping() {
        assert_eq!(from_e4m3(0x38), 1.0);
        assert_eq!(from_e4m3(0x7e), 448.0);
        assert_eq!(from_e5m2(0x3c), 1.0);
        assert_eq!(to_e4m3(1e9f32.to_bits()), 0x7e);
        assert_eq!(to_e4m3((-1e9f32).to_bits()), 0xfe);
        assert_eq!(to_e5m2(1e9f32.to_bits()), 0x7b);
        assert_eq!(to_e5m2(f32::NEG_INFINITY.to_bits()), 0xfb);
        // 17 lies between 16 and 18: the tie goes to the even 16.
        assert_eq!(from_e4m3(to_e4m3(17f32.to_bits())), 16.0);
    }
}
