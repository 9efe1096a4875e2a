//! A worker takes the next judging.

use domain::source::Source;
use domain::{AttemptId, JudgingId, SubmissionId};
use uuid::Uuid;

use super::{ClaimError, Claimed, LeasePolicy, WorkerProcess};
use crate::devices::LIVE_WINDOW;
use crate::words::{count, read};
use crate::{Database, DatabaseError};

/// Takes the next judging that the worker can run, or finds the one that this claim id took before.
/// `None`: nothing to do, or what the claim id took has ended since.
///
/// `attempt_id` is fresh and used only when a judging is taken.
pub async fn claim(
    db: &Database,
    worker: &WorkerProcess,
    claim_id: Uuid,
    attempt_id: AttemptId,
    policy: &LeasePolicy,
) -> Result<Option<Claimed>, ClaimError> {
    let taken = match take(db, worker, claim_id, attempt_id, policy).await {
        // The same claim id raced itself: its twin has the judging, and is seen now.
        Err(error) if is_repeated_claim(&error) => {
            take(db, worker, claim_id, attempt_id, policy).await?
        }
        other => other?,
    };
    match taken {
        Taken::Stale => Err(ClaimError::StaleIncarnation),
        Taken::Nothing => Ok(None),
        Taken::Attempt(id) => Ok(Some(details(db, id).await?)),
    }
}

enum Taken {
    Stale,
    Nothing,
    Attempt(Uuid),
}

async fn take(
    db: &Database,
    worker: &WorkerProcess,
    claim_id: Uuid,
    attempt_id: AttemptId,
    policy: &LeasePolicy,
) -> Result<Taken, sqlx::Error> {
    let row = sqlx::query!(
        r#"WITH me AS (
               -- No row: a stale incarnation. The row lock makes one worker's claims queue up.
               UPDATE workers SET last_seen_at = lightspeed_now()
               WHERE id = $1 AND key_id = $2 AND incarnation = $3
               RETURNING id, devices, problem_versions
           ), repeated AS (
               SELECT a.id, a.outcome FROM attempts a JOIN me ON a.worker_id = me.id
               WHERE a.claim_id = $4
           ), picked AS (
               SELECT j.id FROM judgings j CROSS JOIN me
               WHERE j.status = 'queued'
                 AND j.device = ANY (me.devices)
                 AND j.problem_version = ANY (me.problem_versions)
                 AND NOT EXISTS (SELECT FROM repeated)
                 -- A worker that lost it before leaves it to a live one that has not.
                 AND NOT (j.faults > 0
                     AND EXISTS (SELECT FROM attempts a WHERE a.judging_id = j.id
                           AND a.worker_id = me.id AND a.outcome IN ('expired', 'retried'))
                     AND EXISTS (SELECT FROM workers w WHERE w.id <> me.id
                           AND w.last_seen_at > lightspeed_now() - make_interval(secs => $7)
                           AND j.device = ANY (w.devices)
                           AND j.problem_version = ANY (w.problem_versions)
                           AND NOT EXISTS (SELECT FROM attempts a WHERE a.judging_id = j.id
                               AND a.worker_id = w.id AND a.outcome IN ('expired', 'retried'))))
               ORDER BY j.class, j.virtual_start, j.id
               LIMIT 1
               FOR UPDATE OF j SKIP LOCKED
           ), taken AS (
               UPDATE judgings j
               SET status = 'running', attempts = j.attempts + 1, started_at = lightspeed_now(),
                   phase = NULL, message = NULL
               FROM picked WHERE j.id = picked.id
               RETURNING j.id, j.attempts
           ), begun AS (
               INSERT INTO attempts (id, judging_id, number, worker_id, incarnation, claim_id,
                                     lease_until, started_at)
               SELECT $5, taken.id, taken.attempts, $1, $3, $4,
                      lightspeed_now() + make_interval(secs => $6), lightspeed_now()
               FROM taken
               RETURNING id
           )
           SELECT coalesce((SELECT id FROM begun),
                           (SELECT id FROM repeated WHERE outcome IS NULL)) AS attempt_id
           FROM me"#,
        worker.id.0,
        worker.key.0,
        i32::try_from(worker.incarnation).unwrap_or(i32::MAX),
        claim_id,
        attempt_id.0,
        policy.duration.as_secs_f64(),
        LIVE_WINDOW.as_secs_f64(),
    )
    .fetch_optional(db.pool())
    .await?;
    Ok(match row {
        None => Taken::Stale,
        Some(row) => row.attempt_id.map_or(Taken::Nothing, Taken::Attempt),
    })
}

async fn details(db: &Database, attempt: Uuid) -> Result<Claimed, DatabaseError> {
    let row = sqlx::query!(
        r#"SELECT s.id AS submission_id, j.id AS judging_id, a.id AS attempt_id, a.number,
                  a.lease_token, p.slug, p.version, s.device, s.mode, c.body,
                  extract(epoch FROM a.started_at - j.queued_at)::float8 AS "queued_s!"
           FROM attempts a
           JOIN judgings j ON j.id = a.judging_id
           JOIN submissions s ON s.id = j.submission_id
           JOIN problem_versions p ON p.id = s.problem_version
           JOIN sources c ON c.sha256 = s.source_sha256
           WHERE a.id = $1"#,
        attempt,
    )
    .fetch_one(db.pool())
    .await?;
    Ok(Claimed {
        submission_id: SubmissionId(row.submission_id),
        judging_id: JudgingId(row.judging_id),
        attempt_id: AttemptId(row.attempt_id),
        number: count("attempts.number", row.number)?,
        token: row.lease_token,
        problem: domain::report::ProblemRef {
            slug: row.slug,
            version: count("problem_versions.version", row.version)?,
        },
        device: read("submissions.device", &row.device)?,
        mode: read("submissions.mode", &row.mode)?,
        source: Source::try_from(row.body).map_err(|error| DatabaseError::Inconsistent {
            column: "sources.body",
            value: error.to_string(),
        })?,
        queued_s: row.queued_s,
    })
}

fn is_repeated_claim(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(database)
        if database.constraint() == Some("attempts_worker_id_claim_id_key"))
}
