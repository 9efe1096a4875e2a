//! Exact values and their rounding into any IEEE format: the reference of every other module.

use super::Rounding;

/// A binary floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// Significant bits, the hidden one included.
    pub(crate) precision: u32,
    pub(crate) exponent_bits: u32,
}

pub(crate) const F64: Format = Format {
    precision: 53,
    exponent_bits: 11,
};
pub(crate) const F32: Format = Format {
    precision: 24,
    exponent_bits: 8,
};
pub(crate) const F16: Format = Format {
    precision: 11,
    exponent_bits: 5,
};
pub(crate) const BF16: Format = Format {
    precision: 8,
    exponent_bits: 8,
};

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    const fn fraction_bits(self) -> u32 {
        self.precision - 1
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.fraction_bits() + self.exponent_bits)
    }

    pub(crate) const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits()
    }

    pub(crate) const fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// The NaN that arithmetic produces: all ones below the sign; for f64 the quiet one.
    pub(crate) const fn nan(self) -> u64 {
        if self.precision == 53 {
            0x7ff8_0000_0000_0000
        } else {
            self.sign_bit() - 1
        }
    }
}

/// A number, unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    Nan,
    Infinite { negative: bool },
    Finite(Exact),
}

/// `mantissa * 2^exponent`, plus something below one unit of the mantissa if `sticky`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    pub(crate) exponent: i32,
    pub(crate) mantissa: u128,
    /// With it, the mantissa must hold at least two bits more than the target format.
    pub(crate) sticky: bool,
}

impl Exact {
    pub(crate) const fn zero(negative: bool) -> Self {
        Self {
            negative,
            exponent: 0,
            mantissa: 0,
            sticky: false,
        }
    }

    pub(crate) const fn integer(value: i128) -> Self {
        Self {
            negative: value < 0,
            exponent: 0,
            mantissa: value.unsigned_abs(),
            sticky: false,
        }
    }

    const fn is_zero(self) -> bool {
        self.mantissa == 0 && !self.sticky
    }
}

pub(crate) fn unpack(bits: u64, format: Format) -> Value {
    let negative = bits & format.sign_bit() != 0;
    let magnitude = bits & (format.sign_bit() - 1);
    let fraction = u128::from(magnitude & ((1 << format.fraction_bits()) - 1));
    let field = (magnitude >> format.fraction_bits()) as i32;
    if magnitude > format.infinity() {
        return Value::Nan;
    }
    if magnitude == format.infinity() {
        return Value::Infinite { negative };
    }
    let lowest = 1 - format.bias() - format.fraction_bits() as i32;
    let (mantissa, exponent) = if field == 0 {
        (fraction, lowest)
    } else {
        (fraction | 1 << format.fraction_bits(), lowest + field - 1)
    };
    Value::Finite(Exact {
        negative,
        exponent,
        mantissa,
        sticky: false,
    })
}

/// The nearest value of the format in the given direction, as bits.
pub(crate) fn round(value: Exact, format: Format, mode: Rounding) -> u64 {
    let sign = if value.negative { format.sign_bit() } else { 0 };
    if value.is_zero() {
        return sign;
    }
    let fraction_bits = format.fraction_bits() as i32;
    let lowest = 1 - format.bias() - fraction_bits;
    let top = value.exponent + 127 - value.mantissa.leading_zeros() as i32;
    let mut unit = (top - fraction_bits).max(lowest);
    let shift = unit - value.exponent;
    let (mut mantissa, half, rest) = if shift <= 0 {
        (value.mantissa << -shift, false, value.sticky)
    } else if shift > 127 {
        let half = shift == 128 && value.mantissa >> 127 != 0;
        let rest = if half {
            value.mantissa << 1 != 0
        } else {
            value.mantissa != 0
        };
        (0, half, rest || value.sticky)
    } else {
        let lost = value.mantissa & ((1 << shift) - 1);
        let half = lost >> (shift - 1) != 0;
        let below = lost & ((1 << (shift - 1)) - 1);
        (value.mantissa >> shift, half, below != 0 || value.sticky)
    };
    let up = match mode {
        Rounding::Nearest => half && (rest || mantissa & 1 != 0),
        Rounding::Zero => false,
        Rounding::Down => value.negative && (half || rest),
        Rounding::Up => !value.negative && (half || rest),
    };
    mantissa += u128::from(up);
    if mantissa >> format.precision != 0 {
        mantissa >>= 1;
        unit += 1;
    }
    if mantissa >> format.fraction_bits() == 0 {
        return sign | mantissa as u64;
    }
    let field = (unit - lowest + 1) as u64;
    if field >= (1 << format.exponent_bits) - 1 {
        let away = match mode {
            Rounding::Nearest => true,
            Rounding::Zero => false,
            Rounding::Down => value.negative,
            Rounding::Up => !value.negative,
        };
        return sign
            | if away {
                format.infinity()
            } else {
                format.largest()
            };
    }
    let fraction = mantissa as u64 & ((1 << format.fraction_bits()) - 1);
    sign | field << format.fraction_bits() | fraction
}

