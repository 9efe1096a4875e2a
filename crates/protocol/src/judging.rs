//! One judging: what a submission came to, once, and what the compiler made of it.

use chrono::{DateTime, Utc};
use domain::report::ProblemRef;
use domain::{
    CodeListing, DeviceName, JudgingId, Mode, Progress, Report, Status, SubmissionId, Verdict,
    VerdictKind,
};
use serde::{Deserialize, Serialize};

/// `GET /api/v1/judgings/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Judging {
    /// Id.
    pub judging_id: JudgingId,
    /// The submission it judges.
    pub submission_id: SubmissionId,
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
    /// Attempts begun.
    pub attempts: u32,
    /// The verdict, once done.
    pub verdict: Option<Verdict>,
    /// What exactly happened.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: Option<String>,
    /// Everything it found out; `null` until done, and when no attempt lived to write one.
    pub report: Option<Box<Report>>,
    /// When it was queued.
    pub queued_at: DateTime<Utc>,
    /// When its latest attempt began.
    pub started_at: Option<DateTime<Utc>>,
    /// When the verdict was written.
    pub finished_at: Option<DateTime<Utc>>,
}

/// `GET /api/v1/judgings/{id}/code`, for those who may read the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JudgingCode {
    /// The judging.
    pub judging_id: JudgingId,
    /// The compiled code.
    #[serde(flatten)]
    pub code: CodeListing,
}
