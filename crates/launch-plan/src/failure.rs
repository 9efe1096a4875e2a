//! Why a file has no plan.
//!
//! Inside the crate a fault carries an offset in the submitted text; at the edge it becomes a
//! [`PlanFailure`] with line and column.

use domain::{Diagnostic, Severity, Stage, Verdict, VerdictKind, printable};

use crate::source::text::{At, Lines};

/// The verdict's kind and what to tell the author. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.summary())]
pub struct PlanFailure {
    /// `signature`, `unsupported_construct`, `fuel`, `launch_config` or `host_fault` (all
    /// `plan_error`); `diagnostics` or `compile_limit` (both `compile_error`) for text that is not
    /// C++ at all.
    pub kind: VerdictKind,
    /// At least one, worst first.
    pub diagnostics: Vec<Diagnostic>,
}

impl PlanFailure {
    /// The verdict that the kind belongs to: text that is no C++ at all is a compile error.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.kind {
            VerdictKind::Diagnostics | VerdictKind::CompileLimit => Verdict::CompileError,
            _ => Verdict::PlanError,
        }
    }

    fn summary(&self) -> String {
        let Some(first) = self.diagnostics.first() else {
            return self.kind.to_string();
        };
        match (first.line, first.column) {
            (Some(line), Some(column)) => format!("{line}:{column}: {}", first.message),
            _ => first.message.clone(),
        }
    }
}

/// A fault on its way out of the crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Fault {
    kind: VerdictKind,
    at: Option<At>,
    message: String,
    hint: Option<String>,
}

/// Boxed, because every step of the interpreter returns one.
pub(crate) type Fallible<T> = Result<T, Box<Fault>>;

impl Fault {
    pub(crate) fn new(kind: VerdictKind, at: At, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            kind,
            at: Some(at),
            message: message.into(),
            hint: None,
        })
    }

    /// A construct outside the subset.
    pub(crate) fn unsupported(at: At, message: impl Into<String>, hint: &str) -> Box<Self> {
        Self::new(VerdictKind::UnsupportedConstruct, at, message).hint(hint)
    }

    /// Something that C++ leaves undefined.
    pub(crate) fn host(at: At, message: impl Into<String>) -> Box<Self> {
        Self::new(VerdictKind::HostFault, at, message)
    }

    /// Something that the device would refuse.
    pub(crate) fn launch(at: At, message: impl Into<String>) -> Box<Self> {
        Self::new(VerdictKind::LaunchConfig, at, message)
    }

    /// A limit of the interpreter.
    pub(crate) fn fuel(at: At, message: impl Into<String>) -> Box<Self> {
        Self::new(VerdictKind::Fuel, at, message)
    }

    /// Text that no C++ compiler takes.
    pub(crate) fn syntax(at: At, message: impl Into<String>) -> Box<Self> {
        Self::new(VerdictKind::Diagnostics, at, message)
    }

    /// An entry point that is missing or has other parameters.
    pub(crate) fn signature(at: Option<At>, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            kind: VerdictKind::Signature,
            at,
            message: message.into(),
            hint: None,
        })
    }

    /// Whether it lies in how the file is written, whatever the values are.
    pub(crate) fn is_beyond_the_subset(&self) -> bool {
        matches!(
            self.kind,
            VerdictKind::UnsupportedConstruct | VerdictKind::Diagnostics
        )
    }

    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        let hint = hint.into();
        self.hint = (!hint.is_empty()).then_some(hint);
        self
    }

    pub(crate) fn into_failure(self, lines: &Lines) -> PlanFailure {
        let stage = match self.kind {
            VerdictKind::Diagnostics | VerdictKind::CompileLimit => Stage::Compile,
            _ => Stage::Plan,
        };
        let position = self.at.map(|at| lines.position(at));
        PlanFailure {
            kind: self.kind,
            diagnostics: vec![Diagnostic {
                stage,
                severity: Severity::Error,
                line: position.map(|(line, _)| line),
                column: position.map(|(_, column)| column),
                message: printable(&self.message),
                hint: self.hint.as_deref().map(printable),
            }],
        }
    }
}
