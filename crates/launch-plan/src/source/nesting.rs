//! How deep brackets nest, told before the parser sees them: it takes long over text that nests
//! deeper than anyone writes, and then says no more than "syntax error".

use super::text::At;
use crate::failure::{Fallible, Fault};

/// Brackets within brackets, as in other compilers.
const MAX_BRACKETS: usize = 256;
/// `<` without its `>` in one statement.
const MAX_ANGLES: usize = 256;

/// Open brackets at a place of the text.
#[derive(Default)]
pub(super) struct Nesting {
    brackets: usize,
    angles: usize,
}

impl Nesting {
    /// Counts the next token.
    pub(super) fn take(&mut self, token: &str, at: At) -> Fallible<()> {
        match token {
            "(" | "[" => self.brackets += 1,
            "{" => (self.brackets, self.angles) = (self.brackets + 1, 0),
            ")" | "]" => self.brackets = self.brackets.saturating_sub(1),
            "}" => (self.brackets, self.angles) = (self.brackets.saturating_sub(1), 0),
            // What was less-than signs after all ends with its statement.
            ";" => self.angles = 0,
            "<" => self.angles += 1,
            ">" => self.angles = self.angles.saturating_sub(1),
            ">>" => self.angles = self.angles.saturating_sub(2),
            _ => return Ok(()),
        }
        let (what, most) = if self.brackets > MAX_BRACKETS {
            ("brackets", MAX_BRACKETS)
        } else if self.angles > MAX_ANGLES {
            ("`<`", MAX_ANGLES)
        } else {
            return Ok(());
        };
        let message = format!("{what} nested more than {most} levels deep");
        Err(Fault::unsupported(
            at,
            message,
            "split it into several statements or functions",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_refused(text: &str) -> Option<usize> {
        let mut nesting = Nesting::default();
        text.split(' ')
            .position(|token| nesting.take(token, 0).is_err())
    }

    #[test]
    fn brackets_and_angles_have_their_own_limits() {
        assert_eq!(first_refused(&vec!["("; 300].join(" ")), Some(256));
        assert_eq!(first_refused(&vec!["( ) [ ]"; 300].join(" ")), None);
        assert_eq!(
            first_refused(&vec!["a <"; 300].join(" ")),
            Some(2 * 256 + 1)
        );
        assert_eq!(first_refused(&vec!["a < b ;"; 300].join(" ")), None);
        assert_eq!(first_refused(&vec!["v < v < int >>"; 300].join(" ")), None);
    }
}
