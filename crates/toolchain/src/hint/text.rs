//! Hints that come of the text at a message's place more than of its words.

use domain::Diagnostic;
use domain::misspelling::meant;
use domain::slips::{foreign_character, unmatched_bracket};

use super::{DEVICE_NAMES, Hints};

impl Hints<'_> {
    /// Where the message alone could mean anything.
    pub(super) fn in_text(&self, diagnostic: &Diagnostic) -> Option<String> {
        let (line, column) = self.place(diagnostic)?;
        let message = diagnostic.message.as_str();
        let at = line.get(column..).unwrap_or("");
        if message.starts_with("this declaration has no storage class or type") {
            return qualifier(at);
        }
        if message.starts_with("explicit type is missing") {
            return Some(
                "is a type missing, or is there one `}` too many above, so that this stands outside of its \
                 function?"
                    .to_owned(),
            );
        }
        if message.starts_with("unrecognized token") {
            return foreign_character(at.chars().next()?);
        }
        if message.starts_with("expected a statement") && at.starts_with("else") {
            return Some(
                "an `else` follows its `if`: is there a `;` after the condition, or are braces missing above?"
                    .to_owned(),
            );
        }
        if message.starts_with("expected a \")\"") && line.contains("[] ") {
            return Some("write `float* x` or `float x[]`: brackets follow the name".to_owned());
        }
        if message.starts_with("expected a") {
            return brackets(line);
        }
        if message.contains("more than one operator") && message.contains("half") {
            return Some(
                "convert one side: `__half2float(h) + x`, or `h + __float2half(x)`".to_owned(),
            );
        }
        if message.contains("must have integral or unscoped enum type") {
            return integers_only(line);
        }
        None
    }

    /// The line of a diagnostic, and its column counted from 0.
    fn place(&self, diagnostic: &Diagnostic) -> Option<(&str, usize)> {
        let index = |number: u32| usize::try_from(number).ok()?.checked_sub(1);
        let line = self.lines.get(index(diagnostic.line?)?)?;
        Some((line, index(diagnostic.column.unwrap_or(1))?))
    }

    /// `const float* A, B, float* C`
    pub(super) fn untyped_parameter(&self, name: &str, diagnostic: &Diagnostic) -> Option<String> {
        let (line, column) = self.place(diagnostic)?;
        let before = line.get(..column)?.trim_end();
        let after = line.get(column + name.len()..)?.trim_start();
        let is_head = before.contains("__global__ ") || before.contains("__device__ ");
        (is_head && before.ends_with([',', '(']) && after.starts_with([',', ')'])).then(|| {
            format!(
                "`{name}` stands among the parameters without its type, as in `const float* {name}`"
            )
        })
    }

    /// The line of a device function that comes too late.
    pub(super) fn defined_below(&self, name: &str, diagnostic: &Diagnostic) -> Option<usize> {
        let line = usize::try_from(diagnostic.line?).ok()?;
        let mut below = self.lines.iter().enumerate().skip(line);
        let call = format!(" {name}(");
        let found = below.find(|(_, text)| text.contains("__device__") && text.contains(&call));
        found.map(|(index, _)| index + 1)
    }
}

/// `_global_ void k()`
fn qualifier(at: &str) -> Option<String> {
    let end = at.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let word = &at[..end.unwrap_or(at.len())];
    let qualifiers = DEVICE_NAMES
        .iter()
        .copied()
        .filter(|name| name.ends_with("__"));
    match meant(word, qualifiers) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        None => {
            Some("does a type stand before the name? Statements stand within functions".to_owned())
        }
    }
}

/// Those of a line with literals could be meant for a reader.
fn brackets(line: &str) -> Option<String> {
    let code = line.split("//").next().unwrap_or(line);
    let is_plain = !code.contains(['"', '\'']);
    let found = unmatched_bracket(code).filter(|_| is_plain)?;
    Some(found.to_owned())
}

/// Operators that floating numbers do not have.
fn integers_only(line: &str) -> Option<String> {
    let hint = if line.contains('^') {
        "`^` is the exclusive or of integers; a power is `x * x`, or `powf(x, y)`"
    } else if line.contains('%') {
        "`%` is for integers; floating numbers have `fmodf(x, y)`"
    } else {
        "this operator and array indices are for integers"
    };
    Some(hint.to_owned())
}
