//! Users, their tokens, and the keys of workers.
//!
//! A secret is shown once, when it is made; only its SHA-256 is stored. Secrets hold 244 random
//! bits, so a fast hash is enough.

use chrono::{DateTime, Utc};
use domain::UserId;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{Database, DatabaseError};

/// Prefix of a user's token.
pub const TOKEN_PREFIX: &str = "lsp_";
/// Prefix of a worker's key.
pub const WORKER_KEY_PREFIX: &str = "lsw_";

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Id.
    pub id: UserId,
    /// Name as shown on boards.
    pub name: String,
    /// May see others' work and operate the service.
    pub operator: bool,
}

/// The columns of an account, as a query gives them.
pub(crate) struct UserRow {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) operator: bool,
}

impl From<UserRow> for User {
    fn from(row: UserRow) -> Self {
        Self {
            id: UserId(row.id),
            name: row.name,
            operator: row.operator,
        }
    }
}

/// Names a worker key, so that an attempt can be tied to the caller. Not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerKeyId(pub(crate) i64);

/// The user named `name`, made as an operator when missing: the one account of a private service.
pub async fn ensure_local_user(
    db: &Database,
    name: &str,
    now: DateTime<Utc>,
) -> Result<UserId, DatabaseError> {
    ensure_user(db, name, true, now).await
}

/// The user named `name`, made when missing. An existing one keeps its rights.
pub async fn ensure_user(
    db: &Database,
    name: &str,
    operator: bool,
    now: DateTime<Utc>,
) -> Result<UserId, DatabaseError> {
    let id = sqlx::query_scalar!(
        "-- The update changes nothing; it makes RETURNING answer for the row that was there.
         INSERT INTO users (id, name, operator) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET name = excluded.name
         RETURNING id",
        UserId::new(now).0,
        name,
        operator,
    )
    .fetch_one(db.pool())
    .await?;
    Ok(UserId(id))
}

/// Makes a token for the user and returns it: the only time anybody sees it.
pub async fn mint_token(db: &Database, user: UserId, label: &str) -> Result<String, DatabaseError> {
    let token = new_secret(TOKEN_PREFIX);
    adopt_token(db, user, label, &token).await?;
    Ok(token)
}

/// Makes sure that `known` (kept by the caller from an earlier [`mint_token`]) is a valid token of
/// the user; mints one when there is none or it was revoked.
pub async fn ensure_token(
    db: &Database,
    user: UserId,
    label: &str,
    known: Option<&str>,
) -> Result<String, DatabaseError> {
    if let Some(token) = known.filter(|token| is_secret(TOKEN_PREFIX, token)) {
        adopt_token(db, user, label, token).await?;
        if user_by_token(db, token).await?.map(|u| u.id) == Some(user) {
            return Ok(token.to_owned());
        }
    }
    mint_token(db, user, label).await
}

/// Whose token this is, if it is valid now.
pub async fn user_by_token(db: &Database, token: &str) -> Result<Option<User>, DatabaseError> {
    if !is_secret(TOKEN_PREFIX, token) {
        return Ok(None);
    }
    let row = sqlx::query_as!(
        UserRow,
        "SELECT u.id, u.name, u.operator
         FROM tokens t JOIN users u ON u.id = t.user_id
         WHERE t.hash = $1 AND t.revoked_at IS NULL
           AND (t.expires_at IS NULL OR t.expires_at > lightspeed_now())",
        hash(token),
    )
    .fetch_optional(db.pool())
    .await?;
    Ok(row.map(User::from))
}

/// Ends a token at once; unknown ones are no error.
pub async fn revoke_token(db: &Database, token: &str) -> Result<(), DatabaseError> {
    sqlx::query!(
        "UPDATE tokens SET revoked_at = lightspeed_now() WHERE hash = $1 AND revoked_at IS NULL",
        hash(token),
    )
    .execute(db.pool())
    .await?;
    Ok(())
}

/// Makes sure that `known` (from the caller's credentials file or `LIGHTSPEED_WORKER_KEY`) is a
/// valid worker key; mints one when there is none, it is malformed or it was revoked.
pub async fn ensure_worker_key(
    db: &Database,
    label: &str,
    known: Option<&str>,
) -> Result<String, DatabaseError> {
    let kept = known.filter(|key| is_secret(WORKER_KEY_PREFIX, key));
    let key = kept.map_or_else(|| new_secret(WORKER_KEY_PREFIX), str::to_owned);
    sqlx::query!(
        "INSERT INTO worker_keys (hash, label) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING",
        hash(&key),
        label,
    )
    .execute(db.pool())
    .await?;
    if worker_key(db, &key).await?.is_some() {
        return Ok(key);
    }
    Box::pin(ensure_worker_key(db, label, None)).await
}

/// Which worker key this is, if it is valid now.
pub async fn worker_key(db: &Database, key: &str) -> Result<Option<WorkerKeyId>, DatabaseError> {
    if !is_secret(WORKER_KEY_PREFIX, key) {
        return Ok(None);
    }
    let id = sqlx::query_scalar!(
        "SELECT id FROM worker_keys WHERE hash = $1 AND revoked_at IS NULL",
        hash(key),
    )
    .fetch_optional(db.pool())
    .await?;
    Ok(id.map(WorkerKeyId))
}

/// Ends a worker key at once; unknown ones are no error.
pub async fn revoke_worker_key(db: &Database, key: &str) -> Result<(), DatabaseError> {
    sqlx::query!(
        "UPDATE worker_keys SET revoked_at = lightspeed_now()
         WHERE hash = $1 AND revoked_at IS NULL",
        hash(key),
    )
    .execute(db.pool())
    .await?;
    Ok(())
}

async fn adopt_token(
    db: &Database,
    user: UserId,
    label: &str,
    token: &str,
) -> Result<(), DatabaseError> {
    sqlx::query!(
        "INSERT INTO tokens (hash, user_id, label) VALUES ($1, $2, $3)
         ON CONFLICT (hash) DO NOTHING",
        hash(token),
        user.0,
        label,
    )
    .execute(db.pool())
    .await?;
    Ok(())
}

/// Two version-4 UUIDs: 244 bits from the operating system's generator.
pub(crate) fn new_secret(prefix: &str) -> String {
    format!(
        "{prefix}{}{}",
        Uuid::new_v4().simple(),
        Uuid::new_v4().simple()
    )
}

pub(crate) fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

fn is_secret(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == 64 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised_by_shape() {
        let secret = new_secret(TOKEN_PREFIX);
        assert!(is_secret(TOKEN_PREFIX, &secret));
        assert!(!is_secret(WORKER_KEY_PREFIX, &secret));
        assert!(!is_secret(TOKEN_PREFIX, "lsp_"));
        assert_ne!(secret, new_secret(TOKEN_PREFIX));
    }
}
