//! Macro definitions and their expansion.
//!
//! Expansion is bounded by a budget of tokens touched, so that a macro bomb ends as an error.

use std::collections::HashMap;
use std::rc::Rc;

use super::lex::{RawToken, TokenKind, lex, without_digraph};
use super::text::{At, Lines, SourceText};
use super::token::{HiddenMacro, Token, hides};

/// Tokens that expansion may touch in one file.
const MAX_WORK: usize = 4_000_000;
/// Macro arguments within macro arguments.
const MAX_DEPTH: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// `None` for an object-like macro.
    pub(super) parameters: Option<Vec<String>>,
    /// The last parameter takes the rest.
    pub(super) variadic: bool,
    pub(super) body: Vec<Token>,
}

/// Expansion ran out of its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("macro expansion touches more than {MAX_WORK} tokens or nests deeper than {MAX_DEPTH}")]
pub(super) struct TooMuchExpansion {
    pub(super) at: At,
}

pub(super) struct Expander<'l> {
    /// The submitted text, then text made by `#` and `##`.
    arena: String,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    work: usize,
    /// Where the arena holds a comma.
    comma: At,
    lines: &'l Lines,
    /// What `__COUNTER__` is next.
    counter: u32,
}

impl<'l> Expander<'l> {
    pub(super) fn new(source: &'l SourceText) -> Self {
        let text = source.as_str();
        Self {
            arena: format!("{text},"),
            macros: HashMap::new(),
            work: 0,
            comma: text.len() as At,
            lines: source.lines(),
            counter: 0,
        }
    }

    /// What a token means: a digraph is the token that it stands for.
    pub(super) fn text(&self, token: &Token) -> &str {
        match token.kind {
            TokenKind::Punctuation => without_digraph(self.spelling(token)),
            _ => self.spelling(token),
        }
    }

    fn spelling(&self, token: &Token) -> &str {
        &self.arena[token.start as usize..token.end as usize]
    }

    pub(super) fn define(&mut self, name: &str, definition: Macro) {
        self.macros.insert(name.into(), Rc::new(definition));
    }

