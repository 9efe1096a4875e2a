//! The life of a judging as others see it.

use serde::{Deserialize, Serialize};

/// What the judging is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Mode {
    /// "Run": edge shapes and public draws, all checks on, never on a board.
    Practice,
    /// "Submit": edges, public and held-out draws, timed, on the board.
    Ranked,
}

impl Mode {
    /// The contract's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Practice => "practice",
            Self::Ranked => "ranked",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Mode {
    type Err = crate::verdict::UnknownWord;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "practice" => Ok(Self::Practice),
            "ranked" => Ok(Self::Ranked),
            _ => Err(crate::verdict::UnknownWord(text.to_owned())),
        }
    }
}

/// Where a judging stands. `done` never leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Status {
    /// Waiting for a worker.
    Queued,
    /// An attempt holds the lease.
    Running,
    /// A verdict was written.
    Done,
}

/// What a running attempt is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Phase {
    /// Planning and compiling.
    Compiling,
    /// Comparing with the reference, shape by shape.
    Checking,
    /// Taking samples.
    Timing,
    /// Comparing outputs of timed launches.
    Verifying,
}

impl Phase {
    /// The contract's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compiling => "compiling",
            Self::Checking => "checking",
            Self::Timing => "timing",
            Self::Verifying => "verifying",
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// `done` of `total` steps of a phase are finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Progress {
    /// The phase.
    pub phase: Phase,
    /// Steps finished.
    pub done: u32,
    /// Steps in all.
    pub total: u32,
}
