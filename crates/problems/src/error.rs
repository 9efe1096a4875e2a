//! Why a package cannot be loaded, and where a person should look.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// One fault in a package: where it is, what is wrong, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{}: {message}; {hint}", .file.display(), Place(*.line, *.column), Field(.field.as_deref()))]
pub struct PackageError {
    /// The file, or the package's directory when no single file is to blame.
    pub file: PathBuf,
    /// Line from 1, where the fault has a place in a text.
    pub line: Option<u32>,
    /// Column from 1, in bytes.
    pub column: Option<u32>,
    /// The field, as a path: `parameters[2].dims[0]`.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// An expression or a size that has no value for the axes at hand. A loaded package never yields
/// one for its own shapes: the loader has evaluated everything on each of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct EvaluationError {
    /// The field whose value was asked for.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

impl EvaluationError {
    pub(crate) fn new(field: impl Into<String>, message: impl std::fmt::Display) -> Self {
        Self {
            field: field.into(),
            message: message.to_string(),
        }
    }
}

impl PackageError {
    /// A fault of a whole file or directory.
    pub(crate) fn whole(file: &Path, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            column: None,
            field: None,
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// A file's text, so that byte offsets become lines and columns.
pub(crate) struct Text {
    pub file: PathBuf,
    pub content: String,
}

impl Text {
    pub fn read(file: &Path) -> Result<Self, PackageError> {
        let content = std::fs::read_to_string(file).map_err(|e| {
            let hint = if e.kind() == std::io::ErrorKind::NotFound {
                "every package needs this file"
            } else {
                "make it a readable UTF-8 file"
            };
            PackageError::whole(file, format!("cannot be read: {e}"), hint)
        })?;
        Ok(Self {
            file: file.to_owned(),
            content,
        })
    }

    /// A fault of a field that has no single place.
    pub fn of_field(
        &self,
        field: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> PackageError {
        PackageError {
            field: Some(field.into()),
            ..PackageError::whole(&self.file, message, hint)
        }
    }

    /// A fault at `span` (byte offsets).
    pub fn at(
        &self,
        span: &Range<usize>,
        field: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> PackageError {
        let before = &self.content.as_bytes()[..span.start.min(self.content.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        PackageError {
            file: self.file.clone(),
            line: u32::try_from(line).ok(),
            column: u32::try_from(column).ok(),
            field: Some(field.into()),
            message: message.into(),
            hint: hint.into(),
        }
    }
}

struct Place(Option<u32>, Option<u32>);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.0 {
            write!(f, ":{line}")?;
            if let Some(column) = self.1 {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

struct Field<'a>(Option<&'a str>);

impl std::fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(field) if !field.is_empty() => write!(f, ": `{field}`"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_from_one() {
        let text = Text {
            file: "p/problem.toml".into(),
            content: "a = 1\nbb = 2\n".into(),
        };
        let error = text.at(&(11..12), "bb", "is 2", "make it 3");
        assert_eq!((error.line, error.column), (Some(2), Some(6)));
        assert_eq!(
            error.to_string(),
            "p/problem.toml:2:6: `bb`: is 2; make it 3"
        );
    }

    #[test]
    fn a_fault_of_a_whole_file_has_no_place() {
        let error = PackageError::whole(Path::new("p"), "is empty", "fill it");
        assert_eq!(error.to_string(), "p: is empty; fill it");
    }
}
