//! Tokens while macros expand.

use std::rc::Rc;

use super::lex::{RawToken, TokenKind};
use super::text::At;

/// A token on its way through expansion. Its text lies in the expander's arena.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: At,
    pub(super) end: At,
    pub(super) space_before: bool,
    /// Where in the submitted text it comes from: the token itself or the macro's use.
    pub(super) origin: (At, At),
    pub(super) hidden: Hidden,
}

/// Macros that must not expand again in a token.
pub(super) type Hidden = Option<Rc<HiddenMacro>>;

#[derive(Debug)]
pub(super) struct HiddenMacro {
    pub(super) name: Rc<str>,
    pub(super) rest: Hidden,
}

pub(super) fn hides(hidden: &Hidden, name: &str) -> bool {
    let mut next = hidden;
    while let Some(entry) = next {
        if &*entry.name == name {
            return true;
        }
        next = &entry.rest;
    }
    false
}

impl From<RawToken> for Token {
    fn from(raw: RawToken) -> Self {
        Self {
            kind: raw.kind,
            start: raw.start,
            end: raw.end,
            space_before: raw.space_before || raw.line_start,
            origin: (raw.start, raw.end),
            hidden: None,
        }
    }
}

/// The flag that a token came from an argument is kept in the highest bit of its origin, which no
/// source is long enough to use.
const ARGUMENT: At = 1 << 31;

impl Token {
    pub(super) fn mark_argument(&mut self) {
        self.origin.0 |= ARGUMENT;
    }

    pub(super) fn is_argument(&self) -> bool {
        self.origin.0 & ARGUMENT != 0
    }

    pub(super) fn clear_argument(&mut self) {
        self.origin.0 &= !ARGUMENT;
    }
}
