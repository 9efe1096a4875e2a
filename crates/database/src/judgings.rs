//! Reading judgings.

use chrono::{DateTime, Utc};
use domain::report::ProblemRef;
use domain::{
    CodeListing, DeviceName, JudgingId, Mode, Phase, Report, Status, SubmissionId, UserId, Verdict,
    VerdictKind,
};
use serde_json::Value;

use crate::words::{count, read, read_option};
use crate::{Database, DatabaseError};

/// One judging, with whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Judging {
    /// Id.
    pub id: JudgingId,
    /// The submission it judges.
    pub submission_id: SubmissionId,
    /// Who handed that in.
    pub user_id: UserId,
    /// Problem and version.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// Where it stands.
    pub status: Status,
    /// What a running attempt is at.
    pub phase: Option<Phase>,
    /// Attempts begun.
    pub attempts: u32,
    /// The verdict, once done.
    pub verdict: Option<Verdict>,
    /// What exactly happened.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: Option<String>,
    /// Everything it found out.
    pub report: Option<Box<Report>>,
    /// When it was queued.
    pub queued_at: DateTime<Utc>,
    /// When its latest attempt began.
    pub started_at: Option<DateTime<Utc>>,
    /// When the verdict was written.
    pub finished_at: Option<DateTime<Utc>>,
}

/// One judging.
pub async fn get(db: &Database, id: JudgingId) -> Result<Option<Judging>, DatabaseError> {
    let row = sqlx::query_as!(
        Row,
        "SELECT j.id, j.submission_id, s.user_id, p.slug, p.version, j.device, s.mode, j.status,
                j.phase, j.attempts, j.verdict, j.kind, j.message, j.report,
                j.queued_at, j.started_at, j.finished_at
         FROM judgings j
         JOIN submissions s ON s.id = j.submission_id
         JOIN problem_versions p ON p.id = j.problem_version
         WHERE j.id = $1",
        id.0,
    )
    .fetch_optional(db.pool())
    .await?;
    row.map(Judging::try_from).transpose()
}

/// Reads a stored report. It was written by some version of this code, which only adds fields.
pub(crate) fn read_report(report: Value) -> Result<Report, DatabaseError> {
    serde_json::from_value(report).map_err(|error| DatabaseError::Inconsistent {
        column: "judgings.report",
        value: error.to_string(),
    })
}

/// The compiled code of a judging. The caller has made sure that the reader may see the source.
pub async fn code(db: &Database, id: JudgingId) -> Result<Option<CodeListing>, DatabaseError> {
    let listing = sqlx::query_scalar!(
        "SELECT listing FROM judging_code WHERE judging_id = $1",
        id.0
    )
    .fetch_optional(db.pool())
    .await?;
    let parse = |text: String| {
        serde_json::from_str(&text).map_err(|error| DatabaseError::Inconsistent {
            column: "judging_code.listing",
            value: error.to_string(),
        })
    };
    listing.map(parse).transpose()
}

struct Row {
    id: uuid::Uuid,
    submission_id: uuid::Uuid,
    user_id: uuid::Uuid,
    slug: String,
    version: i32,
    device: String,
    mode: String,
    status: String,
    phase: Option<String>,
    attempts: i32,
    verdict: Option<String>,
    kind: Option<String>,
    message: Option<String>,
    report: Option<Value>,
    queued_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Judging {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: JudgingId(row.id),
            submission_id: SubmissionId(row.submission_id),
            user_id: UserId(row.user_id),
            problem: ProblemRef {
                slug: row.slug,
                version: count("problem_versions.version", row.version)?,
            },
            device: read("judgings.device", &row.device)?,
            mode: read("submissions.mode", &row.mode)?,
            status: read("judgings.status", &row.status)?,
            phase: read_option("judgings.phase", row.phase.as_deref())?,
            attempts: count("judgings.attempts", row.attempts)?,
            verdict: read_option("judgings.verdict", row.verdict.as_deref())?,
            kind: read_option("judgings.kind", row.kind.as_deref())?,
            message: row.message,
            report: row.report.map(read_report).transpose()?.map(Box::new),
            queued_at: row.queued_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
        })
    }
}
