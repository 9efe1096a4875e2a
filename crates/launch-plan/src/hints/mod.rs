//! The way out of a fault, where whoever raised it did not know one.
//!
//! Asked at the crate's edge only, with the whole file at hand: names that are nearly right, a launch that
//! is nearly one. A wrong hint is worse than a general one, so what is not sure is put as a question.

mod launches;
mod names;
mod syntax;

use domain::{Diagnostic, VerdictKind, printable};

use crate::failure::PlanFailure;
use crate::source::lex::{TokenKind, lex};
use crate::source::text::SourceText;

/// Gives each error of a failure a hint, and a better one where the file has one. Without the file, as in
/// a live run, only what holds for every fault of a kind can be said.
pub(crate) fn complete(mut failure: PlanFailure, source: Option<&SourceText>) -> PlanFailure {
    let kind = failure.kind;
    let code = source.map(|source| code_alone(source.as_str()));
    for diagnostic in &mut failure.diagnostics {
        if let Some(code) = &code {
            syntax::move_to_foreign_character(diagnostic, code);
            if let Some(line) = syntax::broken_for(diagnostic, code) {
                diagnostic.line = Some(line);
                diagnostic.column = None;
                diagnostic.hint =
                    Some("a `for` has two `;`: `for (int i = 0; i < n; ++i)`".to_owned());
            }
        }
        let found = code
            .as_deref()
            .and_then(|code| in_file(kind, diagnostic, code));
        let hint = found.or_else(|| diagnostic.hint.take());
        let hint = hint.unwrap_or_else(|| general(kind).to_owned());
        diagnostic.hint = Some(printable(&hint));
    }
    failure
}

fn in_file(kind: VerdictKind, diagnostic: &Diagnostic, code: &str) -> Option<String> {
    let message = &diagnostic.message;
    let sure = names::misspelt(message, code)
        .or_else(|| launches::about_a_launch(message, code))
        .or_else(|| launches::about_a_call(diagnostic, code));
    let is_open = diagnostic.hint.is_none() && kind == VerdictKind::Diagnostics;
    sure.or_else(|| is_open.then(|| syntax::about(diagnostic, code))?)
}

/// The code of a diagnostic's line.
fn line_of<'c>(diagnostic: &Diagnostic, code: &'c str) -> Option<&'c str> {
    let index = usize::try_from(diagnostic.line?).ok()?.checked_sub(1)?;
    code.lines().nth(index)
}

/// What holds for every fault of a kind.
fn general(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::HostFault => {
            "C++ leaves this undefined, so that the result would be chance; compute it in another way"
        }
        VerdictKind::LaunchConfig => {
            "compare the launch with the kernel's parameters and with the device's limits"
        }
        VerdictKind::Fuel => "host code only prepares launches; loops over data belong in a kernel",
        VerdictKind::Signature => "compare `solve` with the problem's signature",
        VerdictKind::Diagnostics => "look at the text just before this place",
        VerdictKind::CompileLimit => "shorten the file, or remove generated code",
        _ => {
            "host code of plain variables, loops and calls of the CUDA runtime is interpreted; write it with \
             these, or move it into a kernel"
        }
    }
}

/// The text with spaces for its comments and for what stands within the quotes of its literals, so that
/// what is left is code, and places stay the same.
pub(crate) fn code_alone(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut end = 0;
    for token in lex(text) {
        let gap = &text[end..token.start as usize];
        let written = &text[token.start as usize..token.end as usize];
        end = token.end as usize;
        push_gap(&mut code, gap);
        match token.kind {
            TokenKind::Text | TokenKind::OpenText => push_literal(&mut code, written, token.kind),
            TokenKind::OpenComment => push_blank(&mut code, written),
            _ => code.push_str(written),
        }
    }
    push_gap(&mut code, &text[end..]);
    code
}

/// White space, line continuations and comments.
fn push_gap(code: &mut String, gap: &str) {
    if gap.contains('/') {
        push_blank(code, gap);
    } else {
        code.push_str(gap);
    }
}

fn push_literal(code: &mut String, literal: &str, kind: TokenKind) {
    let start = literal.find(['"', '\'']).map_or(0, |quote| quote + 1);
    let end = match kind {
        TokenKind::Text => literal.len().saturating_sub(1).max(start),
        _ => literal.len(),
    };
    code.push_str(&literal[..start]);
    push_blank(code, &literal[start..end]);
    code.push_str(&literal[end..]);
}

fn push_blank(code: &mut String, text: &str) {
    let bytes = text.bytes();
    code.extend(bytes.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use super::code_alone;

    #[test]
    fn comments_and_the_insides_of_literals_are_blanked() {
        for (text, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b\n\u{e9} */ c", "a     \n      c"),
            ("f(\"http://x\"); g", "f(\"        \"); g"),
            ("f(\"/*\"); g('\"', '\\''); h", "f(\"  \"); g(' ', '  '); h"),
            ("u8R\"x(a)\"\n)x\"; b", "u8R\"     \n  \"; b"),
            ("1'000'000 + 'a'", "1'000'000 + ' '"),
            ("a / b \\\n c", "a / b \\\n c"),
            ("\"open // \nb", "\"        \nb"),
            ("a /* open\n b", "a        \n  "),
            ("\"\" ''", "\"\" ''"),
        ] {
            assert_eq!(code_alone(text), code, "{text}");
            assert_eq!(code.len(), text.len(), "{text}");
        }
    }
}
