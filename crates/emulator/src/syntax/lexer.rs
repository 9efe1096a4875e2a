//! Tokens of PTX text. Called by the parser alone.
//!
//! Dots belong to a word when they follow its first character (`ld.global.f32`, `%tid.x`), and to
//! a directive when they open it (`.reg`).

use crate::LoadError;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// Opcode, register, symbol or label: letters, digits, `_ $ %` and inner dots.
    Word(&'a str),
    /// `.reg`, `.b32`: with its dot.
    Directive(&'a str),
    /// Magnitude of an integer literal; a minus sign is a token of its own.
    Integer(u64),
    /// `0fXXXXXXXX`: bits of a 32-bit float.
    Single(u32),
    /// `0dXXXXXXXXXXXXXXXX` or a decimal float: bits of a 64-bit float.
    Double(u64),
    /// A quoted string, without its quotes.
    Text(&'a str),
    /// One character of punctuation.
    Mark(u8),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Spanned<'a> {
    pub(super) token: Token<'a>,
    pub(super) line: u32,
}

pub(super) fn tokens(text: &str) -> Result<Vec<Spanned<'_>>, LoadError> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
    };
    let mut out = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next()? {
        out.push(token);
    }
    Ok(out)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Option<Spanned<'a>>, LoadError> {
        self.skip_blank()?;
        let Some(&first) = self.bytes.get(self.at) else {
            return Ok(None);
        };
        let line = self.line;
        let token = match first {
            b'0'..=b'9' => self.number()?,
            b'"' => self.text()?,
            b'.' if self.peek(1).is_some_and(is_word) => {
                // `.reg.b32` is two directives.
                let start = self.at;
                self.at += 1;
                while self.peek(0).is_some_and(is_word) {
                    self.at += 1;
                }
                Token::Directive(&self.text[start..self.at])
            }
            c if is_word(c) => {
                let start = self.at;
                self.word_end();
                Token::Word(&self.text[start..self.at])
            }
            c if c.is_ascii_punctuation() => {
                self.at += 1;
                Token::Mark(c)
            }
            _ => {
                return Err(LoadError::malformed(
                    line,
                    "a character outside PTX's alphabet",
                ));
            }
        };
        Ok(Some(Spanned { token, line }))
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip_blank(&mut self) -> Result<(), LoadError> {
        while let Some(c) = self.peek(0) {
            match c {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0 => self.at += 1,
                b'/' if self.peek(1) == Some(b'/') => {
                    while self.peek(0).is_some_and(|c| c != b'\n') {
                        self.at += 1;
                    }
                }
                b'/' if self.peek(1) == Some(b'*') => self.skip_block_comment()?,
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn skip_block_comment(&mut self) -> Result<(), LoadError> {
        let opened = self.line;
        self.at += 2;
        loop {
            match self.peek(0) {
                None => return Err(LoadError::malformed(opened, "a comment is not closed")),
                Some(b'*') if self.peek(1) == Some(b'/') => {
                    self.at += 2;
                    return Ok(());
                }
                Some(b'\n') => self.line += 1,
                Some(_) => {}
            }
            self.at += 1;
        }
    }

    /// Moves past a word: `::` belongs to it (`shared::cta`), a dot only when a letter follows.
    fn word_end(&mut self) {
        while let Some(c) = self.peek(0) {
            let joined = match c {
                b'.' => self.peek(1).is_some_and(is_word),
                b':' => {
                    if self.peek(1) == Some(b':') && self.peek(2).is_some_and(is_word) {
                        self.at += 1;
                        true
                    } else {
                        false
                    }
                }
                c => is_word(c),
            };
            if !joined {
                return;
            }
            self.at += 1;
        }
    }

    fn text(&mut self) -> Result<Token<'a>, LoadError> {
        let start = self.at + 1;
        let length = self.text[start..]
            .find('"')
            .ok_or_else(|| LoadError::malformed(self.line, "a string is not closed"))?;
        let text = &self.text[start..start + length];
        self.line += text.matches('\n').count() as u32;
        self.at = start + length + 1;
        Ok(Token::Text(text))
    }

    fn number(&mut self) -> Result<Token<'a>, LoadError> {
        let start = self.at;
        while let Some(c) = self.peek(0) {
            let exponent_sign = (c == b'-' || c == b'+')
                && matches!(self.bytes[self.at - 1], b'e' | b'E')
                && self.text[start..self.at].contains('.');
            if !(c.is_ascii_alphanumeric() || c == b'.' || exponent_sign) {
                break;
            }
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        literal(word)
            .ok_or_else(|| LoadError::malformed(self.line, format!("`{word}` is no number")))
    }
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'%')
}

fn literal<'a>(word: &str) -> Option<Token<'a>> {
    let lower = word.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0f").filter(|hex| hex.len() == 8) {
        return u32::from_str_radix(hex, 16).ok().map(Token::Single);
    }
    if let Some(hex) = lower.strip_prefix("0d").filter(|hex| hex.len() == 16) {
        return u64::from_str_radix(hex, 16).ok().map(Token::Double);
    }
    if lower.contains('.') {
        return lower
            .parse::<f64>()
            .ok()
            .map(|value| Token::Double(value.to_bits()));
    }
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok().map(Token::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Token<'_>> {
        tokens(text)
            .unwrap()
            .into_iter()
            .map(|spanned| spanned.token)
            .collect()
    }

    #[test]
    fn words_keep_inner_dots_and_double_colons() {
        assert_eq!(
            kinds("ld.shared::cta.f32 %r1|%p2, [a+-4];"),
            [
                Token::Word("ld.shared::cta.f32"),
                Token::Word("%r1"),
                Token::Mark(b'|'),
                Token::Word("%p2"),
                Token::Mark(b','),
                Token::Mark(b'['),
                Token::Word("a"),
                Token::Mark(b'+'),
                Token::Mark(b'-'),
                Token::Integer(4),
                Token::Mark(b']'),
                Token::Mark(b';'),
            ]
        );
    }

    #[test]
    fn a_label_does_not_swallow_its_colon() {
        assert_eq!(
            kinds("$L1: ret;")[..2],
            [Token::Word("$L1"), Token::Mark(b':')]
        );
    }

    #[test]
    fn numbers_of_every_spelling() {
        assert_eq!(
            kinds("0f3F800000 0d3FF0000000000000 0x1FU 017 42 1.5"),
            [
                Token::Single(0x3F80_0000),
                Token::Double(0x3FF0_0000_0000_0000),
                Token::Integer(31),
                Token::Integer(15),
                Token::Integer(42),
                Token::Double(1.5f64.to_bits()),
            ]
        );
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let spans = tokens("// a\n/* b\nc */ x\n\"s\" y").unwrap();
        assert_eq!(spans.iter().map(|s| s.line).collect::<Vec<_>>(), [3, 4, 4]);
    }

    #[test]
    fn an_open_comment_is_malformed() {
        assert!(matches!(
            tokens("\n/* x"),
            Err(LoadError::Malformed { ptx_line: 2, .. })
        ));
    }
}
