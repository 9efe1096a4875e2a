//! Element by element: what a submission wrote against what the reference says.
//!
//! A floating element `x` is right if `|x - r| <= slack * S + ulp(r) / 2`, where `r` is the
//! reference in double precision, `S` the sum of the magnitudes of the terms behind that very
//! element, and `slack` is `c * sqrt(n) * eps_acc` of the package. NaN and infinities match only
//! where the reference has the same. Integers are right if equal. There is no global norm in which
//! a few large elements could hide errors of the others.

use domain::ElementType;
use domain::report::{ElementMismatch, OutputMismatch};

use crate::element;

/// How many mismatches are told in full.
pub const FIRST_MISMATCHES: usize = 5;

/// The output that is compared.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// The parameter's name in the problem.
    pub name: &'a str,
    /// Type of each element.
    pub element: ElementType,
    /// Extents; row-major.
    pub dims: &'a [u64],
    /// Whether it held the poison pattern before the run (an `out` tensor, not `inout`).
    pub poisoned: bool,
}

/// The buffers do not fit each other, or the reference's are no reference. The judge's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// A buffer of another length than the output's extents ask for.
    #[error("`{output}`: the {buffer} has {actual} elements where {expected} are needed")]
    Length {
        /// The parameter.
        output: String,
        /// Which buffer.
        buffer: &'static str,
        /// Elements it has.
        actual: usize,
        /// Elements it should have.
        expected: usize,
    },
    /// A finite reference value with a scale that is negative or not finite.
    #[error("`{output}`: the reference's scale of element {index} is {scale}")]
    Scale {
        /// The parameter.
        output: String,
        /// Row-major index.
        index: usize,
        /// What the reference delivered.
        scale: String,
    },
}

/// Compares a floating output. `slack` comes from [`crate::Tolerance::slack`]; `reference` and
/// `scale` have one entry an element.
///
/// In the result `nan` and `inf` count elements that are so where the reference is not; `unwritten`
/// counts elements that still hold the poison, which are neither. All count in `count`, which is
/// zero exactly if the output is right.
pub fn floats(
    output: &Output<'_>,
    actual: &[u8],
    reference: &[f64],
    scale: &[f64],
    slack: f64,
) -> Result<OutputMismatch, CompareError> {
    let size = element::size(output.element);
    let elements = check_lengths(output, actual, reference.len(), scale.len())?;
    let mut tally = Tally::new(output, elements);
    for (index, bytes) in actual.chunks_exact(size).enumerate() {
        let (r, s) = (reference[index], scale[index]);
        if r.is_finite() && !(s.is_finite() && s >= 0.0) {
            return Err(CompareError::Scale {
                output: output.name.to_owned(),
                index,
                scale: spell(s),
            });
        }
        let x = element::decode(bytes, output.element);
        let tolerance = slack * s + 0.5 * element::ulp(r, output.element);
        tally.errors(x, r);
        if output.poisoned && bytes == element::poison(output.element) {
            tally.mismatch.unwritten += 1;
        } else if admitted(x, r, tolerance, output.element) {
            continue;
        } else if x.is_nan() {
            tally.mismatch.nan += 1;
        } else if x.is_infinite() {
            tally.mismatch.inf += 1;
        }
        tally.count(index, || (spell(r), spell(x), spell(tolerance)));
    }
    Ok(tally.mismatch)
}

/// Compares an output whose elements must be equal, byte by byte.
pub fn exact(
    output: &Output<'_>,
    actual: &[u8],
    reference: &[u8],
) -> Result<OutputMismatch, CompareError> {
    let size = element::size(output.element);
    let expected = reference.len() / size;
    let elements = check_lengths(output, actual, expected, expected)?;
    let mut tally = Tally::new(output, elements);
    let pairs = actual.chunks_exact(size).zip(reference.chunks_exact(size));
    for (index, (x, r)) in pairs.enumerate() {
        if x == r {
            continue;
        }
        tally.errors(
            element::decode(x, output.element),
            element::decode(r, output.element),
        );
        if output.poisoned && x == element::poison(output.element) {
            tally.mismatch.unwritten += 1;
        }
        let spell = |bytes| spell_integer(bytes, output.element);
        tally.count(index, || (spell(r), spell(x), "0".to_owned()));
    }
    Ok(tally.mismatch)
}

fn admitted(x: f64, r: f64, tolerance: f64, element: ElementType) -> bool {
    if r.is_nan() {
        return x.is_nan();
    }
    if r.is_infinite() {
        return x == r;
    }
    if x.is_infinite() {
        // Right only where rounding a value within the tolerance overflows the output type.
        let largest = element::largest(element);
        return x.signum() == r.signum()
            && r.abs() + tolerance >= largest + 0.5 * element::ulp(largest, element);
    }
    (x - r).abs() <= tolerance
}

