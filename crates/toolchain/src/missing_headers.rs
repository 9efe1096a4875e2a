//! Includes of headers that exist nowhere here. People leave those of their own projects and editors
//! in what they submit, mostly unused; the compiler gives up at the first.

use std::borrow::Cow;

use domain::{Diagnostic, Severity};

/// Includes left out of one source before the compiler's word is final.
const MOST: usize = 16;

/// A source whose includes of missing headers are taken out as the compiler meets them.
pub(crate) struct WithoutMissing<'a> {
    pub(crate) source: Cow<'a, str>,
    /// What the compiler said of each.
    left_out: Vec<Diagnostic>,
}

impl<'a> WithoutMissing<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self {
            source: source.into(),
            left_out: Vec::new(),
        }
    }

    /// Takes out the include that is all that these diagnostics complain of. `false`: they complain of
    /// something else. An absolute path is no header of anybody's project, and its error stands.
    pub(crate) fn take_out(&mut self, diagnostics: &[Diagnostic]) -> bool {
        let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let (Some(error), None) = (errors.next(), errors.next()) else {
            return false;
        };
        let Some(line) = line_of_include(error) else {
            return false;
        };
        if self.left_out.len() == MOST {
            return false;
        }
        match without_include(&self.source, line) {
            Some(source) => {
                self.source = source.into();
                self.left_out.push(error.clone());
                true
            }
            None => false,
        }
    }

    /// What to say where the rest compiles.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.left_out.iter().map(|error| Diagnostic {
            severity: Severity::Warning,
            message: format!("{}; the include is left out", error.message),
            ..error.clone()
        })
    }

    /// What to say where the rest does not: these are probably why.
    pub(crate) fn errors(self) -> Vec<Diagnostic> {
        self.left_out
    }
}

fn line_of_include(error: &Diagnostic) -> Option<u32> {
    let header = error.message.strip_prefix("cannot open source file \"")?;
    (!header.starts_with(['/', '\\'])).then_some(error.line)?
}

/// The source with spaces for one line, if that is an include.
fn without_include(source: &str, line: u32) -> Option<String> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let mut lines: Vec<Cow<'_, str>> = source.split_inclusive('\n').map(Cow::from).collect();
    let text = lines.get(index)?.trim_start();
    let directive = text.strip_prefix('#').or_else(|| text.strip_prefix("%:"))?;
    let header = directive.trim_start().strip_prefix("include")?.trim_start();
    if header.starts_with("\"/") || header.starts_with("</") {
        return None; // however long, which is cut in the message
    }
    let blank = lines[index]
        .chars()
        .map(|c| if c == '\n' || c == '\r' { c } else { ' ' });
    lines[index] = blank.collect::<String>().into();
    Some(lines.concat())
}

#[cfg(test)]
mod tests {
    use domain::Stage;

    use super::*;

    fn missing(header: &str, line: u32) -> Diagnostic {
        Diagnostic {
            stage: Stage::Compile,
            severity: Severity::Error,
            line: Some(line),
            column: None,
            message: format!("cannot open source file \"{header}\""),
            hint: None,
        }
    }

    #[test]
    fn an_include_becomes_spaces_of_its_length() {
        let mut source = WithoutMissing::new("int a;\r\n # include \"my.h\"\r\nint b;");
        assert!(source.take_out(&[missing("my.h", 2)]));
        assert_eq!(source.source, "int a;\r\n                 \r\nint b;");
        let told: Vec<Diagnostic> = source.warnings().collect();
        assert_eq!(told[0].severity, Severity::Warning);
        assert_eq!(
            told[0].message,
            "cannot open source file \"my.h\"; the include is left out"
        );
        assert_eq!(source.errors(), [missing("my.h", 2)]);
    }

    #[test]
    fn nothing_else_is_taken_out() {
        let mut source = WithoutMissing::new("#include NAME\n#include \"/etc/passwd\"\nint b;");
        assert!(!source.take_out(&[missing("/etc/passwd", 2)]));
        assert!(!source.take_out(&[missing("", 2)]));
        assert!(!source.take_out(&[missing("my.h", 3)]));
        assert!(!source.take_out(&[missing("my.h", 4)]));
        let other = Diagnostic {
            message: "identifier \"x\" is undefined".into(),
            ..missing("", 3)
        };
        assert!(!source.take_out(std::slice::from_ref(&other)));
        assert!(!source.take_out(&[missing("my.h", 1), other]));
        assert!(source.take_out(&[missing("my.h", 1)]));
    }

    #[test]
    fn there_is_an_end() {
        let text = "#include \"x\"\n".repeat(40);
        let mut source = WithoutMissing::new(&text);
        let taken = (1..=40).filter(|&line| source.take_out(&[missing("x", line)]));
        assert_eq!(taken.count(), MOST);
    }
}
