//! Login codes and the browser sessions they turn into.

use std::time::Duration;

use domain::UserId;

use crate::accounts::{User, UserRow, hash, new_secret};
use crate::{Database, DatabaseError};

/// Makes a single-use code for a login link and returns it: the only time anybody sees it.
pub async fn mint_login_code(
    db: &Database,
    user: UserId,
    lifetime: Duration,
) -> Result<String, DatabaseError> {
    let code = new_secret("");
    sqlx::query!(
        "INSERT INTO login_codes (hash, user_id, expires_at)
         VALUES ($1, $2, lightspeed_now() + make_interval(secs => $3))",
        hash(&code),
        user.0,
        lifetime.as_secs_f64(),
    )
    .execute(db.pool())
    .await?;
    Ok(code)
}

/// Exchanges a code for the secret of a new session; `None` when it is unknown, used or too old.
pub async fn redeem_login_code(
    db: &Database,
    code: &str,
    lifetime: Duration,
) -> Result<Option<String>, DatabaseError> {
    let session = new_secret("");
    let made = sqlx::query!(
        "-- One statement, so that a code cannot be spent without its session or spent twice.
         WITH spent AS (
             UPDATE login_codes SET used_at = lightspeed_now()
             WHERE hash = $1 AND used_at IS NULL AND expires_at > lightspeed_now()
             RETURNING user_id
         )
         INSERT INTO sessions (hash, user_id, expires_at)
         SELECT $2, user_id, lightspeed_now() + make_interval(secs => $3) FROM spent",
        hash(code),
        hash(&session),
        lifetime.as_secs_f64(),
    )
    .execute(db.pool())
    .await?;
    Ok((made.rows_affected() == 1).then_some(session))
}

/// Whose session this is, if it is valid now.
pub async fn user_by_session(db: &Database, session: &str) -> Result<Option<User>, DatabaseError> {
    let row = sqlx::query_as!(
        UserRow,
        "SELECT u.id, u.name, u.operator
         FROM sessions s JOIN users u ON u.id = s.user_id
         WHERE s.hash = $1 AND s.expires_at > lightspeed_now()",
        hash(session),
    )
    .fetch_optional(db.pool())
    .await?;
    Ok(row.map(User::from))
}

/// Ends a session; unknown ones are no error.
pub async fn end_session(db: &Database, session: &str) -> Result<(), DatabaseError> {
    sqlx::query!("DELETE FROM sessions WHERE hash = $1", hash(session))
        .execute(db.pool())
        .await?;
    Ok(())
}

/// Removes codes and sessions that are of no use any more.
pub async fn sweep(db: &Database) -> Result<u64, DatabaseError> {
    let swept = sqlx::query!(
        "WITH codes AS (DELETE FROM login_codes WHERE expires_at <= lightspeed_now())
         DELETE FROM sessions WHERE expires_at <= lightspeed_now()"
    )
    .execute(db.pool())
    .await?;
    Ok(swept.rows_affected())
}
