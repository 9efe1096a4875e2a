//! Element by element: what a submission wrote against what the reference says.
//!
//! A floating element `x` is right if `|x - r| <= slack * S + ulp(r) / 2`, where `r` is the
//! reference in double precision, `S` the sum of the magnitudes of the terms behind that very
//! element, and `slack` is `c * sqrt(n) * eps_acc` of the package. NaN and infinities match only
//! where the reference has the same. Integers are right if equal. There is no global norm in which
//! a few large elements could hide errors of the others.

use std::ops::Range;

use domain::ElementType;
use domain::report::{ElementMismatch, LikelyCause, OutputMismatch};

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
    in_pieces(output, elements, |index, tally| {
        let bytes = &actual[index * size..][..size];
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
            return Ok(());
        } else if x.is_nan() {
            tally.mismatch.nan += 1;
            // Whatever is added to the poison of a floating type is NaN.
            tally.on_poison += u64::from(r.is_finite());
        } else if x.is_infinite() {
            tally.mismatch.inf += 1;
        }
        tally.count(index, || (spell(r), spell(x), spell(tolerance)));
        Ok(())
    })
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
    in_pieces(output, elements, |index, tally| {
        let [x, r] = [actual, reference].map(|buffer| &buffer[index * size..][..size]);
        if x == r {
            return Ok(());
        }
        tally.errors(
            element::decode(x, output.element),
            element::decode(r, output.element),
        );
        if output.poisoned && x == element::poison(output.element) {
            tally.mismatch.unwritten += 1;
        } else if on_poison(x, r, output.element) {
            tally.on_poison += 1;
        }
        let spell = |bytes| spell_integer(bytes, output.element);
        tally.count(index, || (spell(r), spell(x), "0".to_owned()));
        Ok(())
    })
}

/// No thread is worth fewer elements.
const PIECE: usize = 1 << 16;

/// Looks at every element, on all processors where there are many: a wrong output of a hundred million
/// elements holds up whoever waits for the device.
fn in_pieces<'a>(
    output: &Output<'a>,
    elements: usize,
    look: impl Fn(usize, &mut Tally<'a>) -> Result<(), CompareError> + Sync,
) -> Result<OutputMismatch, CompareError> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let piece = elements.div_ceil(threads).max(PIECE);
    let of_piece = |range: Range<usize>| {
        let mut tally = Tally::new(output, elements);
        for index in range {
            look(index, &mut tally)?;
        }
        Ok(tally)
    };
    if elements <= piece {
        return of_piece(0..elements).map(|tally| tally.finish(output.poisoned));
    }
    std::thread::scope(|scope| {
        let starts = (0..elements).step_by(piece);
        let threads: Vec<_> = starts
            .map(|start| {
                let of_piece = &of_piece;
                scope.spawn(move || of_piece(start..elements.min(start + piece)))
            })
            .collect();
        let mut whole = Tally::new(output, elements);
        for thread in threads {
            match thread.join() {
                Ok(piece) => whole.add(piece?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(whole.finish(output.poisoned))
    })
}

/// Whether an element is what was added to its poison: the reference exactly, or, of types wide enough
/// that this says something, a number small beside their range.
fn on_poison(x: &[u8], r: &[u8], element: ElementType) -> bool {
    let bits = 8 * u32::try_from(x.len()).unwrap_or(8);
    let unsigned = |bytes: &[u8]| {
        let digits = bytes.iter().rev();
        digits.fold(0_u64, |value, byte| value << 8 | u64::from(*byte))
    };
    let modulus = u64::MAX >> (64 - bits);
    let added = unsigned(x).wrapping_sub(unsigned(element::poison(element))) & modulus;
    let magnitude = added.min(added.wrapping_neg() & modulus);
    added == unsigned(r) || (bits >= 32 && magnitude >> (bits - 8) == 0)
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
    /// Wrong elements that may be a sum with the poison.
    on_poison: u64,
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
                likely_cause: None,
                max_abs_error: None,
                max_rel_error: None,
                first: Vec::new(),
            },
            on_poison: 0,
        }
    }

    /// Takes a later piece into what was seen of the pieces before it.
    fn add(&mut self, piece: Self) {
        let whole = &mut self.mismatch;
        let Self {
            mismatch: piece,
            on_poison,
            ..
        } = piece;
        self.on_poison += on_poison;
        whole.count += piece.count;
        whole.nan += piece.nan;
        whole.inf += piece.inf;
        whole.unwritten += piece.unwritten;
        let larger = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        whole.max_abs_error = larger(whole.max_abs_error, piece.max_abs_error);
        whole.max_rel_error = larger(whole.max_rel_error, piece.max_rel_error);
        let room = FIRST_MISMATCHES.saturating_sub(whole.first.len());
        whole.first.extend(piece.first.into_iter().take(room));
    }

    /// All of the output has been seen. A single wrong element of another kind has another cause.
    fn finish(self, poisoned: bool) -> OutputMismatch {
        let Self {
            mut mismatch,
            on_poison,
            ..
        } = self;
        let all = on_poison > 0 && on_poison + mismatch.unwritten == mismatch.count;
        mismatch.likely_cause = (poisoned && all).then_some(LikelyCause::OutputNotSet);
        mismatch
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
mod tests;
