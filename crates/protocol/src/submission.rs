//! Handing in a source, and watching what becomes of it.

use chrono::{DateTime, Utc};
use domain::report::{ProblemRef, Score};
use domain::{DeviceName, JudgingId, Mode, Progress, Status, SubmissionId, Verdict, VerdictKind};
use serde::{Deserialize, Serialize};

use crate::account::UserRef;

/// The largest body of `POST /api/v1/submissions`: a source whose every byte is escaped in JSON
/// (`\u00xx`), and the fields around it.
pub const MAX_SUBMIT_BODY_BYTES: usize = domain::source::MAX_SOURCE_BYTES * 6 + 4096;

/// `POST /api/v1/submissions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Submit {
    /// Slug of the problem; its newest version is judged.
    pub problem: String,
    /// Name of the device.
    pub device: String,
    /// Ranked unless said otherwise.
    #[serde(default = "ranked")]
    pub mode: Mode,
    /// CUDA C++ text, 1 to 262144 bytes of UTF-8 without NUL.
    pub source: String,
}

/// Answer to [`Submit`], with status 201.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Submitted {
    /// The submission.
    pub submission_id: SubmissionId,
    /// Its first judging.
    pub judging_id: JudgingId,
}

/// `GET /api/v1/submissions/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Submission {
    /// What a list shows, too.
    #[serde(flatten)]
    pub summary: SubmissionSummary,
    /// Who handed it in.
    pub user: UserRef,
    /// Every judging, oldest first; the last one counts.
    pub judging_ids: Vec<JudgingId>,
    /// The submitted text; `null` to everybody but its owner and operators.
    pub source: Option<String>,
    /// SHA-256 of the submitted bytes.
    pub source_sha256: String,
    /// Judgings that will be taken before this one; `null` unless queued.
    pub queued_ahead: Option<u64>,
    /// Number of the newest stored event; resume the stream behind it with `?after=`.
    pub last_seq: u64,
}

/// One row of a list of submissions; the state is that of the newest judging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SubmissionSummary {
    /// Id.
    pub submission_id: SubmissionId,
    /// The newest judging.
    pub judging_id: JudgingId,
    /// Problem and version.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// Where it stands.
    pub status: Status,
    /// What a running attempt is at.
    pub progress: Option<Progress>,
    /// The verdict, once done.
    pub verdict: Option<Verdict>,
    /// What exactly happened.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: Option<String>,
    /// The score, where one was earned.
    pub score: Option<Score>,
    /// When it was handed in.
    pub created_at: DateTime<Utc>,
    /// When the verdict was written.
    pub finished_at: Option<DateTime<Utc>>,
}

/// `GET /api/v1/submissions?problem=&before=&limit=`: the caller's own, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SubmissionList {
    /// Newest first.
    pub submissions: Vec<SubmissionSummary>,
    /// Hand this as `before` for the next page; `null` at the end.
    pub next_before: Option<SubmissionId>,
}

fn ranked() -> Mode {
    Mode::Ranked
}