fn check_lengths(
    output: &Output<'_>,
    actual: &[u8],
    reference: usize,
    scale: usize,
) -> Result<usize, CompareError> {
    let expected = output
        .dims
        .iter()
        .try_fold(1_u64, |n, &d| n.checked_mul(d))
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(usize::MAX);
    let size = element::size(output.element);
    let whole = actual.len().is_multiple_of(size);
    let found = [
        (
            "output",
            if whole {
                actual.len() / size
            } else {
                usize::MAX
            },
        ),
        ("reference", reference),
        ("scale", scale),
    ];
    for (buffer, count) in found {
        if count != expected {
            return Err(CompareError::Length {
                output: output.name.to_owned(),
                buffer,
                actual: count,
                expected,
            });
        }
    }
    Ok(expected)
}

/// What has been seen so far.
struct Tally<'a> {
    dims: &'a [u64],
    mismatch: OutputMismatch,
}

impl<'a> Tally<'a> {
    fn new(output: &Output<'a>, elements: usize) -> Self {
        Self {
            dims: output.dims,
            mismatch: OutputMismatch {
                output: output.name.to_owned(),
                count: 0,
                elements: elements as u64,
                nan: 0,
                inf: 0,
                unwritten: 0,
                max_abs_error: None,
                max_rel_error: None,
                first: Vec::new(),
            },
        }
    }

    /// Takes the error of an element into the maxima, where it is finite.
    fn errors(&mut self, x: f64, r: f64) {
        let error = (x - r).abs();
        if !error.is_finite() {
            return;
        }
        let raise = |max: &mut Option<f64>, value: f64| {
            if max.is_none_or(|m| value > m) {
                *max = Some(value);
            }
        };
        raise(&mut self.mismatch.max_abs_error, error);
        if r != 0.0 {
            raise(&mut self.mismatch.max_rel_error, error / r.abs());
        }
    }

    fn count(&mut self, index: usize, values: impl FnOnce() -> (String, String, String)) {
        self.mismatch.count += 1;
        if self.mismatch.first.len() < FIRST_MISMATCHES {
            let (expected, actual, tolerance) = values();
            self.mismatch.first.push(ElementMismatch {
                index: unravel(index as u64, self.dims),
                expected,
                actual,
                tolerance,
            });
        }
    }
}

/// The index along each dimension.
fn unravel(mut index: u64, dims: &[u64]) -> Vec<u64> {
    let mut indices = vec![0; dims.len()];
    for (slot, &extent) in indices.iter_mut().zip(dims).rev() {
        *slot = index % extent;
        index /= extent;
    }
    indices
}

fn spell(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value == 0.0 || value.is_infinite() || (1e-4..1e7).contains(&value.abs()) {
        return value.to_string();
    }
    format!("{value:e}")
}

