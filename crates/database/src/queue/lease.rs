//! Keeping a lease, and what may be done while holding it.

use domain::report::ProblemRef;
use domain::{JudgingId, Phase, SubmissionId};

use super::{Lease, LeaseError, LeasePolicy, Subject};
use crate::words::{count, read};
use crate::{Database, DatabaseError};

/// What a heartbeat tells the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// The lease holds for another while.
    Kept,
    /// The submission was cancelled: stop, no report is wanted.
    Cancelled,
}

/// Keeps the lease. One that has lapsed but was not given to anybody revives: nothing is lost by it.
pub async fn heartbeat(
    db: &Database,
    lease: &Lease,
    policy: &LeasePolicy,
) -> Result<Beat, LeaseError> {
    let kept = sqlx::query_scalar!(
        "UPDATE attempts a SET lease_until = lightspeed_now() + make_interval(secs => $4)
         FROM workers w
         WHERE a.id = $1 AND a.lease_token = $2 AND a.outcome IS NULL
           AND w.id = a.worker_id AND w.key_id = $3
         RETURNING a.worker_id",
        lease.attempt_id.0,
        lease.token,
        lease.key.0,
        policy.duration.as_secs_f64(),
    )
    .fetch_optional(db.pool())
    .await?;
    if let Some(worker) = kept {
        // A statement of its own: locking attempt and worker in one could deadlock with register.
        sqlx::query!(
            "UPDATE workers SET last_seen_at = lightspeed_now() WHERE id = $1",
            worker
        )
        .execute(db.pool())
        .await?;
        return Ok(Beat::Kept);
    }
    let cancelled = sqlx::query_scalar!(
        r#"SELECT EXISTS (
               SELECT FROM attempts a JOIN workers w ON w.id = a.worker_id
               WHERE a.id = $1 AND a.lease_token = $2 AND w.key_id = $3
                 AND a.outcome = 'cancelled'
           ) AS "cancelled!""#,
        lease.attempt_id.0,
        lease.token,
        lease.key.0,
    )
    .fetch_one(db.pool())
    .await?;
    if cancelled {
        Ok(Beat::Cancelled)
    } else {
        Err(LeaseError::Superseded)
    }
}

/// The attempt is in `phase` now. Writes, and tells watchers, only when that is news.
pub async fn enter_phase(
    db: &Database,
    lease: &Lease,
    phase: Phase,
) -> Result<PhaseEntered, LeaseError> {
    let row = sqlx::query!(
        "SELECT j.submission_id, j.id, j.phase
         FROM attempts a
         JOIN workers w ON w.id = a.worker_id
         JOIN judgings j ON j.id = a.judging_id
         WHERE a.id = $1 AND a.lease_token = $2 AND w.key_id = $3 AND a.outcome IS NULL",
        lease.attempt_id.0,
        lease.token,
        lease.key.0,
    )
    .fetch_optional(db.pool())
    .await?
    .ok_or(LeaseError::Superseded)?;
    let is_news = row.phase.as_deref() != Some(phase.as_str());
    if is_news {
        let entered = sqlx::query!(
            "-- The number is part of the fence: if the row changed hands while this waited for its
             -- lock, `attempts` has moved on though the status is `running` again.
             UPDATE judgings j SET phase = $4
             FROM attempts a JOIN workers w ON w.id = a.worker_id
             WHERE a.id = $1 AND a.lease_token = $2 AND w.key_id = $3 AND a.outcome IS NULL
               AND j.id = a.judging_id AND j.status = 'running' AND j.attempts = a.number",
            lease.attempt_id.0,
            lease.token,
            lease.key.0,
            phase.as_str(),
        )
        .execute(db.pool())
        .await?;
        if entered.rows_affected() == 0 {
            return Err(LeaseError::Superseded);
        }
    }
    Ok(PhaseEntered {
        submission_id: SubmissionId(row.submission_id),
        judging_id: JudgingId(row.id),
        is_news,
    })
}

/// Answer of [`enter_phase`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseEntered {
    /// The submission.
    pub submission_id: SubmissionId,
    /// The judging.
    pub judging_id: JudgingId,
    /// Whether the phase began with this call.
    pub is_news: bool,
}

/// What the attempt is about, whether or not it still lives.
pub async fn subject(db: &Database, lease: &Lease) -> Result<Subject, LeaseError> {
    let row = sqlx::query!(
        "SELECT s.id AS submission_id, j.id AS judging_id, p.slug, p.version, s.device, s.mode,
                s.source_sha256
         FROM attempts a
         JOIN workers w ON w.id = a.worker_id
         JOIN judgings j ON j.id = a.judging_id
         JOIN submissions s ON s.id = j.submission_id
         JOIN problem_versions p ON p.id = s.problem_version
         WHERE a.id = $1 AND a.lease_token = $2 AND w.key_id = $3",
        lease.attempt_id.0,
        lease.token,
        lease.key.0,
    )
    .fetch_optional(db.pool())
    .await?
    .ok_or(LeaseError::Superseded)?;
    let version: Result<u32, DatabaseError> = count("problem_versions.version", row.version);
    Ok(Subject {
        submission_id: SubmissionId(row.submission_id),
        judging_id: JudgingId(row.judging_id),
        problem: ProblemRef {
            slug: row.slug,
            version: version?,
        },
        device: read("submissions.device", &row.device)?,
        mode: read("submissions.mode", &row.mode)?,
        source_sha256: row.source_sha256,
    })
}
