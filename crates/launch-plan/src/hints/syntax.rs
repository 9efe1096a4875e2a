//! What the text shows where the parser only knows that it cannot go on.

use domain::Diagnostic;
use domain::slips::{foreign_character, unmatched_bracket, words};

use super::launches::LAUNCH;
use super::line_of;

/// The way out of a syntax error.
pub(super) fn about(diagnostic: &Diagnostic, code: &str) -> Option<String> {
    let message = &diagnostic.message;
    if message.contains("without its `#endif`") {
        return Some("every `#if`, `#ifdef` and `#ifndef` ends with `#endif`".to_owned());
    }
    if message.contains("`}` is missing") {
        return Some(match open_brace(code) {
            Some(line) => format!("the `{{` of line {line} has no `}}`"),
            None => "a `{` above this line has no `}`".to_owned(),
        });
    }
    if message.contains("has already been defined") {
        return Some("keep one of the two, or give the other another name".to_owned());
    }
    let text = line_of(diagnostic, code).unwrap_or("");
    let shown = foreign_language(code)
        .or_else(|| text.chars().find_map(foreign_character))
        .or_else(|| launch(text))
        .or_else(|| macro_with_semicolon(text, code))
        .or_else(|| brackets(text));
    shown.or_else(|| {
        let line = unfinished_line(code, diagnostic.line?)?;
        Some(format!("is a `;` missing at the end of line {line}?"))
    })
}

/// The parser may notice such a character lines before or after it, and no file with one is C++.
pub(super) fn move_to_foreign_character(diagnostic: &mut Diagnostic, code: &str) {
    if !diagnostic.message.starts_with("syntax error") || foreign_language(code).is_some() {
        return;
    }
    let places = code.lines().zip(1..).find_map(|(line, number)| {
        let mut characters = line.char_indices();
        let (column, _) = characters.find(|&(_, c)| foreign_character(c).is_some())?;
        Some((number, u32::try_from(column + 1).ok()?))
    });
    if let Some((line, column)) = places {
        diagnostic.line = Some(line);
        diagnostic.column = Some(column);
    }
}

/// `for (int i = 0; i < n)`: sure to be wrong, wherever the parser stumbled over it. Its line.
pub(super) fn broken_for(diagnostic: &Diagnostic, code: &str) -> Option<u32> {
    if !diagnostic.message.starts_with("syntax error") {
        return None;
    }
    let mut open: Vec<Option<Head>> = Vec::new();
    let mut first: Option<u32> = None;
    let (mut line, mut semicolons, mut unclear) = (1, 0, 0);
    // One pass: a hostile text opens as many brackets as it has bytes.
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'\n' => line += 1,
            b';' => semicolons += 1,
            // A lambda has a body of its own, and a range-based loop a colon.
            b'{' | b'#' | b':' => unclear += 1,
            b'(' => open.push(line_of_for(code, at, line).map(|line| Head {
                line,
                semicolons_before: semicolons,
                unclear_before: unclear,
            })),
            b')' => {
                let head = open.pop().flatten();
                let is_broken = |head: &Head| {
                    head.unclear_before == unclear && semicolons - head.semicolons_before != 2
                };
                if let Some(head) = head.filter(is_broken) {
                    first = Some(first.map_or(head.line, |first| first.min(head.line)));
                }
            }
            _ => {}
        }
    }
    first
}

/// The bracket of a `for`: its line, and what had been counted where it opened.
struct Head {
    line: u32,
    semicolons_before: usize,
    unclear_before: usize,
}

/// The line of the `for` whose bracket opens at `at`, which is on line `line`.
fn line_of_for(code: &str, at: usize, line: u32) -> Option<u32> {
    let before = code[..at].trim_end();
    let name = before.strip_suffix("for")?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let between = code[before.len()..at].matches('\n').count();
    (!name.ends_with(is_name)).then(|| line.saturating_sub(u32::try_from(between).unwrap_or(0)))
}

