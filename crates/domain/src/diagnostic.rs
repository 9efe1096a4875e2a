//! A message a person can act on, at a place in their own source.

use serde::{Deserialize, Serialize};

/// Which step of the judging speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Stage {
    /// Reading and interpreting the host function.
    Plan,
    /// NVRTC.
    Compile,
    /// Executing kernels.
    Run,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Severity {
    /// The judging cannot go on.
    Error,
    /// Legal, but probably not what was meant.
    Warning,
    /// Belongs to the diagnostic before it.
    Note,
}

/// One message. Lines and columns count from 1 in the submitted file; columns count bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Diagnostic {
    /// Which step speaks.
    pub stage: Stage,
    /// How bad it is.
    pub severity: Severity,
    /// Line in the submitted file, from 1.
    pub line: Option<u32>,
    /// Column in that line, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub hint: Option<String>,
}

/// `text` fit for a terminal and a page: a source decides what compilers quote, and must not move a
/// cursor or turn the direction of text by it. Line ends and tabs become spaces, other control and
/// direction characters the replacement character.
#[must_use]
pub fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {
            char::REPLACEMENT_CHARACTER
        }
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}

/// [`printable`], and no longer than a reader wants: `limit` characters and three dots.
#[must_use]
pub fn told(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", printable(&text[..end])),
        None => printable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{printable, told};

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(told("a\u{1b}b", 3), "a\u{fffd}b");
        assert_eq!(told("aµcd", 3), "aµc...");
    }

    #[test]
    fn control_and_direction_characters_are_replaced() {
        assert_eq!(
            printable("a\u{1b}[31mb\u{7}\u{9b}c\u{7f}\u{202e}d\te\nf µ→"),
            "a\u{fffd}[31mb\u{fffd}\u{fffd}c\u{fffd}\u{fffd}d e f µ→"
        );
    }
}
