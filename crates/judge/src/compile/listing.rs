//! Compiled code as a person reads it, bounded and cleaned. Runs where the code came from: in a child.

mod ptx;
mod sass;

use std::collections::BTreeMap;

use domain::code::{MAX_CODE_BYTES, MAX_CODE_LINE_BYTES, MAX_CODE_LINES, MAX_CODE_NAME_BYTES};
use domain::{CodeKind, CodeListing, CodePart, CodeText, Diagnostic, Severity, Stage};
use toolchain::demangle;

pub(crate) use self::ptx::of_ptx;
pub(crate) use self::sass::of_sass;

/// Stands for the rest of what is cut.
const CUT: &str = "…";

/// What the child wrote, to be believed or not: the verdict does not depend on it.
pub(super) fn leave_out_unsound(listing: &mut CodeListing, warnings: &mut Vec<Diagnostic>) {
    let Err(fault) = listing.check() else { return };
    *listing = CodeListing::default();
    warnings.push(Diagnostic {
        stage: Stage::Compile,
        severity: Severity::Warning,
        line: None,
        column: None,
        message: format!("the compiled code is not kept: {fault}"),
        hint: None,
    });
}

/// A part in the making.
struct Part {
    kind: CodeKind,
    name: String,
    is_launched: bool,
    lines: Vec<(String, Option<u32>)>,
    /// Its `{` has come; what ends before was a declaration.
    has_body: bool,
}

impl Part {
    fn module() -> Self {
        Self {
            kind: CodeKind::Module,
            name: String::new(),
            is_launched: false,
            lines: Vec::new(),
            has_body: true,
        }
    }

    /// A kernel or a function. `launched`: the kernels' instantiations by mangled name.
    fn function(kind: CodeKind, lowered: &str, launched: &BTreeMap<&str, &str>) -> Self {
        let instantiation = launched.get(lowered);
        let name = instantiation.map_or_else(|| demangle(lowered), |&name| name.to_owned());
        Self {
            kind,
            name: cut(&domain::printable(&name), MAX_CODE_NAME_BYTES),
            is_launched: instantiation.is_some(),
            lines: Vec::new(),
            has_body: false,
        }
    }

    /// Adds a line; blank ones neither begin a part nor follow each other.
    fn push(&mut self, line: &str, at: Option<u32>) {
        let line = shown(line);
        let follows_blank = self.lines.last().is_none_or(|(last, _)| last.is_empty());
        if !(line.is_empty() && follows_blank) {
            let at = at.filter(|_| !line.is_empty());
            self.lines.push((line, at));
        }
    }

    fn rank(&self) -> u8 {
        match (self.kind, self.is_launched) {
            (CodeKind::Kernel, true) => 0,
            (CodeKind::Kernel, false) => 1,
            (CodeKind::Function, _) => 2,
            (CodeKind::Module, _) => 3,
        }
    }
}

/// The launched kernels' instantiations by mangled name.
fn by_lowered_name(lowered_names: &BTreeMap<String, String>) -> BTreeMap<&str, &str> {
    let names = lowered_names.iter();
    names
        .map(|(name, lowered)| (lowered.as_str(), name.as_str()))
        .collect()
}

/// A line without what cannot be shown: tabs are spaces, and of a table of constants the beginning suffices.
fn shown(line: &str) -> String {
    let line = line.trim_end();
    let code = line.trim_start_matches('\t');
    let indent = "    ".repeat((line.len() - code.len()).min(8));
    // Before anything is copied: one line may be a megabyte. Cleaning makes a byte three at most.
    let code = cut(code, MAX_CODE_LINE_BYTES * 2);
    let code = domain::printable(&code.replace(" \t", " "));
    cut(&format!("{indent}{code}"), MAX_CODE_LINE_BYTES)
}

/// At most `bytes` of a text, with a mark where something is missing.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes - CUT.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT}", &text[..end])
}

/// As many lines as a listing may have.
fn bounded(parts: Vec<Part>) -> CodeText {
    let mut text = CodeText::default();
    let (mut bytes, mut lines) = (0, 0);
    for mut part in parts {
        while part.lines.last().is_some_and(|(line, _)| line.is_empty()) {
            part.lines.pop();
        }
        let all = part.lines.len();
        bytes += part.name.len();
        let fits = part.lines.iter().take_while(|(line, _)| {
            bytes += line.len() + 1;
            lines += 1;
            bytes <= MAX_CODE_BYTES && lines <= MAX_CODE_LINES
        });
        let fits = fits.count();
        part.lines.truncate(fits);
        let left_out = u32::try_from(all - fits).unwrap_or(u32::MAX);
        text.lines_left_out = text.lines_left_out.saturating_add(left_out);
        if part.lines.is_empty() {
            continue;
        }
        let (code, source_lines): (Vec<String>, _) = part.lines.into_iter().unzip();
        text.parts.push(CodePart {
            kind: part.kind,
            name: part.name,
            text: code.join("\n"),
            source_lines,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_that_breaks_the_contract_is_left_out_with_a_warning() {
        let sound = of_ptx("sm_90a", ".version 9.5\n", &BTreeMap::new());
        let (mut listing, mut warnings) = (sound.clone(), Vec::new());
        leave_out_unsound(&mut listing, &mut warnings);
        assert_eq!((&listing, warnings.as_slice()), (&sound, [].as_slice()));

        listing.ptx.parts[0].source_lines.clear();
        leave_out_unsound(&mut listing, &mut warnings);
        assert_eq!(listing, CodeListing::default());
        let told = "the compiled code is not kept: a part has not one source line for each line of its text";
        assert_eq!(warnings[0].message, told);
        assert_eq!(warnings[0].severity, Severity::Warning);
    }
}