/// Python is what other judges take beside CUDA.
fn foreign_language(code: &str) -> Option<String> {
    let first = code.lines().find(|line| !line.trim().is_empty())?;
    let is_python = (first.starts_with("def ") && first.trim_end().ends_with(':'))
        || first.starts_with("from ") && first.contains(" import ")
        || first.starts_with("import ") && !first.contains(';');
    is_python.then(|| "is this Python? A submission is one file of CUDA C++".to_owned())
}

fn launch(line: &str) -> Option<String> {
    if line.contains(")<<<") || line.contains(") <<<") {
        return Some(format!("{LAUNCH}, with `<<<...>>>` before the arguments"));
    }
    let is_open = line.contains("<<<") && !line.contains(">>>");
    is_open.then(|| format!("is a `>>>` missing? {LAUNCH}"))
}

/// `#define THREADS 256;`, where the line uses it.
fn macro_with_semicolon(line: &str, code: &str) -> Option<String> {
    let defined = code.lines().zip(1..).find_map(|(text, number)| {
        let rest = text.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("define")?;
        let name = words(rest).next()?;
        let is_constant = !rest.contains('(') && rest.trim_end().ends_with(';');
        (is_constant && words(line).any(|word| word == name)).then_some((name, number))
    });
    let (name, number) = defined?;
    Some(format!(
        "the macro `{name}` stands for its `;`, too: take it out of line {number}"
    ))
}

/// A statement on one line whose brackets do not go together.
fn brackets(line: &str) -> Option<String> {
    let is_whole = line.trim_end().ends_with([';', '{']);
    let found = unmatched_bracket(line).filter(|_| is_whole)?;
    Some(found.to_owned())
}

/// The line of a `{` that is still open where the next function begins, or where the file ends.
fn open_brace(code: &str) -> Option<u32> {
    let mut open: Vec<(u32, bool)> = Vec::new();
    for (line, number) in code.lines().zip(1..) {
        let begins = ["__global__", "__device__", "extern \"", "template", "void"];
        let is_within = open.last().filter(|(_, is_scope)| !is_scope);
        if let Some((brace, _)) = is_within
            && begins.iter().any(|word| line.starts_with(word))
        {
            return Some(*brace);
        }
        // Namespaces, classes and `extern "C" {` hold functions.
        let is_scope = words(line).any(|word| ["namespace", "struct", "class"].contains(&word))
            || line.trim().starts_with("extern \"") && line.trim().ends_with("\" {");
        for c in line.chars() {
            match c {
                '{' => open.push((number, is_scope)),
                '}' => drop(open.pop()),
                _ => {}
            }
        }
    }
    open.last().map(|(line, _)| *line)
}

/// The line at or above line `number` that ends as if a statement went on.
fn unfinished_line(code: &str, number: u32) -> Option<u32> {
    let lines: Vec<&str> = code.lines().collect();
    let last = usize::try_from(number).ok()?;
    // The parser may notice where the statement begins, where it ends, or on the line after.
    let nearby = last.saturating_sub(2)..last.min(lines.len());
    let found = nearby.rev().find(|&index| ends_unfinished(lines[index]))?;
    u32::try_from(found + 1).ok()
}

/// A statement, going by its last character, that lacks its `;`.
fn ends_unfinished(line: &str) -> bool {
    let code = line.trim();
    // What a brace or a `;` ends is not meant.
    let code = code.rsplit(['{', '}', ';']).next().unwrap_or(code).trim();
    let begins_as_one = !code.starts_with('#') && code.contains(['=', '(']);
    let keyword = [
        "if",
        "for",
        "while",
        "else",
        "switch",
        "do",
        "__global__",
        "extern",
        "void",
        "template",
    ];
    let head = code
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
        .unwrap_or("");
    begins_as_one
        && !keyword.contains(&head)
        && code.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | ']' | '_' | '"'))
}