fn spell_integer(bytes: &[u8], element: ElementType) -> String {
    match element {
        ElementType::I64 | ElementType::U64 => {
            let raw: [u8; 8] = bytes.try_into().expect("eight bytes an element");
            if element == ElementType::I64 {
                i64::from_le_bytes(raw).to_string()
            } else {
                u64::from_le_bytes(raw).to_string()
            }
        }
        _ => spell(element::decode(bytes, element)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;

    fn out(element: ElementType, dims: &[u64]) -> Output<'_> {
        Output {
            name: "y",
            element,
            dims,
            poisoned: true,
        }
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn the_tolerance_is_slack_times_scale_plus_half_an_ulp() {
        // r = 1, S = 4, slack = 2^-20: admitted 2^-18 + 2^-24.
        // Above 1 the spacing of f32 is 2^-23: 2^-18 is 32 steps of it, 33 steps are too many.
        let step = 2_f32.powi(-23);
        for (steps, wrong) in [(0.0, 0), (32.0, 0), (33.0, 1), (-32.0, 0), (-33.0, 1)] {
            let x = f32s(&[1.0 + steps * step]);
            let found = floats(
                &out(ElementType::F32, &[1]),
                &x,
                &[1.0],
                &[4.0],
                2_f64.powi(-20),
            );
            assert_eq!(found.unwrap().count, wrong, "{steps}");
        }
    }

    #[test]
    fn a_scale_belongs_to_its_own_element() {
        // The same error of 0.01 passes where S is large and fails where it is small.
        let x = f32s(&[1000.01, 1.01]);
        let found = floats(
            &out(ElementType::F32, &[2]),
            &x,
            &[1000.0, 1.0],
            &[1000.0, 1.0],
            1e-4,
        )
        .unwrap();
        assert_eq!(found.count, 1);
        assert_eq!(found.first[0].index, [1]);
        assert_eq!(found.first[0].expected, "1");
    }

    #[test]
    fn nan_and_infinity_match_only_the_same() {
        let x = f32s(&[
            f32::NAN,
            f32::NAN,
            f32::INFINITY,
            f32::INFINITY,
            f32::NEG_INFINITY,
            1.0,
        ]);
        let r = [NAN, 1.0, INF, 1.0, INF, NAN];
        let found = floats(&out(ElementType::F32, &[6]), &x, &r, &[1.0; 6], 0.5).unwrap();
        // Wrong: NaN for 1, inf for 1, -inf for inf, 1 for NaN.
        assert_eq!(found.count, 4);
        assert_eq!((found.nan, found.inf, found.unwritten), (1, 2, 0));
        let told: Vec<_> = found
            .first
            .iter()
            .map(|m| (m.index[0], m.expected.as_str(), m.actual.as_str()))
            .collect();
        let wanted = [
            (1, "1", "NaN"),
            (3, "1", "inf"),
            (4, "inf", "-inf"),
            (5, "NaN", "1"),
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn poison_is_unwritten_even_where_nan_is_right() {
        let mut x = Vec::new();
        element::fill_poison(ElementType::F32, 2, &mut x);
        let r = [NAN, 1.0];
        let found = floats(&out(ElementType::F32, &[2]), &x, &r, &[1.0; 2], 1.0).unwrap();
        assert_eq!((found.count, found.unwritten, found.nan), (2, 2, 0));
        // An inout tensor was never poisoned.
        let inout = Output {
            poisoned: false,
            ..out(ElementType::F32, &[2])
        };
        let found = floats(&inout, &x, &r, &[1.0; 2], 1.0).unwrap();
        assert_eq!((found.count, found.unwritten, found.nan), (1, 0, 1));
    }

    #[test]
    fn overflow_of_the_output_type_is_right_where_it_must_happen() {
        // 65504 is the largest f16; from 65520 on, rounding gives infinity.
        let infinity = half::f16::INFINITY.to_le_bytes();
        for (r, wrong) in [(65_520.0, 0), (65_500.0, 1), (-65_520.0, 1)] {
            let f16 = out(ElementType::F16, &[1]);
            let found = floats(&f16, &infinity, &[r], &[0.0], 0.0).unwrap();
            // r = 65500 with half an ulp (16) of tolerance stays below 65520.
            assert_eq!(found.count, wrong, "{r}");
        }
    }

    #[test]
    fn indices_and_maxima_are_told() {
        let x = f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0]);
        let r = [1.0, 2.0, 3.0, 4.0, 4.0, 6.0];
        let found = floats(&out(ElementType::F32, &[2, 3]), &x, &r, &[0.0; 6], 0.0).unwrap();
        assert_eq!((found.count, found.elements), (2, 6));
        assert_eq!(found.first[0].index, [1, 1]);
        assert_eq!(found.first[1].index, [1, 2]);
        assert_eq!(found.max_abs_error, Some(3.0)); // 9 for 6
        assert_eq!(found.max_rel_error, Some(0.5)); // 3 of 6
    }

    #[test]
    fn only_the_first_are_told() {
        let found = floats(
            &out(ElementType::F32, &[100]),
            &f32s(&[0.0; 100]),
            &[1.0; 100],
            &[1.0; 100],
            1e-6,
        );
        let found = found.unwrap();
        assert_eq!((found.count, found.first.len()), (100, FIRST_MISMATCHES));
    }

    #[test]
    fn integers_must_be_equal() {
        let bytes =
            |values: &[i64]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
        // 2^53 + 1 is no double: equality is decided on the bytes.
        let big = (1 << 53) + 1;
        let poison = i64::from_le_bytes([0xa5; 8]);
        let found = exact(
            &out(ElementType::I64, &[3]),
            &bytes(&[big, big - 1, poison]),
            &bytes(&[big, big, 7]),
        )
        .unwrap();
        assert_eq!((found.count, found.unwritten), (2, 1));
        assert_eq!(found.first[0].expected, "9007199254740993");
        assert_eq!(found.first[0].actual, "9007199254740992");
        assert_eq!(found.first[0].tolerance, "0");
    }

    #[test]
    fn buffers_that_do_not_fit_are_the_judges_fault() {
        let f32 = out(ElementType::F32, &[2]);
        let x = f32s(&[1.0, 2.0]);
        assert!(matches!(
            floats(&f32, &x[..7], &[1.0; 2], &[1.0; 2], 0.0),
            Err(CompareError::Length {
                buffer: "output",
                ..
            })
        ));
        assert!(matches!(
            floats(&f32, &x, &[1.0; 3], &[1.0; 2], 0.0),
            Err(CompareError::Length {
                buffer: "reference",
                ..
            })
        ));
        assert!(matches!(
            floats(&f32, &x, &[1.0; 2], &[NAN, 1.0], 0.0),
            Err(CompareError::Scale { index: 0, .. })
        ));
        assert!(exact(&out(ElementType::I32, &[2]), &[0; 8], &[0; 4]).is_err());
    }
}
