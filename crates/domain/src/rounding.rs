//! Rounding to types of fewer bits than a `float`, once. A library that goes by way of `float`, as processors'
//! own instructions do, rounds twice: the inputs that a host makes then differ from a GPU's.

/// `value` as a `float` that the next conversion rounds as it would round `value` itself, to any type of at
/// most 22 significant bits: where the `float` is not exact, its last bit is 1.
#[must_use]
pub fn odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    let exact = f64::from(nearest);
    let is_odd = nearest.to_bits() & 1 == 1;
    if exact == value || is_odd || !nearest.is_finite() {
        return nearest;
    }
    // The neighbour on the other side of `value`; bits count magnitudes.
    let bits = nearest.to_bits();
    f32::from_bits(match value.abs() > exact.abs() {
        true => bits + 1,
        false => bits - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exact_stays() {
        for value in [0.0, -0.0, 1.0, -2.5, 1024.0, f64::INFINITY] {
            assert_eq!(odd_f32(value).to_bits(), (value as f32).to_bits());
        }
        assert!(odd_f32(f64::NAN).is_nan());
    }

    #[test]
    fn what_lies_between_two_floats_is_the_odd_one() {
        let last = f64::from(f32::EPSILON); // 2^-23
        // 1 is even, 1 + 2^-23 is odd, 1 + 2^-22 is even.
        for value in [1.0 + 0.01 * last, 1.0 + 0.99 * last, 1.0 + 1.7 * last] {
            assert_eq!(f64::from(odd_f32(value)), 1.0 + last);
            assert_eq!(f64::from(odd_f32(-value)), -1.0 - last);
        }
        assert_eq!(odd_f32(1e-60).to_bits(), 1, "the least of all");
        assert_eq!(odd_f32(-1e-60).to_bits(), 0x8000_0001);
    }
}
