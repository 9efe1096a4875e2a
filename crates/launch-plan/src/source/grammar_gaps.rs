//! Valid text that the grammar cannot read, in a form that it can.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::lex::TokenKind;

/// Stars in a row that anybody writes.
const MAX_STARS: usize = 8;

/// The class template of which `new` is given an instance where the text has a pointer type:
/// the grammar has no pointers behind `new`.
pub(crate) const POINTER_TO: &str = "__lightspeed_pointer_to";

/// Tokens that are looked through for what makes a gap.
const MAX_LOOKED_THROUGH: usize = 64;

/// Adds the names that these tokens declare as templates.
pub(super) fn note_templates(tokens: &[(TokenKind, &str)], names: &mut BTreeSet<String>) {
    for start in (0..tokens.len()).filter(|&index| tokens[index].1 == "template") {
        let end = tokens.len().min(start + MAX_LOOKED_THROUGH);
        let declared = tokens[start..end].windows(2).find(|pair| {
            pair[0].0 == TokenKind::Identifier && matches!(pair[1].1, "(" | "{" | ";" | ":")
        });
        names.extend(declared.map(|pair| pair[0].1.to_owned()));
    }
}

/// The texts of some tokens, those that the grammar would stumble over replaced.
pub(super) fn bridged<'t>(
    tokens: &[(TokenKind, &'t str)],
    templates: &BTreeSet<String>,
) -> Vec<Cow<'t, str>> {
    let mut texts: Vec<_> = tokens.iter().map(|&(_, text)| text.into()).collect();
    for index in 0..tokens.len() {
        match tokens[index].1 {
            "new" => {
                if let Some((first, stars)) = new_pointer(tokens, index + 1) {
                    let opened = format!("{POINTER_TO}<").repeat(stars.len());
                    texts[first] = format!("{opened}{}", tokens[first].1).into();
                    for star in stars {
                        texts[star] = ">".into();
                    }
                }
            }
            "__device__" | "__host__" if follows_a_capture(tokens, index) => {
                texts[index] = "".into();
            }
            "<" => {
                if let Some(start) = compared_name(tokens, index, templates) {
                    texts[start] = format!("({}", texts[start]).into();
                    texts[index - 1] = format!("{})", texts[index - 1]).into();
                }
            }
            _ => {}
        }
    }
    texts
}

/// `n < 9 ? k<1> : k<2>` reads as a template `n<...>`. Where the name before the `<` starts, if it is compared.
fn compared_name(
    tokens: &[(TokenKind, &str)],
    less: usize,
    templates: &BTreeSet<String>,
) -> Option<usize> {
    let mut start = less.checked_sub(1)?;
    let (kind, name) = tokens[start];
    if kind != TokenKind::Identifier || templates.contains(name) {
        return None;
    }
    let mut depth = 0_usize;
    let after = tokens[less + 1..].iter().take(MAX_LOOKED_THROUGH);
    let end = after.map(|token| token.1).find(|text| {
        match *text {
            "(" | "[" => depth += 1,
            ")" | "]" if depth > 0 => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(*text, "?" | ";" | "," | "{" | "}" | "<" | ">" | ")")
    });
    if end != Some("?") {
        return None;
    }
    while start >= 2 && matches!(tokens[start - 1].1, "." | "->" | "::") {
        start -= 2;
    }
    (tokens[start].0 == TokenKind::Identifier).then_some(start)
}

/// Where the type after `new` starts, and its stars, if it is a pointer.
fn new_pointer(tokens: &[(TokenKind, &str)], start: usize) -> Option<(usize, Range<usize>)> {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.1);
    let mut first = start;
    if text(first) == "(" {
        // `new (std::nothrow) T`
        let placement = tokens[first..].iter().take(MAX_LOOKED_THROUGH);
        first += placement
            .map(|token| token.1)
            .position(|text| text == ")")?
            + 1;
    }
    let mut end = first;
    let mut open = 0_usize;
    while let Some(&(kind, word)) = tokens.get(end).filter(|_| end < start + MAX_LOOKED_THROUGH) {
        match word {
            "<" => open += 1,
            ">" if open > 0 => open -= 1,
            ">>" if open > 1 => open -= 2,
            "::" => {}
            _ if open > 0 && !matches!(word, ";" | "{" | "}") => {}
            _ if kind == TokenKind::Identifier => {}
            _ => break,
        }
        end += 1;
    }
    let stars = tokens[end..].iter().take_while(|token| token.1 == "*");
    let stars = end..end + stars.count();
    (end > first && (1..=MAX_STARS).contains(&stars.len())).then_some((first, stars))
}

/// `[=] __device__ (int x) {`: annotations of a lambda, which mean nothing to host code.
fn follows_a_capture(tokens: &[(TokenKind, &str)], index: usize) -> bool {
    let mut before = tokens[..index]
        .iter()
        .rev()
        .map(|token| token.1)
        .skip_while(|text| matches!(*text, "__device__" | "__host__"));
    // (An attribute ends by two.)
    before.next() == Some("]") && before.next() != Some("]")
}