/// `a * b + c`, rounded once.
pub(crate) fn fma(a: u64, b: u64, c: u64, format: Format, mode: Rounding) -> u64 {
    let (a, b, c) = (unpack(a, format), unpack(b, format), unpack(c, format));
    let negative = sign(a) != sign(b);
    let product = match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => return format.nan(),
        (Value::Finite(a), Value::Finite(b)) => Exact {
            negative,
            exponent: a.exponent + b.exponent,
            mantissa: a.mantissa * b.mantissa,
            sticky: false,
        },
        (Value::Finite(zero), _) | (_, Value::Finite(zero)) if zero.is_zero() => {
            return format.nan();
        }
        _ => {
            return match c {
                Value::Nan => format.nan(),
                Value::Infinite { negative: other } if other != negative => format.nan(),
                _ => infinity(negative, format),
            };
        }
    };
    match c {
        Value::Nan => format.nan(),
        Value::Infinite { negative } => infinity(negative, format),
        Value::Finite(addend) => round(sum(product, addend, mode), format, mode),
    }
}

pub(crate) fn add(a: u64, b: u64, format: Format, mode: Rounding) -> u64 {
    match (unpack(a, format), unpack(b, format)) {
        (Value::Nan, _) | (_, Value::Nan) => format.nan(),
        (Value::Infinite { negative: a }, Value::Infinite { negative: b }) if a != b => {
            format.nan()
        }
        (Value::Infinite { negative }, _) | (_, Value::Infinite { negative }) => {
            infinity(negative, format)
        }
        (Value::Finite(a), Value::Finite(b)) => round(sum(a, b, mode), format, mode),
    }
}

pub(crate) fn multiply(a: u64, b: u64, format: Format, mode: Rounding) -> u64 {
    let (a, b) = (unpack(a, format), unpack(b, format));
    let negative = sign(a) != sign(b);
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => format.nan(),
        (Value::Finite(a), Value::Finite(b)) => {
            let exponent = a.exponent + b.exponent;
            let mantissa = a.mantissa * b.mantissa;
            round(
                Exact {
                    negative,
                    exponent,
                    mantissa,
                    sticky: false,
                },
                format,
                mode,
            )
        }
        (Value::Finite(zero), _) | (_, Value::Finite(zero)) if zero.is_zero() => format.nan(),
        _ => infinity(negative, format),
    }
}

pub(crate) fn divide(a: u64, b: u64, format: Format, mode: Rounding) -> u64 {
    let (a, b) = (unpack(a, format), unpack(b, format));
    let negative = sign(a) != sign(b);
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite { .. }, Value::Infinite { .. }) => {
            format.nan()
        }
        (Value::Infinite { .. }, _) => infinity(negative, format),
        (_, Value::Infinite { .. }) => round(Exact::zero(negative), format, mode),
        (Value::Finite(a), Value::Finite(b)) => match (a.is_zero(), b.is_zero()) {
            (true, true) => format.nan(),
            (false, true) => infinity(negative, format),
            (true, false) => round(Exact::zero(negative), format, mode),
            (false, false) => {
                let (a, b) = (normal(a, 120), normal(b, 52));
                let quotient = Exact {
                    negative,
                    exponent: a.exponent - b.exponent,
                    mantissa: a.mantissa / b.mantissa,
                    sticky: a.mantissa % b.mantissa != 0,
                };
                round(quotient, format, mode)
            }
        },
    }
}

pub(crate) fn square_root(a: u64, format: Format, mode: Rounding) -> u64 {
    match unpack(a, format) {
        Value::Nan => format.nan(),
        Value::Infinite { negative: false } => format.infinity(),
        Value::Finite(value) if value.is_zero() => a,
        Value::Infinite { .. } => format.nan(),
        Value::Finite(value) if value.negative => format.nan(),
        Value::Finite(value) => {
            let mut value = normal(value, 120);
            if value.exponent % 2 != 0 {
                value.mantissa <<= 1;
                value.exponent -= 1;
            }
            let root = value.mantissa.isqrt();
            let exact = Exact {
                negative: false,
                exponent: value.exponent / 2,
                mantissa: root,
                sticky: root * root != value.mantissa,
            };
            round(exact, format, mode)
        }
    }
}

/// From one format to another.
pub(crate) fn convert(bits: u64, from: Format, to: Format, mode: Rounding) -> u64 {
    match unpack(bits, from) {
        Value::Nan => to.nan(),
        Value::Infinite { negative } => infinity(negative, to),
        Value::Finite(value) => round(value, to, mode),
    }
}

fn sign(value: Value) -> bool {
    match value {
        Value::Nan => false,
        Value::Infinite { negative } => negative,
        Value::Finite(value) => value.negative,
    }
}

fn infinity(negative: bool, format: Format) -> u64 {
    format.infinity() | if negative { format.sign_bit() } else { 0 }
}

