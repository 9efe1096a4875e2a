//! Number and character literals with the types that C++ gives them.

use crate::types::Scalar;

/// An integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub(crate) value: u64,
    pub(crate) scalar: Scalar,
}

/// `None` where the text is no integer literal or fits no type.
pub(crate) fn integer(text: &str) -> Option<Integer> {
    let digits_end = suffix_start(text);
    let (digits, suffix) = text.split_at(digits_end);
    let digits = digits.replace('\'', "");
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits.as_str()),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    let suffix = suffix.to_ascii_lowercase();
    let unsigned = suffix.contains('u');
    let longs = suffix.matches('l').count() + suffix.matches('z').count();
    if !suffix.trim_matches(['u', 'l', 'z']).is_empty()
        || suffix.matches('u').count() > 1
        || longs > 2
    {
        return None;
    }
    let candidates = [
        (0, Scalar::Int),
        (0, Scalar::UInt),
        (1, Scalar::Long),
        (1, Scalar::ULong),
        (2, Scalar::LongLong),
        (2, Scalar::ULongLong),
    ];
    candidates
        .into_iter()
        .filter(|&(rank, _)| rank >= longs)
        .filter(|(_, scalar)| {
            if scalar.is_signed() {
                !unsigned
            } else {
                unsigned || radix != 10
            }
        })
        .find(|(_, scalar)| i128::from(value) <= scalar.range().1)
        .map(|(_, scalar)| Integer { value, scalar })
}

fn suffix_start(text: &str) -> usize {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    text.bytes()
        .rposition(|byte| !matches!(byte, b'u' | b'U' | b'l' | b'L' | b'z' | b'Z'))
        .map_or(0, |last| last + 1)
        .max(if hexadecimal { 2 } else { 0 })
}

/// A floating literal and whether it is `float`. `None` where the text is none.
pub(crate) fn floating(text: &str) -> Option<(f64, bool)> {
    let text = text.replace('\'', "");
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if hexadecimal {
        return None;
    }
    let (digits, single) = match text.as_bytes().last()? {
        b'f' | b'F' => (&text[..text.len() - 1], true),
        b'l' | b'L' => (&text[..text.len() - 1], false),
        _ => (text.as_str(), false),
    };
    let plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let value: f64 = digits.parse().ok().filter(|_| plain)?;
    // A `float` literal is rounded once, from its decimal text.
    Some(if single {
        (f64::from(digits.parse::<f32>().ok()?), true)
    } else {
        (value, false)
    })
}

/// The value of `'a'` or `'\n'`.
pub(crate) fn character(text: &str) -> Option<i128> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let (first, rest) = next_character(inner)?;
    (rest.is_empty() && first.is_ascii()).then_some(first as i128)
}

/// The characters of `"a\n"` or `R"(a)"`. `None` for other kinds of strings, and bytes that are no text.
pub(crate) fn text(literal: &str) -> Option<String> {
    let literal = literal.strip_prefix("u8").unwrap_or(literal);
    if let Some(raw) = literal.strip_prefix("R\"") {
        let (delimiter, rest) = raw.split_once('(')?;
        return Some(rest.strip_suffix(&format!("){delimiter}\""))?.to_owned());
    }
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    while !rest.is_empty() {
        let (next, after) = next_character(rest)?;
        text.push(next);
        rest = after;
    }
    Some(text)
}

/// One character, which may be escaped, and what follows it.
fn next_character(text: &str) -> Option<(char, &str)> {
    let mut characters = text.chars();
    let first = characters.next()?;
    if first != '\\' {
        return Some((first, characters.as_str()));
    }
    let escaped = characters.as_str();
    let digits = |from: &str, radix: u32, most: usize| {
        let digits = from
            .chars()
            .take(most)
            .take_while(|digit| digit.is_digit(radix));
        digits.count()
    };
    let (start, length, radix) = match characters.next()? {
        'x' => (1, digits(&escaped[1..], 16, usize::MAX), 16),
        '0'..='7' => (0, digits(escaped, 8, 3), 8),
        other => {
            let meant = match other {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\x07',
                'b' => '\x08',
                'f' => '\x0c',
                'v' => '\x0b',
                '\\' | '\'' | '"' | '?' => other,
                _ => return None,
            };
            return Some((meant, characters.as_str()));
        }
    };
    let number = u32::from_str_radix(escaped.get(start..start + length)?, radix).ok()?;
    let meant = char::from_u32(number).filter(char::is_ascii)?;
    Some((meant, &escaped[start + length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_first_type_that_fits() {
        let scalar = |text| integer(text).map(|literal| (literal.value, literal.scalar));
        assert_eq!(scalar("256"), Some((256, Scalar::Int)));
        assert_eq!(scalar("1'000u"), Some((1000, Scalar::UInt)));
        assert_eq!(scalar("2147483648"), Some((1 << 31, Scalar::Long)));
        assert_eq!(scalar("0x80000000"), Some((1 << 31, Scalar::UInt)));
        assert_eq!(scalar("0x1FFULL"), Some((511, Scalar::ULongLong)));
        assert_eq!(scalar("017"), Some((15, Scalar::Int)));
        assert_eq!(scalar("0b101l"), Some((5, Scalar::Long)));
        assert_eq!(scalar("0"), Some((0, Scalar::Int)));
        assert_eq!(scalar("99999999999999999999"), None);
        assert_eq!(scalar("1.5"), None);
        assert_eq!(scalar("3f"), None);
    }

    #[test]
    fn floats_are_rounded_from_their_text() {
        assert_eq!(floating("1e-3"), Some((1e-3, false)));
        assert_eq!(floating(".5f"), Some((0.5, true)));
        assert_eq!(floating("0.1f"), Some((f64::from(0.1_f32), true)));
        assert_eq!(floating("1.f"), Some((1.0, true)));
        assert_eq!(floating("inf"), None);
        assert_eq!(character("'a'"), Some(97));
        assert_eq!(character("'\\n'"), Some(10));
        assert_eq!(character("'\\101'"), Some(65));
        assert_eq!(character("'ab'"), None);
    }

    #[test]
    fn texts_are_what_they_stand_for() {
        let read = |literal| text(literal).unwrap();
        assert_eq!(read(r#""a\n\"b\"""#), "a\n\"b\"");
        assert_eq!(read(r#""\x41\1018""#), "AA8");
        assert_eq!(read(r#"R"x(a"\n)x""#), "a\"\\n");
        assert_eq!(read(r#"u8"e""#), "e");
        assert_eq!(text(r#"L"e""#), None);
        assert_eq!(text(r#""\xff""#), None);
    }
}
