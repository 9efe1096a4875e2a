//! Slips that compile, seen in the text alone: host and device code alike.

use domain::Diagnostic;

use super::warning;
use crate::interpreter::cut_off;

const INTEGERS: &[&str] = &[
    "int", "unsigned", "long", "short", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
];

/// Over a text without its comments and the insides of its literals.
pub(super) fn warnings(code: &str) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for (line, number) in code.lines().zip(1..) {
        warnings.extend(cut_literals(line, number));
        warnings.extend(assigned_condition(line, number));
    }
    warnings
}

/// `int scale = 0.5f;`
fn cut_literals(line: &str, number: u32) -> Vec<Diagnostic> {
    let found = line.match_indices('=').filter_map(|(at, _)| {
        let (before, after) = (line.get(..at)?, line.get(at + 1..)?);
        let end = after.find([';', ','])?;
        let literal = after[..end].trim();
        let value = fraction(literal)?;
        let mut words = before.split_whitespace().rev();
        let (name, ty) = (words.next()?, words.next()?);
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let ty = ty.rsplit(['(', '{', ';']).next().unwrap_or(ty);
        if !is_name || !INTEGERS.contains(&ty) {
            return None;
        }
        let column = at + 2 + (after.len() - after.trim_start().len());
        let (message, hint) = cut_off(literal, value, ty);
        let column = u32::try_from(column).ok();
        Some(warning(number, column, &message, &hint))
    });
    found.collect()
}

/// The value of a floating literal that is no whole number.
fn fraction(literal: &str) -> Option<f64> {
    let number = literal.trim_end_matches(['f', 'F']);
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_literal = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && !digits.starts_with("0x")
        && !digits.starts_with("0X");
    let value: f64 = number.parse().ok().filter(|_| is_literal)?;
    (value.fract() != 0.0).then_some(value)
}

/// `if (i = n)`, with single parentheses: doubled ones say that it is meant.
fn assigned_condition(line: &str, number: u32) -> Option<Diagnostic> {
    let rest = line.trim_start().strip_prefix("if")?.trim_start();
    let condition = rest.strip_prefix('(')?;
    let (name, value) = condition.split_once('=')?;
    let is_name = !name.trim().is_empty()
        && name
            .trim()
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_name || value.starts_with('=') {
        return None;
    }
    let column = line.len() - condition.len() + name.len() + 1;
    let message = format!("the condition sets `{}`", name.trim());
    let column = u32::try_from(column).ok();
    Some(warning(number, column, &message, "is `==` meant?"))
}
