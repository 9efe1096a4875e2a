//! Compiled code as a person reads it, each line with the line of the submission that it was made from.
//!
//! It is written where the compiler ran, from text that a submission had a hand in. Every hop after that
//! asks [`CodeListing::check`] before it believes it: the bounds here are contract.

use serde::{Deserialize, Serialize};

/// Bytes of text and names that one form (PTX or SASS) may have in all.
pub const MAX_CODE_BYTES: usize = 512 << 10;
/// Lines that one form may have in all.
pub const MAX_CODE_LINES: usize = 20_000;
/// Bytes of one line; tables of constants are written as one.
pub const MAX_CODE_LINE_BYTES: usize = 400;
/// Bytes of the name of a function.
pub const MAX_CODE_NAME_BYTES: usize = 400;

/// What the compiler made of a submission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CodeListing {
    /// The architecture compiled for, e.g. `sm_90a`.
    pub arch: String,
    /// The virtual machine's code.
    pub ptx: CodeText,
    /// The machine code, as a disassembler writes it; `null` where there is none to be read.
    pub sass: Option<CodeText>,
    /// Why there is no machine code, in a few words; `null` where there is, and of judgings before it was
    /// kept.
    #[serde(default)]
    pub no_sass: Option<String>,
}

/// One form of the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CodeText {
    /// Launched kernels, other kernels, functions that they call, and what stands outside of all.
    pub parts: Vec<CodePart>,
    /// Lines at the end that are left out because the whole is too long; lines that are too long
    /// themselves end in `…`.
    pub lines_left_out: u32,
}

/// A function, or what stands outside of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CodePart {
    /// What it is.
    pub kind: CodeKind,
    /// A launched kernel as the report spells it, another function by its name; empty for a module.
    pub name: String,
    /// The code, line by line, joined by `\n`.
    pub text: String,
    /// For each line of the text, the line of the submission that it was made from, from 1.
    pub source_lines: Vec<Option<u32>>,
}

/// What a part of the code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CodeKind {
    /// A `__global__` function.
    Kernel,
    /// A function that kernels call.
    Function,
    /// Directives and variables outside of functions.
    Module,
}

/// Why a listing is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeFault {
    /// Whatever was compiled has code.
    #[error("the listing is empty")]
    Empty,
    /// More text, lines or names than may be.
    #[error("the listing is larger than it may be")]
    TooLarge,
    /// As many source lines as lines of code are needed.
    #[error("a part has not one source line for each line of its text")]
    Lines,
    /// Text is shown as it is.
    #[error("the listing holds characters that cannot be shown")]
    Characters,
}

impl CodeListing {
    /// Whether it keeps the contract, whoever wrote it.
    pub fn check(&self) -> Result<(), CodeFault> {
        if self.arch.len() > MAX_CODE_NAME_BYTES {
            return Err(CodeFault::TooLarge);
        }
        if self.ptx.parts.is_empty() {
            return Err(CodeFault::Empty);
        }
        showable(&self.arch)?;
        self.ptx.check()?;
        if let Some(reason) = &self.no_sass {
            if reason.len() > MAX_CODE_LINE_BYTES {
                return Err(CodeFault::TooLarge);
            }
            showable(reason)?;
        }
        self.sass.as_ref().map_or(Ok(()), CodeText::check)
    }
}

impl CodeText {
    /// Whether it keeps the contract, whoever wrote it.
    pub fn check(&self) -> Result<(), CodeFault> {
        let (mut bytes, mut lines) = (0, 0);
        for part in &self.parts {
            bytes += part.text.len() + part.name.len() + 1;
            lines += part.source_lines.len();
            let is_long = |line: &str| line.len() > MAX_CODE_LINE_BYTES;
            if bytes > MAX_CODE_BYTES
                || lines > MAX_CODE_LINES
                || part.name.len() > MAX_CODE_NAME_BYTES
                || part.text.split('\n').any(is_long)
            {
                return Err(CodeFault::TooLarge);
            }
            if part.text.split('\n').count() != part.source_lines.len() {
                return Err(CodeFault::Lines);
            }
            showable(&part.name)?;
            part.text.split('\n').try_for_each(showable)?;
        }
        Ok(())
    }
}

