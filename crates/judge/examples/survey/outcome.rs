//! What one file came to.

use domain::{Diagnostic, Report, Severity, Signature, Verdict, VerdictKind};
use launch_plan::PlanFailure;
use serde::Serialize;

/// How far a file got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// No text that a judge takes.
    Unread,
    /// No entry function that a problem could have.
    Signature,
    /// The host function was not planned, or the device code not compiled.
    Refused,
    /// The device refused an instruction.
    Unsupported,
    /// Planned and compiled; ended by a fault or a limit, which the made-up sizes may be to blame for.
    Started,
    /// Ran to its end.
    Ran,
}

/// One line of the survey.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Name of the file.
    pub file: String,
    /// How far it got.
    pub stage: Stage,
    /// Whether its host function is planned.
    pub interpreted: bool,
    /// Whether its device code compiles.
    pub compiled: bool,
    /// What the judge says; nothing without a signature.
    pub verdict: Option<Verdict>,
    /// What exactly.
    pub kind: Option<VerdictKind>,
    /// Where the first error is.
    pub line: Option<u32>,
    /// Where the first error is.
    pub column: Option<u32>,
    /// What it says; the report's message where there is no diagnostic.
    pub message: String,
    /// The way out that is shown with it.
    pub hint: Option<String>,
    /// Warnings at places in the source.
    pub warnings: Vec<String>,
    /// Value of the integers.
    pub size: Option<i64>,
    /// Its entry function, as the survey understood it.
    pub signature: Option<String>,
    /// Seconds for parsing and planning.
    pub plan_s: Option<f64>,
    /// Seconds in NVRTC.
    pub compile_s: Option<f64>,
}

impl Line {
    /// A file that is no source at all.
    pub fn unread(file: &str, message: String) -> Self {
        Self {
            file: file.to_owned(),
            stage: Stage::Unread,
            interpreted: false,
            compiled: false,
            verdict: None,
            kind: None,
            line: None,
            column: None,
            message,
            hint: None,
            warnings: Vec::new(),
            size: None,
            signature: None,
            plan_s: None,
            compile_s: None,
        }
    }

    /// A file without an entry function that could be given arguments.
    pub fn without_signature(file: &str, failure: &PlanFailure) -> Self {
        Self {
            stage: Stage::Signature,
            kind: Some(failure.kind),
            ..Self::unread(file, String::new())
        }
        .at(failure.diagnostics.first())
    }

    /// A file that was judged. `planned`: whether its host function is planned by itself.
    pub fn judged(
        file: &str,
        signature: &Signature,
        size: i64,
        report: Report,
        planned: bool,
    ) -> Self {
        let compile_error = report.verdict == Verdict::CompileError;
        let warnings = report.diagnostics.iter();
        let warnings = warnings
            .filter(|d| d.severity == Severity::Warning)
            .map(text);
        let line = Self {
            stage: stage(report.verdict, report.kind),
            interpreted: planned && report.verdict != Verdict::PlanError || runs(&report),
            compiled: !compile_error,
            verdict: Some(report.verdict),
            kind: report.kind,
            warnings: warnings.collect(),
            size: Some(size),
            signature: Some(signature.declaration()),
            plan_s: report.phases_s.plan,
            compile_s: report.phases_s.compile,
            ..Self::unread(file, report.message)
        };
        let errors = report.diagnostics.iter();
        let mut errors = errors.filter(|d| d.severity == Severity::Error);
        line.at(errors.next())
    }

    fn at(self, diagnostic: Option<&Diagnostic>) -> Self {
        let Some(diagnostic) = diagnostic else {
            return self;
        };
        Self {
            line: diagnostic.line,
            column: diagnostic.column,
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone(),
            ..self
        }
    }

    /// Whether other sizes would tell nothing new.
    pub fn settled(&self) -> bool {
        match self.stage {
            Stage::Refused => !matches!(
                self.kind,
                Some(VerdictKind::LaunchConfig | VerdictKind::Fuel | VerdictKind::HostFault)
            ),
            Stage::Started => false,
            _ => true,
        }
    }
}

fn stage(verdict: Verdict, kind: Option<VerdictKind>) -> Stage {
    match verdict {
        Verdict::Accepted | Verdict::WrongAnswer => Stage::Ran,
        Verdict::Unsupported => Stage::Unsupported,
        // Of the device: the plan was made.
        Verdict::RuntimeError
        | Verdict::TimeLimit
        | Verdict::MemoryLimit
        | Verdict::OutputLimit => Stage::Started,
        Verdict::PlanError if kind == Some(VerdictKind::Signature) => Stage::Signature,
        _ => Stage::Refused,
    }
}

fn runs(report: &Report) -> bool {
    stage(report.verdict, report.kind) > Stage::Refused
}

fn text(diagnostic: &Diagnostic) -> String {
    match diagnostic.line {
        Some(line) => format!("{line}: {}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}
