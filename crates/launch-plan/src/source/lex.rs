//! Preprocessing tokens. Never fails: an odd byte is a token of its own.

use super::text::At;

/// What the preprocessor must tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Identifier,
    Number,
    Text,
    /// A string or character literal without its end.
    OpenText,
    /// A `/*` without its `*/`: the rest of the text.
    OpenComment,
    Punctuation,
}

/// One token of the submitted text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawToken {
    pub(crate) kind: TokenKind,
    pub(crate) start: At,
    pub(crate) end: At,
    /// White space or a comment stands before it.
    pub(crate) space_before: bool,
    /// First of its line (a continued line counts as one).
    pub(crate) line_start: bool,
}

/// Longest first. `<<<` and `>>>` are tokens of CUDA.
const PUNCTUATION: [&str; 30] = [
    "%:%:", "<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
    "!=", "&&", "||", "::", "##", "+=", "-=", "*=", "/=", "%=", "&=", "%:", "<%", "%>", "<:", ":>",
];

/// What a digraph stands for; any other text itself. (Trigraphs are no longer part of C++, and the
/// compiler does not know them either.)
pub(super) fn without_digraph(text: &str) -> &str {
    match text {
        "%:%:" => "##",
        "%:" => "#",
        "<%" => "{",
        "%>" => "}",
        "<:" => "[",
        ":>" => "]",
        other => other,
    }
}

/// All tokens of `text`. Closed comments and line continuations are white space.
pub(crate) fn lex(text: &str) -> Vec<RawToken> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut offset = 0;
    let mut space_before = false;
    let mut line_start = true;
    while offset < bytes.len() {
        if let Some((next, newline)) = skip_space(bytes, offset) {
            offset = next;
            space_before = true;
            line_start |= newline;
            continue;
        }
        let (kind, end) = if bytes[offset..].starts_with(b"/*") {
            (TokenKind::OpenComment, bytes.len())
        } else {
            token_at(text, offset)
        };
        tokens.push(RawToken {
            kind,
            start: offset as At,
            end: end as At,
            space_before,
            line_start,
        });
        offset = end;
        space_before = false;
        line_start = false;
    }
    tokens
}

/// The end of white space, a comment or a continuation at `offset`, and whether a line ended.
fn skip_space(bytes: &[u8], offset: usize) -> Option<(usize, bool)> {
    match bytes[offset] {
        b'\n' => Some((offset + 1, true)),
        b' ' | b'\t' | b'\r' | 0x0b | 0x0c => Some((offset + 1, false)),
        b'\\' => match bytes.get(offset + 1..) {
            Some([b'\n', ..]) => Some((offset + 2, false)),
            Some([b'\r', b'\n', ..]) => Some((offset + 3, false)),
            _ => None,
        },
        b'/' if bytes.get(offset + 1) == Some(&b'/') => Some((line_comment(bytes, offset), false)),
        b'/' if bytes.get(offset + 1) == Some(&b'*') => {
            let body = offset + 2;
            let length = bytes[body..].windows(2).position(|pair| pair == b"*/")?;
            Some((body + length + 2, false))
        }
        _ => None,
    }
}

fn line_comment(bytes: &[u8], offset: usize) -> usize {
    let mut end = offset;
    while end < bytes.len() && bytes[end] != b'\n' {
        let continued = bytes[end] == b'\\'
            && matches!(bytes.get(end + 1..), Some([b'\n', ..] | [b'\r', b'\n', ..]));
        end += if continued && bytes[end + 1] == b'\r' {
            3
        } else if continued {
            2
        } else {
            1
        };
    }
    end.min(bytes.len())
}

fn token_at(text: &str, start: usize) -> (TokenKind, usize) {
    let bytes = text.as_bytes();
    let byte = bytes[start];
    if is_identifier_start(byte) {
        let end = run_end(bytes, start, is_identifier_part);
        return match bytes.get(end) {
            Some(b'"') if matches!(&text[start..end], "R" | "LR" | "uR" | "UR" | "u8R") => {
                raw_string(text, end)
            }
            Some(&quote @ (b'"' | b'\''))
                if matches!(&text[start..end], "L" | "u" | "U" | "u8") =>
            {
                quoted(bytes, end, quote)
            }
            _ => (TokenKind::Identifier, end),
        };
    }
    let digit_next = bytes.get(start + 1).is_some_and(u8::is_ascii_digit);
    if byte.is_ascii_digit() || (byte == b'.' && digit_next) {
        return (TokenKind::Number, number_end(bytes, start));
    }
    if byte == b'"' || byte == b'\'' {
        return quoted(bytes, start, byte);
    }
    let rest = &bytes[start..];
    // `<::` begins a global name within `<...>`, unless a digraph follows it.
    if rest.starts_with(b"<::") && !matches!(rest.get(3), Some(b':' | b'>')) {
        return (TokenKind::Punctuation, start + 1);
    }
    let punctuation = PUNCTUATION
        .iter()
        .find(|candidate| rest.starts_with(candidate.as_bytes()));
    match punctuation {
        Some(found) => (TokenKind::Punctuation, start + found.len()),
        None => {
            let width = text[start..].chars().next().map_or(1, char::len_utf8);
            (TokenKind::Punctuation, start + width)
        }
    }
}