fn showable(text: &str) -> Result<(), CodeFault> {
    match crate::printable(text) == text {
        true => Ok(()),
        false => Err(CodeFault::Characters),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, source_lines: Vec<Option<u32>>) -> CodeListing {
        let part = CodePart {
            kind: CodeKind::Kernel,
            name: "add<256>".to_owned(),
            text: text.to_owned(),
            source_lines,
        };
        CodeListing {
            arch: "sm_90a".to_owned(),
            ptx: CodeText {
                parts: vec![part],
                lines_left_out: 0,
            },
            sass: None,
            no_sass: None,
        }
    }

    #[test]
    fn a_listing_has_a_place_for_each_line() {
        let sound = of("add.f32 %f1, %f2, %f3;\nret;", vec![Some(3), None]);
        assert_eq!(sound.check(), Ok(()));
        let sass = CodeListing {
            sass: Some(CodeText::default()),
            ..sound
        };
        assert_eq!(sass.check(), Ok(()));
        assert_eq!(of("ret;", vec![]).check(), Err(CodeFault::Lines));
        assert_eq!(of("ret;\n", vec![None]).check(), Err(CodeFault::Lines));
        assert_eq!(CodeListing::default().check(), Err(CodeFault::Empty));
    }

    #[test]
    fn what_a_page_could_not_show_is_refused() {
        for text in [
            "\u{1b}[31mret;",
            "ret;\0",
            "\u{202e};ter",
            "\tret;",
            "ret;\r",
        ] {
            let listing = of(text, vec![None]);
            assert_eq!(listing.check(), Err(CodeFault::Characters), "{text:?}");
        }
        let mut named = of("ret;", vec![None]);
        named.ptx.parts[0].name = "a\nb".to_owned();
        assert_eq!(named.check(), Err(CodeFault::Characters));
        let mut reasoned = of("ret;", vec![None]);
        reasoned.no_sass = Some("out of\ttime".to_owned());
        assert_eq!(reasoned.check(), Err(CodeFault::Characters));
        reasoned.no_sass = Some("x".repeat(MAX_CODE_LINE_BYTES + 1));
        assert_eq!(reasoned.check(), Err(CodeFault::TooLarge));
    }

    #[test]
    fn sizes_are_bounded() {
        let line = "x".repeat(MAX_CODE_LINE_BYTES);
        assert_eq!(of(&line, vec![None]).check(), Ok(()));
        let long = format!("{line}x");
        assert_eq!(of(&long, vec![None]).check(), Err(CodeFault::TooLarge));
        let many = |n: usize| of(&"\n".repeat(n - 1), vec![None; n]).check();
        assert_eq!(many(MAX_CODE_LINES), Ok(()));
        assert_eq!(many(MAX_CODE_LINES + 1), Err(CodeFault::TooLarge));
        let lines = MAX_CODE_BYTES / (line.len() + 1);
        let fat = |n: usize| of(&vec![line.as_str(); n].join("\n"), vec![None; n]).check();
        assert_eq!(fat(lines), Ok(()));
        assert_eq!(fat(lines + 1), Err(CodeFault::TooLarge));
    }

    #[test]
    fn names_count_for_the_size() {
        let mut named = of("ret;", vec![None]);
        named.ptx.parts[0].name = "k".repeat(MAX_CODE_NAME_BYTES);
        let part = named.ptx.parts[0].clone();
        let parts = MAX_CODE_BYTES / (part.name.len() + part.text.len() + 1);
        named.ptx.parts = vec![part.clone(); parts];
        assert_eq!(named.check(), Ok(()));
        named.ptx.parts.push(part);
        assert_eq!(named.check(), Err(CodeFault::TooLarge));
    }
}
