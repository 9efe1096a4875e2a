//! What must hold after every transaction, checked from outside. For tests and operators.

use crate::{Database, DatabaseError};

/// One row that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule, in words.
    pub invariant: String,
    /// Id of the row.
    pub subject: String,
}

/// Every violation; empty when the database is sound. Reads whole tables.
pub async fn check(db: &Database) -> Result<Vec<Violation>, DatabaseError> {
    let rows = sqlx::query!(
        r#"SELECT invariant AS "invariant!", subject AS "subject!" FROM check_invariants()"#
    )
    .fetch_all(db.pool())
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Violation {
            invariant: row.invariant,
            subject: row.subject,
        })
        .collect())
}
