//! How an attempt ends: with a report, with a fault of the worker's own, or handed back.

use domain::report::Report;
use domain::{CodeListing, JudgingId, Status, SubmissionId};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::give_back::{GiveBack, give_back};
use super::{Changed, Lease, LeaseError};
use crate::words::{read, read_option, write};
use crate::{Database, DatabaseError};

/// Writes the final verdict, and beside it the code where there is some. Repeating the report of an attempt that ended with one changes nothing
/// and answers what was written then.
pub async fn report(
    db: &Database,
    lease: &Lease,
    report: &Report,
    code: Option<&CodeListing>,
) -> Result<Changed, LeaseError> {
    let score = report.score.as_ref();
    let code = code.map(serde_json::to_string).transpose();
    let code = code.map_err(|error| unwritable("judging_code.listing", &error))?;
    let row = sqlx::query!(
        r#"WITH fenced AS (
               SELECT j.id, a.id AS attempt_id
               FROM judgings j
               JOIN attempts a ON a.judging_id = j.id AND a.number = j.attempts
               JOIN workers w ON w.id = a.worker_id
               WHERE a.id = $1 AND a.lease_token = $2 AND w.key_id = $3
                 AND a.outcome IS NULL AND j.status = 'running'
               FOR UPDATE OF j, a
           ), ended AS (
               UPDATE attempts SET outcome = 'reported', ended_at = lightspeed_now()
               FROM fenced WHERE attempts.id = fenced.attempt_id
           ), kept AS (
               INSERT INTO judging_code (judging_id, listing)
               SELECT fenced.id, $13 FROM fenced WHERE $13::text IS NOT NULL
           )
           UPDATE judgings j
           SET status = 'done', finished_at = lightspeed_now(), phase = NULL,
               verdict = $4, kind = $5, message = $6, report = $7,
               metric = $8, score = $9, strict_sol = $10, worst_shape = $11, scoring_version = $12
           FROM fenced WHERE j.id = fenced.id
           RETURNING j.id, j.submission_id, j.device, j.verdict"#,
        lease.attempt_id.0,
        lease.token,
        lease.key.0,
        report.verdict.as_str(),
        report.kind.map(domain::VerdictKind::as_str),
        storable(&report.message),
        storable_json(
            serde_json::to_value(report).map_err(|error| unwritable("judgings.report", &error))?
        ),
        score.map(|score| write(score.metric)),
        score.and_then(|score| score.value),
        score.and_then(|score| score.strict_sol),
        score.and_then(|score| score.worst_shape.as_deref()),
        score.map(|score| i32::try_from(score.scoring_version).unwrap_or(i32::MAX)),
        code,
    )
    .fetch_optional(db.pool())
    .await?;
    match row {
        Some(row) => Ok(Changed {
            submission_id: SubmissionId(row.submission_id),
            judging_id: JudgingId(row.id),
            device: read("judgings.device", &row.device)?,
            status: Status::Done,
            verdict: read_option("judgings.verdict", row.verdict.as_deref())?,
        }),
        None => reported_before(db, lease).await,
    }
}

/// The worker could not judge, through no fault of the submission: a fault is counted, and another
/// attempt follows unless this was the last. `reason` is for the operator.
pub async fn retry(
    db: &Database,
    lease: &Lease,
    reason: &str,
    max_faults: u32,
) -> Result<Changed, LeaseError> {
    let reason = &storable(reason);
    end(db, lease, GiveBack::Retried { reason, max_faults }).await
}

/// The worker drains and hands the judging back at the place it had; nothing is counted.
pub async fn release(db: &Database, lease: &Lease, reason: &str) -> Result<Changed, LeaseError> {
    let reason = &storable(reason);
    end(db, lease, GiveBack::Released { reason }).await
}

async fn end(db: &Database, lease: &Lease, why: GiveBack<'_>) -> Result<Changed, LeaseError> {
    let mut tx = db.pool().begin().await?;
    let attempt = lock_live(&mut tx, lease).await?;
    let mut changed = give_back(&mut tx, &[attempt], why).await?;
    tx.commit().await?;
    changed.pop().ok_or(LeaseError::Superseded)
}

async fn lock_live(connection: &mut PgConnection, lease: &Lease) -> Result<Uuid, LeaseError> {
    sqlx::query_scalar!(
        "SELECT a.id
         FROM judgings j
         JOIN attempts a ON a.judging_id = j.id AND a.number = j.attempts
         JOIN workers w ON w.id = a.worker_id
         WHERE a.id = $1 AND a.lease_token = $2 AND w.key_id = $3
           AND a.outcome IS NULL AND j.status = 'running'
         FOR UPDATE OF j, a",
        lease.attempt_id.0,
        lease.token,
        lease.key.0,
    )
    .fetch_optional(connection)
    .await?
    .ok_or(LeaseError::Superseded)
}

async fn reported_before(db: &Database, lease: &Lease) -> Result<Changed, LeaseError> {
    let row = sqlx::query!(
        "SELECT j.id, j.submission_id, j.device, j.status, j.verdict
         FROM attempts a
         JOIN workers w ON w.id = a.worker_id
         JOIN judgings j ON j.id = a.judging_id
         WHERE a.id = $1 AND a.lease_token = $2 AND w.key_id = $3 AND a.outcome = 'reported'",
        lease.attempt_id.0,
        lease.token,
        lease.key.0,
    )
    .fetch_optional(db.pool())
    .await?
    .ok_or(LeaseError::Superseded)?;
    Ok(Changed {
        submission_id: SubmissionId(row.submission_id),
        judging_id: JudgingId(row.id),
        device: read("judgings.device", &row.device)?,
        status: read("judgings.status", &row.status)?,
        verdict: read_option("judgings.verdict", row.verdict.as_deref())?,
    })
}

fn unwritable(column: &'static str, error: &serde_json::Error) -> DatabaseError {
    DatabaseError::Inconsistent {
        column,
        value: error.to_string(),
    }
}

/// PostgreSQL's text holds no NUL, but what kernels print and compilers quote may.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn storable_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(storable(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(storable_json).collect()),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| (storable(&name), storable_json(value)))
                .collect(),
        ),
        other => other,
    }
}
