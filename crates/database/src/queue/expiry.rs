//! What time does to the queue. Any API process may call this as often as it likes.

use std::time::Duration;

use super::give_back::{GiveBack, give_back};
use super::{Changed, LeasePolicy};
use crate::{Database, DatabaseError};

/// Names the duty among PostgreSQL's advisory locks ("lightspd" in ASCII).
const EXPIRY_LOCK: i64 = 0x6c69_6768_7473_7064;

/// Gives back every attempt whose lease has lapsed. `None`: another process is at it.
pub async fn expire(
    db: &Database,
    policy: &LeasePolicy,
) -> Result<Option<Vec<Changed>>, DatabaseError> {
    let mut tx = db.pool().begin().await?;
    let ours = sqlx::query_scalar!(
        r#"SELECT pg_try_advisory_xact_lock($1) AS "ours!""#,
        EXPIRY_LOCK
    )
    .fetch_one(&mut *tx)
    .await?;
    if !ours {
        return Ok(None);
    }
    let lapsed = sqlx::query_scalar!(
        "-- Rows that a worker is writing this moment are left for the next round.
         SELECT a.id FROM judgings j JOIN attempts a ON a.judging_id = j.id
         WHERE a.outcome IS NULL AND a.lease_until <= lightspeed_now()
         ORDER BY j.id FOR UPDATE OF j, a SKIP LOCKED"
    )
    .fetch_all(&mut *tx)
    .await?;
    let why = GiveBack::Expired {
        reason: "the lease lapsed",
        max_faults: policy.max_faults,
    };
    let changed = give_back(&mut tx, &lapsed, why).await?;
    tx.commit().await?;
    Ok(Some(changed))
}

/// Ageing: a judging that has waited for longer than `after` joins the first class, so that no class
/// starves. Answers how many did.
pub async fn age(db: &Database, after: Duration) -> Result<u64, DatabaseError> {
    let aged = sqlx::query!(
        "UPDATE judgings SET class = 0
         WHERE id IN (
             SELECT id FROM judgings
             WHERE status = 'queued' AND class > 0
               AND queued_at <= lightspeed_now() - make_interval(secs => $1)
             ORDER BY id FOR UPDATE SKIP LOCKED
         )",
        after.as_secs_f64(),
    )
    .execute(db.pool())
    .await?;
    Ok(aged.rows_affected())
}
