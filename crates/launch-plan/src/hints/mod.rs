//! The way out of a fault, where whoever raised it did not know one.
//!
//! Asked at the crate's edge only, with the whole file at hand: names that are nearly right, a launch that
//! is nearly one. A wrong hint is worse than a general one, so what is not sure is put as a question.

mod launches;
mod names;
mod syntax;

use domain::{Diagnostic, VerdictKind, printable};

use crate::failure::PlanFailure;
use crate::source::text::SourceText;

/// Gives each error of a failure a hint, and a better one where the file has one. Without the file, as in
/// a live run, only what holds for every fault of a kind can be said.
pub(crate) fn complete(mut failure: PlanFailure, source: Option<&SourceText>) -> PlanFailure {
    let kind = failure.kind;
    for diagnostic in &mut failure.diagnostics {
        let found = source.and_then(|source| in_file(kind, diagnostic, source));
        let hint = found.or_else(|| diagnostic.hint.take());
        let hint = hint.unwrap_or_else(|| general(kind).to_owned());
        diagnostic.hint = Some(printable(&hint));
    }
    failure
}

fn in_file(kind: VerdictKind, diagnostic: &Diagnostic, source: &SourceText) -> Option<String> {
    let message = &diagnostic.message;
    let sure = names::misspelt(message, source)
        .or_else(|| launches::about_a_launch(message, source))
        .or_else(|| launches::about_a_call(diagnostic, source));
    let is_open = diagnostic.hint.is_none() && kind == VerdictKind::Diagnostics;
    sure.or_else(|| is_open.then(|| syntax::about(diagnostic, source))?)
}

/// The text of a diagnostic's line.
fn line_of<'s>(diagnostic: &Diagnostic, source: &'s SourceText) -> Option<&'s str> {
    let index = usize::try_from(diagnostic.line?).ok()?.checked_sub(1)?;
    source.as_str().lines().nth(index)
}

/// What holds for every fault of a kind.
fn general(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::HostFault => {
            "C++ leaves this undefined, so that the result would be chance; compute it in another way"
        }
        VerdictKind::LaunchConfig => {
            "compare the launch with the kernel's parameters and with the device's limits"
        }
        VerdictKind::Fuel => "host code only prepares launches; loops over data belong in a kernel",
        VerdictKind::Signature => "compare `solve` with the problem's signature",
        VerdictKind::Diagnostics => "look at the text just before this place",
        VerdictKind::CompileLimit => "shorten the file, or remove generated code",
        _ => {
            "host code of plain variables, loops and calls of the CUDA runtime is interpreted; write it with \
             these, or move it into a kernel"
        }
    }
}

/// The text with spaces for its comments, so that places stay the same.
pub(crate) fn blanked_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        code.push_str(&rest[..start]);
        let comment = &rest[start..];
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else if comment.starts_with("/*") {
            comment.find("*/").map(|end| end + 2)
        } else {
            code.push('/');
            rest = &comment[1..];
            continue;
        };
        let end = end.unwrap_or(comment.len());
        let blank = comment[..end].bytes();
        code.extend(blank.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = &comment[end..];
    }
    code + rest
}

/// Its identifiers and keywords.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}
