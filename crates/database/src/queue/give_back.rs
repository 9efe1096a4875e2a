//! The one way an attempt ends without a report: its judging goes back to the queue at the place it
//! had, or ends as `judge_error` when the infrastructure has lost it too often.

use domain::{JudgingId, SubmissionId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Changed;
use crate::DatabaseError;
use crate::words::{read, read_option};

/// Why an attempt is given back.
#[derive(Clone, Copy, Debug)]
pub(super) enum GiveBack<'a> {
    /// Its worker was lost. Counts as a fault.
    Expired { reason: &'a str, max_faults: u32 },
    /// Its worker said that it could not judge. Counts as a fault.
    Retried { reason: &'a str, max_faults: u32 },
    /// Its worker drains. Counts as nothing.
    Released { reason: &'a str },
}

/// Ends the attempts that still live. The caller holds the locks of their judgings and of them.
pub(super) async fn give_back(
    connection: &mut PgConnection,
    attempts: &[Uuid],
    why: GiveBack<'_>,
) -> Result<Vec<Changed>, DatabaseError> {
    if attempts.is_empty() {
        return Ok(Vec::new());
    }
    let (outcome, reason, fault, max_faults) = match why {
        GiveBack::Expired { reason, max_faults } => ("expired", reason, 1, max_faults),
        GiveBack::Retried { reason, max_faults } => ("retried", reason, 1, max_faults),
        GiveBack::Released { reason } => ("released", reason, 0, u32::MAX),
    };
    let rows = sqlx::query!(
        r#"WITH ended AS (
               UPDATE attempts SET outcome = $2, reason = $3, ended_at = lightspeed_now()
               WHERE id = ANY ($1) AND outcome IS NULL
               RETURNING judging_id
           ), counted AS (
               SELECT j.id, j.faults + $4 >= $5 AS is_last
               FROM judgings j JOIN ended ON ended.judging_id = j.id
           )
           UPDATE judgings j
           SET faults = j.faults + $4,
               phase = NULL,
               status = CASE WHEN is_last THEN 'done' ELSE 'queued' END,
               verdict = CASE WHEN is_last THEN 'judge_error' END,
               finished_at = CASE WHEN is_last THEN lightspeed_now() END,
               message = CASE WHEN is_last
                   THEN 'The judge failed on this submission ' || j.faults + $4
                        || ' times and gave up. This is our fault, not yours.'
                   ELSE 'The worker could not finish; the judging is queued again.' END
           FROM counted WHERE j.id = counted.id AND j.status <> 'done'
           RETURNING j.id, j.submission_id, j.device, j.status, j.verdict"#,
        attempts,
        outcome,
        reason,
        fault,
        i32::try_from(max_faults).unwrap_or(i32::MAX),
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Changed {
                submission_id: SubmissionId(row.submission_id),
                judging_id: JudgingId(row.id),
                device: read("judgings.device", &row.device)?,
                status: read("judgings.status", &row.status)?,
                verdict: read_option("judgings.verdict", row.verdict.as_deref())?,
            })
        })
        .collect()
}
