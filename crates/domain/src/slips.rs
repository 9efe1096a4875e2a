//! What the text of a CUDA file shows of its author's slips: asked by the host interpreter and by the
//! compiler's log alike, so that one slip gets one advice.

/// The identifiers and keywords of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// What to write for a character that word processors, web pages and other keyboards make of one of
/// C++'s. Letters of any language may be parts of names and are none of these.
#[must_use]
pub fn foreign_character(found: char) -> Option<String> {
    const MEANT: &[(char, &str)] = &[
        ('\u{201c}', "\""),
        ('\u{201d}', "\""),
        ('\u{2018}', "'"),
        ('\u{2019}', "'"),
        ('\u{ff0c}', ","),
        ('\u{ff1b}', ";"),
        ('\u{ff1a}', ":"),
        ('\u{ff08}', "("),
        ('\u{ff09}', ")"),
        ('\u{ff1d}', "="),
        ('\u{2013}', "-"),
        ('\u{2014}', "-"),
        ('\u{2212}', "-"),
        ('\u{d7}', "*"),
        ('\u{f7}', "/"),
        ('\u{2264}', "<="),
        ('\u{2265}', ">="),
        ('\u{2260}', "!="),
    ];
    if found.is_ascii() || found.is_alphanumeric() {
        return None;
    }
    if found.is_whitespace() {
        return Some(format!(
            "U+{:04X} is no space of C++; write a plain one",
            u32::from(found)
        ));
    }
    let meant = MEANT.iter().find(|(foreign, _)| *foreign == found);
    Some(match meant {
        Some((_, meant)) => format!("`{found}` is no character of C++; write `{meant}`"),
        // It may be one that is not seen.
        None => format!(
            "`{found}` (U+{:04X}) is no character of C++; remove it, or write a plain one",
            u32::from(found)
        ),
    })
}

/// A round bracket without its partner on a line without comments and the insides of literals. One that
/// is not closed counts where the line ends a statement or opens a block; the head of a `for` and a
/// lambda among arguments may do so within brackets.
#[must_use]
pub fn unmatched_bracket(line: &str) -> Option<&'static str> {
    let code = line.trim();
    let count = |bracket: char| code.matches(bracket).count();
    let (open, close) = (count('('), count(')'));
    let is_lambda = ["[&", "[=", "[]"].iter().any(|start| code.contains(start));
    let is_whole = code.ends_with([';', '{']) && !code.starts_with("for") && !is_lambda;
    if close > open {
        return Some("a `)` of this line has no `(`");
    }
    (open > close && is_whole).then_some("a `(` of this line has no `)`")
}

#[cfg(test)]
mod tests {
    use super::{foreign_character, unmatched_bracket, words};

    #[test]
    fn words_are_names_and_keywords() {
        let text = "float2 _x=a1*3f+\u{e9}b; // 0x1F";
        assert_eq!(words(text).collect::<Vec<_>>(), ["float2", "_x", "a1", "b"]);
    }

    #[test]
    fn foreign_characters_and_what_they_stand_for() {
        let told = |found| foreign_character(found).unwrap_or_default();
        assert_eq!(
            told('\u{ff0c}'),
            "`\u{ff0c}` is no character of C++; write `,`"
        );
        assert_eq!(
            told('\u{2265}'),
            "`\u{2265}` is no character of C++; write `>=`"
        );
        assert_eq!(
            told('\u{a0}'),
            "U+00A0 is no space of C++; write a plain one"
        );
        assert!(told('\u{200b}').contains("(U+200B) is no character"));
        for own in ['a', ',', '@', '\u{e9}', '\u{5e45}'] {
            assert_eq!(told(own), "", "{own}");
        }
    }

    #[test]
    fn brackets_without_their_partners() {
        let open = Some("a `(` of this line has no `)`");
        let close = Some("a `)` of this line has no `(`");
        for (line, expected) in [
            ("if (i < n)) y[i] = x[i];", close),
            ("    if (i < n y[i] = x[i];", open),
            ("if (i < n {", open),
            ("if (f(i) < n) {", None),
            ("int i = (a +", None),
            ("for (int i = 0;", None),
            ("for (int i = 0; i < n; ++i)) {", close),
            ("each(a, [&](int i) {", None),
        ] {
            assert_eq!(unmatched_bracket(line), expected, "{line}");
        }
    }
}
