//! The stored events of a submission, numbered from 1 without gaps.

use domain::{JudgingId, Phase, Report, Status, SubmissionId, Verdict, VerdictKind};
use serde_json::Value;

use crate::words::{big_count, count, read, read_option};
use crate::{Database, DatabaseError};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Its number.
    pub seq: u64,
    /// The judging it tells of.
    pub judging_id: JudgingId,
    /// Attempts begun by then.
    pub attempt: u32,
    /// What happened.
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum EventBody {
    /// The judging is in a new state.
    Status {
        /// The state.
        status: Status,
        /// The verdict, once done.
        verdict: Option<Verdict>,
        /// What exactly happened.
        kind: Option<VerdictKind>,
        /// One sentence for a person.
        message: Option<String>,
    },
    /// A phase began.
    Phase(Phase),
    /// The report was written.
    Report(Box<Report>),
}

/// Events after number `after`, in order.
pub async fn after(
    db: &Database,
    submission: SubmissionId,
    after: u64,
) -> Result<Vec<StoredEvent>, DatabaseError> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT e.seq, e.judging_id, e.name, e.attempt, e.status, e.phase,
                  e.verdict, e.kind, e.message,
                  CASE e.name WHEN 'report' THEN j.report END AS report
           FROM events e JOIN judgings j ON j.id = e.judging_id
           WHERE e.submission_id = $1 AND e.seq > $2 ORDER BY e.seq"#,
        submission.0,
        i64::try_from(after).unwrap_or(i64::MAX),
    )
    .fetch_all(db.pool())
    .await?;
    rows.into_iter().map(StoredEvent::try_from).collect()
}

struct Row {
    seq: i64,
    judging_id: uuid::Uuid,
    name: String,
    attempt: i32,
    status: Option<String>,
    phase: Option<String>,
    verdict: Option<String>,
    kind: Option<String>,
    message: Option<String>,
    report: Option<Value>,
}

impl TryFrom<Row> for StoredEvent {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let body = match (row.name.as_str(), row.status, row.phase, row.report) {
            ("status", Some(status), _, _) => EventBody::Status {
                status: read("events.status", &status)?,
                verdict: read_option("events.verdict", row.verdict.as_deref())?,
                kind: read_option("events.kind", row.kind.as_deref())?,
                message: row.message,
            },
            ("phase", _, Some(phase), _) => EventBody::Phase(read("events.phase", &phase)?),
            ("report", _, _, Some(report)) => {
                EventBody::Report(Box::new(crate::judgings::read_report(report)?))
            }
            _ => {
                return Err(DatabaseError::Inconsistent {
                    column: "events.name",
                    value: row.name,
                });
            }
        };
        Ok(Self {
            seq: big_count("events.seq", row.seq)?,
            judging_id: JudgingId(row.judging_id),
            attempt: count("events.attempt", row.attempt)?,
            body,
        })
    }
}
