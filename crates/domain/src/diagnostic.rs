//! A message a person can act on, at a place in their own source.

use serde::{Deserialize, Serialize};

/// Which step of the judging speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Stage {
    /// Reading and interpreting the host function.
    Plan,
    /// NVRTC.
    Compile,
    /// Executing kernels.
    Run,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Severity {
    /// The judging cannot go on.
    Error,
    /// Legal, but probably not what was meant.
    Warning,
    /// Belongs to the diagnostic before it.
    Note,
}

/// One message. Lines and columns count from 1 in the submitted file; columns count bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Diagnostic {
    /// Which step speaks.
    pub stage: Stage,
    /// How bad it is.
    pub severity: Severity,
    /// Line in the submitted file, from 1.
    pub line: Option<u32>,
    /// Column in that line, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub hint: Option<String>,
}
