//! Whether two devices' results agree.

use half::{bf16, f16};

use super::forms::{Agreement, Class, Form};
use super::kernels::Whole;

/// The elements on which two results of a form disagree, with what was read: at most three are told.
pub fn disagreements(
    form: &Form,
    inputs: &[Vec<u64>],
    ours: &[u64],
    theirs: &[u64],
) -> Vec<String> {
    let operand = form.operands.first().copied().unwrap_or(form.result);
    let elements = ours.iter().zip(theirs).enumerate();
    let wrong = elements.filter(|&(at, (&ours, &theirs))| {
        let first = inputs.first().map_or(0, |values| values[at]);
        let first = numbers(operand, first);
        !agree(form.agreement, &first, form.result, ours, theirs)
    });
    let told = wrong.map(|(at, (ours, theirs))| {
        let read: Vec<_> = inputs
            .iter()
            .map(|values| format!("{:#x}", values[at]))
            .collect();
        format!("of {}: {ours:#x}, recorded {theirs:#x}", read.join(", "))
    });
    shorten(told.collect())
}

/// The same for a whole kernel, whose elements are told by their index.
pub fn disagreements_of_whole(whole: &Whole, ours: &[u64], theirs: &[u64]) -> Vec<String> {
    if ours.len() != theirs.len() {
        return vec![format!(
            "{} results instead of {}",
            ours.len(),
            theirs.len()
        )];
    }
    let elements = ours.iter().zip(theirs).enumerate();
    let wrong = elements.filter(|&(_, (&ours, &theirs))| {
        // An error that holds up to some operand is no agreement of a whole kernel.
        !agree(whole.agreement, &[0.0; 2], whole.class, ours, theirs)
    });
    let told = wrong.map(|(at, (&ours, &theirs))| {
        let (ours_read, theirs_read) = (numbers(whole.class, ours), numbers(whole.class, theirs));
        format!("[{at}]: {ours:#x} {ours_read:?} instead of {theirs:#x} {theirs_read:?}")
    });
    shorten(told.collect())
}

fn shorten(mut told: Vec<String>) -> Vec<String> {
    let all = told.len();
    told.truncate(3);
    if all > 3 {
        told.push(format!("and {} more", all - 3));
    }
    told
}

fn agree(agreement: Agreement, first: &[f64], class: Class, ours: u64, theirs: u64) -> bool {
    if ours == theirs {
        return true;
    }
    if agreement == Agreement::Exact {
        return false;
    }
    let (ours, theirs) = (numbers(class, ours), numbers(class, theirs));
    let pairs = ours.iter().zip(&theirs).zip(first);
    pairs.into_iter().all(|((&ours, &theirs), &first)| {
        close(agreement, first, ours, theirs) || (ours - theirs).abs() <= step(class)
    })
}

fn close(agreement: Agreement, first: f64, ours: f64, theirs: f64) -> bool {
    if ours.is_nan() || theirs.is_nan() {
        return ours.is_nan() && theirs.is_nan();
    }
    let apart = (ours - theirs).abs();
    let size = ours.abs().max(theirs.abs());
    match agreement {
        _ if ours.to_bits() == theirs.to_bits() => true,
        Agreement::Exact => false,
        Agreement::Relative(error) => size.is_finite() && apart <= 2.0 * error * size,
        Agreement::Either(error) => size.is_finite() && apart <= 2.0 * error * size.max(1.0),
        Agreement::Absolute { error, up_to } => first.abs() > up_to || apart <= 2.0 * error,
    }
}

/// The distance of a format's smallest numbers: rounding alone puts a result as far off.
fn step(class: Class) -> f64 {
    match class {
        Class::F16 | Class::F16x2 => f16::from_bits(1).to_f64(),
        Class::Bf16 | Class::Bf16x2 => bf16::from_bits(1).to_f64(),
        _ => 0.0,
    }
}

/// What bits stand for; a packed class is two numbers.
fn numbers(class: Class, bits: u64) -> Vec<f64> {
    let (low, high) = (bits as u16, (bits >> 16) as u16);
    match class {
        Class::F16 => vec![f16::from_bits(low).to_f64()],
        Class::Bf16 => vec![bf16::from_bits(low).to_f64()],
        Class::F16x2 => vec![f16::from_bits(low).to_f64(), f16::from_bits(high).to_f64()],
        Class::Bf16x2 => vec![
            bf16::from_bits(low).to_f64(),
            bf16::from_bits(high).to_f64(),
        ],
        Class::F32 => vec![f64::from(f32::from_bits(bits as u32))],
        Class::F64 => vec![f64::from_bits(bits)],
        _ => vec![bits as f64],
    }
}