    pub(super) fn undefine(&mut self, name: &str) {
        self.macros.remove(name);
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name)
    }

    /// Tokens of text that is not part of the file, e.g. the body of a predefined macro.
    pub(super) fn tokens_of(&mut self, text: &str) -> Vec<Token> {
        let base = self.append(text);
        let shift = |mut raw: RawToken| {
            raw.start += base;
            raw.end += base;
            Token {
                origin: (0, 0),
                ..raw.into()
            }
        };
        lex(text).into_iter().map(shift).collect()
    }

    /// All macros in `input` replaced.
    pub(super) fn expand(&mut self, input: Vec<Token>) -> Result<Vec<Token>, TooMuchExpansion> {
        self.expand_nested(input, 0)
    }

    fn expand_nested(
        &mut self,
        input: Vec<Token>,
        depth: usize,
    ) -> Result<Vec<Token>, TooMuchExpansion> {
        let mut pending = input;
        pending.reverse();
        let mut output = Vec::new();
        while let Some(token) = pending.pop() {
            self.charge(1, &token, depth)?;
            let Some((name, definition)) = self.macro_of(&token) else {
                output.push(self.numbered(token));
                continue;
            };
            let Some(parameters) = &definition.parameters else {
                let body = definition.body.clone();
                self.push_replacement(&mut pending, body, &token, token.origin, &name)?;
                continue;
            };
            let Some((arguments, end)) = self.take_arguments(&mut pending, &token)? else {
                output.push(token);
                continue;
            };
            let arguments = self.group_variadic(arguments, parameters.len(), definition.variadic);
            let body = self.substitute(&definition, parameters, &arguments, &token, depth)?;
            let origin = (token.origin.0, end.max(token.origin.1));
            self.push_replacement(&mut pending, body, &token, origin, &name)?;
        }
        Ok(output)
    }

    fn charge(&mut self, work: usize, token: &Token, depth: usize) -> Result<(), TooMuchExpansion> {
        self.work += work;
        if self.work > MAX_WORK || depth > MAX_DEPTH {
            return Err(TooMuchExpansion { at: token.origin.0 });
        }
        Ok(())
    }

    /// `__LINE__` and `__COUNTER__` as numbers; the line is that of the outermost macro's use.
    fn numbered(&mut self, token: Token) -> Token {
        let number = match self.text(&token) {
            "__LINE__" => self.lines.line(token.origin.0),
            "__COUNTER__" => {
                self.counter += 1;
                self.counter - 1
            }
            _ => return token,
        };
        self.made(&number.to_string(), TokenKind::Number, &token)
    }

    fn macro_of(&self, token: &Token) -> Option<(Rc<str>, Rc<Macro>)> {
        if token.kind != TokenKind::Identifier {
            return None;
        }
        let (name, definition) = self.macros.get_key_value(self.text(token))?;
        (!hides(&token.hidden, name)).then(|| (Rc::clone(name), Rc::clone(definition)))
    }

    /// Puts a replacement where it is scanned again. Tokens of the macro's own body (their origin
    /// is its definition) now come from the place of use; arguments keep their own place.
    fn push_replacement(
        &mut self,
        pending: &mut Vec<Token>,
        mut body: Vec<Token>,
        used: &Token,
        origin: (At, At),
        name: &Rc<str>,
    ) -> Result<(), TooMuchExpansion> {
        self.charge(body.len(), used, 0)?;
        for token in &mut body {
            token.hidden = Some(Rc::new(HiddenMacro {
                name: Rc::clone(name),
                rest: token.hidden.take().or_else(|| used.hidden.clone()),
            }));
            if !token.is_argument() {
                token.origin = origin;
            }
            token.clear_argument();
        }
        if let Some(first) = body.first_mut() {
            first.space_before = true;
        }
        if let Some(next) = pending.last_mut() {
            next.space_before = true;
        }
        body.reverse();
        pending.append(&mut body);
        Ok(())
    }

    /// The arguments of a use whose `(` is next, and where its `)` ends in the submitted text.
    #[allow(clippy::type_complexity)] // a list of lists and an offset, used once
    fn take_arguments(
        &mut self,
        pending: &mut Vec<Token>,
        name: &Token,
    ) -> Result<Option<(Vec<Vec<Token>>, At)>, TooMuchExpansion> {
        if pending.last().is_none_or(|next| self.text(next) != "(") {
            return Ok(None);
        }
        let mut arguments = vec![Vec::new()];
        let mut level = 0_usize;
        for (taken, token) in pending.iter().rev().enumerate() {
            match self.text(token) {
                "(" => level += 1,
                ")" => level -= 1,
                _ => {}
            }
            if level == 0 {
                let end = token.origin.1;
                self.charge(taken, name, 0)?;
                pending.truncate(pending.len() - taken - 1);
                return Ok(Some((arguments, end)));
            }
            match self.text(token) {
                "(" if level == 1 => {}
                "," if level == 1 => arguments.push(Vec::new()),
                _ => arguments
                    .last_mut()
                    .expect("starts with one argument")
                    .push(token.clone()),
            }
        }
        self.charge(pending.len(), name, 0)?;
        Ok(None)
    }

    /// `__VA_ARGS__` takes the rest, commas and all.
    fn group_variadic(
        &self,
        mut arguments: Vec<Vec<Token>>,
        parameters: usize,
        variadic: bool,
    ) -> Vec<Vec<Token>> {
        if variadic && parameters > 0 && arguments.len() > parameters {
            let rest = arguments.split_off(parameters - 1);
            let mut joined: Vec<Token> = Vec::new();
            for (index, argument) in rest.into_iter().enumerate() {
                let neighbour = argument.first().or(joined.last());
                let comma = neighbour.map(|neighbour| self.comma_at(neighbour.origin));
                joined.extend(comma.filter(|_| index > 0));
                joined.extend(argument);
            }
            arguments.push(joined);
        }
        arguments
    }

    fn comma_at(&self, origin: (At, At)) -> Token {
        Token {
            kind: TokenKind::Punctuation,
            start: self.comma,
            end: self.comma + 1,
            space_before: false,
            origin,
            hidden: None,
        }
    }

    fn substitute(
        &mut self,
        definition: &Macro,
        parameters: &[String],
        arguments: &[Vec<Token>],
        used: &Token,
        depth: usize,
    ) -> Result<Vec<Token>, TooMuchExpansion> {
        let body = &definition.body;
        let argument_of = |expander: &Self, token: &Token| -> Option<usize> {
            let text = expander.text(token);
            parameters.iter().position(|parameter| parameter == text)
        };
        let empty = Vec::new();
        let mut output: Vec<Token> = Vec::new();
        let mut index = 0;
        let mut paste = false;
        while let Some(token) = body.get(index) {
            index += 1;
            self.charge(1, used, depth)?;
            let text = self.text(token);
            if text == "##" {
                paste = !output.is_empty();
                continue;
            }
            let stringified = (text == "#")
                .then(|| body.get(index))
                .flatten()
                .and_then(|next| argument_of(self, next));
            let pasted_next = body.get(index).is_some_and(|next| self.text(next) == "##");
            let mut replacement = if let Some(position) = stringified {
                index += 1;
                vec![self.stringify(arguments.get(position).unwrap_or(&empty), used)]
            } else if let Some(position) = argument_of(self, token) {
                let argument = arguments.get(position).unwrap_or(&empty).clone();
                let mut argument = if paste || pasted_next {
                    argument
                } else {
                    self.expand_nested(argument, depth + 1)?
                };
                argument.iter_mut().for_each(Token::mark_argument);
                if let Some(first) = argument.first_mut() {
                    first.space_before = true;
                }
                argument
            } else {
                vec![token.clone()]
            };
            self.charge(replacement.len(), used, depth)?;
            if std::mem::take(&mut paste) {
                self.paste(&mut output, &mut replacement);
            }
            output.append(&mut replacement);
        }
        Ok(output)
    }

    fn stringify(&mut self, argument: &[Token], used: &Token) -> Token {
        let mut text = String::from("\"");
        for (index, token) in argument.iter().enumerate() {
            if index > 0 && token.space_before {
                text.push(' ');
            }
            for character in self.spelling(token).chars() {
                if matches!(character, '"' | '\\') {
                    text.push('\\');
                }
                text.push(character);
            }
        }
        text.push('"');
        self.made(&text, TokenKind::Text, used)
    }

    /// `a ## b`: the last token of `left` and the first of `right` become one.
    fn paste(&mut self, left: &mut Vec<Token>, right: &mut [Token]) {
        if right.is_empty() {
            return;
        }
        let Some(first) = left.pop() else { return };
        let text = format!("{}{}", self.text(&first), self.text(&right[0]));
        let kind = lex(&text)
            .first()
            .map_or(TokenKind::Punctuation, |token| token.kind);
        right[0] = self.made(&text, kind, &first);
    }

    fn made(&mut self, text: &str, kind: TokenKind, like: &Token) -> Token {
        self.work += text.len();
        let start = self.append(text);
        Token {
            kind,
            start,
            end: start + text.len() as At,
            space_before: true,
            origin: like.origin,
            hidden: None,
        }
    }

    fn append(&mut self, text: &str) -> At {
        let start = self.arena.len() as At;
        self.arena.push_str(text);
        start
    }
}
