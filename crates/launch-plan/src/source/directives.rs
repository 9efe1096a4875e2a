//! `#define`, `#undef` and the conditionals. Every other directive is the compiler's business.

use super::condition;
use super::lex::TokenKind;
use super::macros::{Expander, Macro, TooMuchExpansion};
use super::text::At;
use super::token::Token;
use crate::failure::{Fallible, Fault};

/// Where in `#if ... #else ... #endif` the reader stands.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Where its `#if` stands.
    at: At,
    /// The text around it is read at all.
    outer_active: bool,
    /// A branch was already chosen.
    decided: bool,
    active: bool,
    /// Its `#else` was there: nothing but `#endif` may follow.
    last_branch: bool,
}

/// The open conditionals.
#[derive(Debug, Default)]
pub(super) struct Conditionals(Vec<Group>);

impl Conditionals {
    pub(super) fn active(&self) -> bool {
        self.0.last().is_none_or(|group| group.active)
    }

    /// What is still open at the end hides the rest of the file.
    pub(super) fn finish(&self) -> Fallible<()> {
        match self.0.last() {
            Some(group) => Err(Fault::syntax(group.at, "an `#if` without its `#endif`")),
            None => Ok(()),
        }
    }

    fn open(&mut self, at: At, value: bool) {
        let outer_active = self.active();
        let active = outer_active && value;
        self.0.push(Group {
            at,
            outer_active,
            decided: active,
            active,
            last_branch: false,
        });
    }

    fn branch(&mut self, at: At, name: &str, value: bool) -> Fallible<()> {
        let group = self.0.last_mut().filter(|group| !group.last_branch);
        let Some(group) = group else {
            return Err(stray(at, name));
        };
        group.active = group.outer_active && !group.decided && value;
        group.decided |= group.active;
        group.last_branch = name == "else";
        Ok(())
    }

    fn close(&mut self, at: At) -> Fallible<()> {
        self.0.pop().map(|_| ()).ok_or_else(|| stray(at, "endif"))
    }
}

fn stray(at: At, name: &str) -> Box<Fault> {
    Fault::syntax(
        at,
        format!("an `#{name}` without an `#if` that it belongs to"),
    )
}

/// Obeys one directive, given without its `#`.
pub(super) fn obey(
    line: &[Token],
    expander: &mut Expander<'_>,
    conditionals: &mut Conditionals,
) -> Fallible<()> {
    let Some((first, rest)) = line.split_first() else {
        return Ok(());
    };
    let at = first.origin.0;
    let name_is_defined = |expander: &Expander<'_>| {
        rest.first()
            .is_some_and(|name| expander.is_defined(expander.text(name)))
    };
    match expander.text(first) {
        "ifdef" => conditionals.open(at, name_is_defined(expander)),
        "ifndef" => conditionals.open(at, !name_is_defined(expander)),
        "if" => {
            let value = conditionals.active() && condition_holds(rest, expander)?;
            conditionals.open(at, value);
        }
        "elif" => {
            let value = condition_holds(rest, expander)?;
            conditionals.branch(at, "elif", value)?;
        }
        "else" => conditionals.branch(at, "else", true)?,
        "endif" => conditionals.close(at)?,
        "define" if conditionals.active() => define(rest, expander),
        "undef" if conditionals.active() => {
            if let Some(name) = rest.first() {
                let name = expander.text(name).to_owned();
                expander.undefine(&name);
            }
        }
        _ => {}
    }
    Ok(())
}

fn condition_holds(line: &[Token], expander: &mut Expander<'_>) -> Result<bool, TooMuchExpansion> {
    let replaced = replace_defined(line, expander);
    let expanded = expander.expand(replaced)?;
    let words: Vec<&str> = expanded.iter().map(|token| expander.text(token)).collect();
    Ok(condition::evaluate(&words).unwrap_or(false))
}

/// `defined X`, `defined(X)` and `__has_include(...)` as `0` or `1`, before anything expands.
fn replace_defined(line: &[Token], expander: &mut Expander<'_>) -> Vec<Token> {
    let mut output = Vec::new();
    let mut index = 0;
    while let Some(token) = line.get(index) {
        index += 1;
        let word = expander.text(token);
        if word == "__has_include" {
            while line
                .get(index)
                .is_some_and(|next| expander.text(next) != ")")
            {
                index += 1;
            }
            index += 1;
            output.extend(expander.tokens_of("0"));
            continue;
        }
        if word != "defined" {
            output.push(token.clone());
            continue;
        }
        let parenthesised = line
            .get(index)
            .is_some_and(|next| expander.text(next) == "(");
        index += usize::from(parenthesised);
        let known = line
            .get(index)
            .is_some_and(|name| expander.is_defined(expander.text(name)));
        index += 1 + usize::from(parenthesised);
        output.extend(expander.tokens_of(if known { "1" } else { "0" }));
    }
    output
}

fn define(line: &[Token], expander: &mut Expander<'_>) {
    let Some((name, rest)) = line.split_first() else {
        return;
    };
    if name.kind != TokenKind::Identifier {
        return;
    }
    let function_like = rest
        .first()
        .is_some_and(|next| expander.text(next) == "(" && !next.space_before);
    let definition = if function_like {
        let Some(definition) = function_macro(&rest[1..], expander) else {
            return;
        };
        definition
    } else {
        Macro {
            parameters: None,
            variadic: false,
            body: rest.to_vec(),
        }
    };
    let name = expander.text(name).to_owned();
    expander.define(&name, definition);
}

/// Parameters and body, given what follows `NAME(`.
fn function_macro(line: &[Token], expander: &Expander<'_>) -> Option<Macro> {
    let mut parameters = Vec::new();
    let mut variadic = false;
    for (index, token) in line.iter().enumerate() {
        match expander.text(token) {
            ")" => {
                return Some(Macro {
                    parameters: Some(parameters),
                    variadic,
                    body: line[index + 1..].to_vec(),
                });
            }
            "," => {}
            "..." => {
                variadic = true;
                let named = index > 0 && expander.text(&line[index - 1]) != ",";
                if !named {
                    parameters.push("__VA_ARGS__".to_owned());
                }
            }
            parameter => parameters.push(parameter.to_owned()),
        }
    }
    None
}
