//! What is left out because something else says it, or caused it.
//!
//! Invariant: where there are errors, one is kept; the first of them always is.

use domain::{Diagnostic, Severity};

/// At most this many messages are kept, errors first.
const MAX_DIAGNOSTICS: usize = 50;

/// Warnings that an error nearby makes out of nothing.
const OF_ERRORS: [&str; 4] = [
    "was declared but never referenced",
    "was set but never used",
    "missing return statement at end of non-void function",
    "attribute does not apply to any entity",
];

/// Errors that the parser makes while it finds its way back.
const RECOVERY: [&str; 4] = [
    "type name is not allowed",
    "expected a statement",
    "expected a \";\"",
    "expected an expression",
];

/// Leaves out what follows from something before. `asked` are errors about the instances that the host
/// function asks for: told where there is no other.
pub(super) fn reduced(diagnostics: Vec<Diagnostic>, asked: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
    let has_errors = diagnostics.iter().any(is_error);
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut parent_is_dropped = false;
    for diagnostic in diagnostics {
        let is_noise = match diagnostic.severity {
            Severity::Note => parent_is_dropped || is_idle(&diagnostic),
            Severity::Warning => has_errors && is_of_errors(&diagnostic),
            Severity::Error => follows(&diagnostic, &kept),
        };
        if diagnostic.severity != Severity::Note {
            parent_is_dropped = is_noise;
        }
        if !is_noise {
            kept.push(diagnostic);
        }
    }
    if !has_errors {
        kept.extend(asked);
    }
    cap(kept)
}

/// A note about an operator that nobody thought of.
fn is_idle(note: &Diagnostic) -> bool {
    note.message.contains("<pointer to object>")
}

fn is_of_errors(warning: &Diagnostic) -> bool {
    let mut of_errors = OF_ERRORS.iter();
    of_errors.any(|words| warning.message.contains(words))
}

/// Whether an error says no more than those before.
fn follows(error: &Diagnostic, kept: &[Diagnostic]) -> bool {
    let mut before = kept.iter().filter(|d| d.severity == Severity::Error);
    before.any(|earlier| {
        let same_line = error.line.is_some() && error.line == earlier.line;
        let next_line = error.line.is_some() && error.line == earlier.line.map(|line| line + 1);
        // The same name, further down; the same header, for another name.
        let said = is_undefined(error) && error.message == earlier.message;
        let same_header = error.hint == earlier.hint
            && error
                .hint
                .as_ref()
                .is_some_and(|hint| hint.starts_with("#include"));
        let recovers = RECOVERY.iter().any(|words| error.message == *words);
        let lost =
            same_line && is_undefined(error) && !is_undefined(earlier) && error.hint.is_none();
        let statement =
            next_line && error.hint.is_none() && error.message == "expected a statement";
        said || same_header || (same_line && recovers) || lost || statement
    })
}

fn is_undefined(diagnostic: &Diagnostic) -> bool {
    diagnostic.message.starts_with("identifier \"") && diagnostic.message.ends_with("is undefined")
}

/// Keeps order, and errors before warnings when there are too many.
fn cap(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let mut others = MAX_DIAGNOSTICS.saturating_sub(errors.count());
    let mut kept: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|d| {
            let keep = d.severity == Severity::Error || others > 0;
            if d.severity != Severity::Error {
                others = others.saturating_sub(1);
            }
            keep
        })
        .collect();
    kept.truncate(MAX_DIAGNOSTICS);
    kept
}