/// Bytes over 127 belong to identifiers, as compilers take them.
fn is_identifier_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_identifier_part(byte: u8) -> bool {
    is_identifier_start(byte) || byte.is_ascii_digit()
}

fn run_end(bytes: &[u8], start: usize, belongs: fn(u8) -> bool) -> usize {
    bytes[start..]
        .iter()
        .position(|&byte| !belongs(byte))
        .map_or(bytes.len(), |length| start + length)
}

/// A preprocessing number: also digit separators and signed exponents.
fn number_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start + 1;
    while let Some(&byte) = bytes.get(end) {
        let exponent = matches!(bytes[end - 1], b'e' | b'E' | b'p' | b'P');
        let hexadecimal = bytes[start] == b'0' && matches!(bytes.get(start + 1), Some(b'x' | b'X'));
        let signed = matches!(byte, b'+' | b'-')
            && exponent
            && (!hexadecimal || matches!(bytes[end - 1], b'p' | b'P'));
        let separator = byte == b'\'' && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !(is_identifier_part(byte) || byte == b'.' || signed || separator) {
            break;
        }
        end += 1;
    }
    end
}

/// A literal and where it ends; an open one ends with its line.
fn quoted(bytes: &[u8], quote_at: usize, quote: u8) -> (TokenKind, usize) {
    let mut end = quote_at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\n' => return (TokenKind::OpenText, end),
            b'\\' => {
                let crlf = matches!(bytes.get(end + 1..), Some([b'\r', b'\n', ..]));
                end += if crlf { 3 } else { 2 };
            }
            _ if byte == quote => return (TokenKind::Text, end + 1),
            _ => end += 1,
        }
    }
    (TokenKind::OpenText, bytes.len())
}

/// An open raw string runs to the end of the text.
fn raw_string(text: &str, quote_at: usize) -> (TokenKind, usize) {
    let body = &text[quote_at + 1..];
    let Some(parenthesis) = body.find('(').filter(|&length| length <= 16) else {
        return quoted(text.as_bytes(), quote_at, b'"');
    };
    let close = format!("){}\"", &body[..parenthesis]);
    match body.find(&close) {
        Some(length) => (TokenKind::Text, quote_at + 1 + length + close.len()),
        None => (TokenKind::OpenText, text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lex(text)
            .iter()
            .map(|token| &text[token.start as usize..token.end as usize])
            .collect()
    }

    #[test]
    fn launches_numbers_and_literals_are_single_tokens() {
        assert_eq!(
            words("k<<<g, 1e-3f>>>(0x1F, 1'000u, 'a', \"x\\\"y\");"),
            [
                "k",
                "<<<",
                "g",
                ",",
                "1e-3f",
                ">>>",
                "(",
                "0x1F",
                ",",
                "1'000u",
                ",",
                "'a'",
                ",",
                "\"x\\\"y\"",
                ")",
                ";"
            ]
        );
    }

    #[test]
    fn comments_and_continuations_are_space() {
        let text = "#define A 1 /* x\n y */ + \\\r\n 2 // z\nb";
        assert_eq!(words(text), ["#", "define", "A", "1", "+", "2", "b"]);
        let starts: Vec<bool> = lex(text).iter().map(|token| token.line_start).collect();
        assert_eq!(starts, [true, false, false, false, false, false, true]);
    }

    #[test]
    fn odd_input_ends() {
        for text in ["\"abc", "'", "R\"(abc", "/*", "\\", "\u{1F600}@`", "0x1p+"] {
            let tokens = lex(text);
            assert!(
                tokens
                    .last()
                    .is_none_or(|token| token.end as usize <= text.len())
            );
        }
        assert_eq!(words("R\"x(a)b)x\" c"), ["R\"x(a)b)x\"", "c"]);
    }

    #[test]
    fn digraphs_are_tokens_and_global_names_are_none() {
        assert_eq!(
            words("%:x %:%: a<:3:>"),
            ["%:", "x", "%:%:", "a", "<:", "3", ":>"]
        );
        assert_eq!(
            words("v<::n::T> <::>"),
            ["v", "<", "::", "n", "::", "T", ">", "<:", ":>"]
        );
        assert_eq!(words("??=")[0], "?");
    }

    #[test]
    fn what_lacks_its_end_is_known() {
        for (text, kind) in [
            ("\"a\nb\"", TokenKind::OpenText),
            ("'", TokenKind::OpenText),
            ("\"a\\\"", TokenKind::OpenText),
            ("R\"x(a)\"", TokenKind::OpenText),
            ("/*/", TokenKind::OpenComment),
            ("\"a\\\nb\"", TokenKind::Text),
            ("R\"(a\nb)\"", TokenKind::Text),
        ] {
            assert_eq!(lex(text)[0].kind, kind, "{text}");
        }
    }
}