/// The same value with the mantissa's top bit at `bit`; the mantissa must not be zero.
fn normal(value: Exact, bit: u32) -> Exact {
    let top = 127 - value.mantissa.leading_zeros();
    let shift = bit as i32 - top as i32;
    let mantissa = if shift >= 0 {
        value.mantissa << shift
    } else {
        value.mantissa >> -shift
    };
    Exact {
        mantissa,
        exponent: value.exponent - shift,
        ..value
    }
}

/// `a + b` of two exact values of at most 106 bits, with a sticky bit for what falls below.
fn sum(a: Exact, b: Exact, mode: Rounding) -> Exact {
    match (a.is_zero(), b.is_zero()) {
        (true, true) => {
            let negative = if a.negative == b.negative {
                a.negative
            } else {
                mode == Rounding::Down
            };
            return Exact::zero(negative);
        }
        (true, false) => return b,
        (false, true) => return a,
        (false, false) => {}
    }
    let (mut large, mut small) = (normal(a, 125), normal(b, 125));
    if (large.exponent, large.mantissa) < (small.exponent, small.mantissa) {
        std::mem::swap(&mut large, &mut small);
    }
    let distance = (large.exponent - small.exponent) as u32;
    let (shifted, sticky) = if distance > 127 {
        (0, true)
    } else {
        let shifted = small.mantissa >> distance;
        (shifted, shifted << distance != small.mantissa)
    };
    if large.negative == small.negative {
        return Exact {
            mantissa: large.mantissa + shifted,
            sticky,
            ..large
        };
    }
    let mantissa = large.mantissa - shifted - u128::from(sticky);
    if mantissa == 0 && !sticky {
        return Exact::zero(mode == Rounding::Down);
    }
    Exact {
        mantissa,
        sticky,
        ..large
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn to_nearest_agrees_with_the_hosts_doubles(a: u64, b: u64, c: u64) {
            let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            same(add(a, b, F64, Rounding::Nearest), x + y)?;
            same(multiply(a, b, F64, Rounding::Nearest), x * y)?;
            same(divide(a, b, F64, Rounding::Nearest), x / y)?;
            same(square_root(a, F64, Rounding::Nearest), x.sqrt())?;
            same(fma(a, b, c, F64, Rounding::Nearest), x.mul_add(y, z))?;
        }

        /// Operands of like size, where cancellation and ties happen.
        #[test]
        fn near_cancellation_agrees_with_the_hosts(a in 0u64..1 << 54, b in 0u64..1 << 54, shift in 0u32..60) {
            let x = a as f64;
            let y = -(b as f64) * 2f64.powi(-(shift as i32));
            let z = x * y;
            same(add(x.to_bits(), y.to_bits(), F64, Rounding::Nearest), x + y)?;
            same(fma(x.to_bits(), y.to_bits(), (-z).to_bits(), F64, Rounding::Nearest), x.mul_add(y, -z))?;
        }

        #[test]
        fn narrowing_agrees_with_the_host(a: u64) {
            let narrow = f64::from_bits(a) as f32;
            let ours = convert(a, F64, F32, Rounding::Nearest) as u32;
            prop_assert!(narrow.is_nan() && f32::from_bits(ours).is_nan() || ours == narrow.to_bits());
        }

        /// The directed results bracket the nearest one and differ by at most one unit.
        #[test]
        fn directed_modes_bracket(a: u64, b: u64) {
            let down = divide(a, b, F64, Rounding::Down);
            let up = divide(a, b, F64, Rounding::Up);
            let (low, high) = (f64::from_bits(down), f64::from_bits(up));
            prop_assume!(!low.is_nan());
            prop_assert!(low <= high);
            prop_assert!(low == high || low.next_up() == high);
        }
    }

    fn same(ours: u64, host: f64) -> Result<(), TestCaseError> {
        if host.is_nan() {
            prop_assert!(f64::from_bits(ours).is_nan());
        } else {
            prop_assert_eq!(ours, host.to_bits());
        }
        Ok(())
    }

    #[test]
    fn opposite_zeros_sum_to_minus_zero_only_downward() {
        let minus = (-0.0f64).to_bits();
        assert_eq!(add(0, minus, F64, Rounding::Nearest), 0);
        assert_eq!(add(0, minus, F64, Rounding::Down), minus);
        let (one, less) = (1f64.to_bits(), (-1f64).to_bits());
        assert_eq!(add(one, less, F64, Rounding::Down), minus);
        assert_eq!(fma(one, one, less, F64, Rounding::Up), 0);
    }

    #[test]
    fn overflow_stops_at_the_largest_when_rounding_inward() {
        let large = f64::MAX.to_bits();
        assert_eq!(multiply(large, large, F64, Rounding::Zero), large);
        assert_eq!(
            multiply(large, large, F64, Rounding::Up),
            f64::INFINITY.to_bits()
        );
    }
}
