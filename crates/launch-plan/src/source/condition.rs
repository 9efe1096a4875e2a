//! The value of an `#if` expression whose macros are already expanded.

/// `None` where the text is no expression; the compiler then says so itself.
pub(super) fn evaluate(words: &[&str]) -> Option<bool> {
    let mut reader = Reader { words, next: 0 };
    let value = reader.conditional(0)?;
    (reader.next == words.len()).then_some(value != 0)
}

/// Parentheses and unary operators within one condition.
const MAX_DEPTH: usize = 100;

struct Reader<'a> {
    words: &'a [&'a str],
    next: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.words.get(self.next).copied().unwrap_or("")
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        self.next += usize::from(found);
        found
    }

    fn conditional(&mut self, depth: usize) -> Option<i64> {
        let condition = self.binary(1, depth)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let yes = self.conditional(depth + 1)?;
        if !self.eat(":") {
            return None;
        }
        let no = self.conditional(depth + 1)?;
        Some(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, lowest: u8, depth: usize) -> Option<i64> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut left = self.unary(depth)?;
        loop {
            let Some(precedence) = precedence_of(self.peek()).filter(|&p| p >= lowest) else {
                return Some(left);
            };
            let operator = self.peek().to_owned();
            self.next += 1;
            let right = self.binary(precedence + 1, depth + 1)?;
            left = apply(&operator, left, right)?;
        }
    }

    fn unary(&mut self, depth: usize) -> Option<i64> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.eat("!") {
            return Some(i64::from(self.unary(depth + 1)? == 0));
        }
        if self.eat("-") {
            return self.unary(depth + 1).map(i64::wrapping_neg);
        }
        if self.eat("+") {
            return self.unary(depth + 1);
        }
        if self.eat("~") {
            return self.unary(depth + 1).map(|value| !value);
        }
        if self.eat("(") {
            let value = self.conditional(depth + 1)?;
            return self.eat(")").then_some(value);
        }
        let word = self.words.get(self.next)?;
        self.next += 1;
        let first = word.chars().next()?;
        if first.is_ascii_digit() {
            return crate::syntax::literal::integer(word).map(|literal| literal.value as i64);
        }
        // An identifier that is no macro counts as 0, `true` as 1.
        (first == '_' || first.is_alphabetic()).then(|| i64::from(*word == "true"))
    }
}

fn precedence_of(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.wrapping_shl(right as u32),
        ">>" => left.wrapping_shr(right as u32),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<bool> {
        evaluate(&text.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn operators_bind_as_in_c() {
        assert_eq!(value("1 + 2 * 3 == 7 && ! 0"), Some(true));
        assert_eq!(value("( 1 + 2 ) * 3 == 7 || UNKNOWN"), Some(false));
        assert_eq!(value("0 ? 1 : 2 > 1"), Some(true));
        assert_eq!(value("0x10UL == 16"), Some(true));
        assert_eq!(value("- 1 < 0"), Some(true));
    }

    #[test]
    fn nonsense_has_no_value() {
        assert_eq!(value("1 +"), None);
        assert_eq!(value("1 / 0"), None);
        assert_eq!(value(") ("), None);
        assert_eq!(value(&vec!["("; 5000].join(" ")), None);
    }
}
