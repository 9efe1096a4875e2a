//! Text that others wrote, fit for a terminal and a page.
//!
//! A source decides what compilers quote and what kernels print. It must not move a cursor, turn the
//! direction of text, break a line that others count, or hide words by characters that nobody sees.

/// `text` with line ends and tabs as spaces, and what [`shows`] nothing as the replacement character.
#[must_use]
pub fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if shows(c) => c,
        _ => char::REPLACEMENT_CHARACTER,
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

/// Whether a character is seen as itself: no control, no mark that steers direction or line breaks, none
/// that takes no room. Joiners and variation selectors are among the latter: words of scripts and pictures
/// that need them come out in parts.
#[must_use]
pub fn shows(c: char) -> bool {
    !(c.is_control()
        || matches!(
            c,
            // Soft hyphen, grapheme joiner, Arabic letter mark, Hangul fillers, Mongolian separators.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            // Spaces without width, joiners, direction marks; separators of lines and paragraphs,
            // embeddings and overrides; invisible operators and isolates.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Variation selectors, byte-order mark, annotations, shorthand and musical controls, tags.
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        ))
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

    #[test]
    fn characters_that_nobody_sees_are_replaced() {
        let unseen = [
            '\u{ad}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{2060}',
            '\u{2069}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{fffb}',
            '\u{e0000}',
            '\u{e0041}',
            '\u{e007f}',
            '\u{e01ef}',
        ];
        for c in unseen {
            assert_eq!(printable(&format!("a{c}b")), "a\u{fffd}b", "{c:?}");
        }
        let seen = "naïve 内核 “→” é e\u{301} 😀 \u{a0}\u{3000}—…";
        assert_eq!(printable(seen), seen);
    }
}
