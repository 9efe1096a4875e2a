//! What can go wrong in this layer, as far as a caller can act on it.

/// A statement did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// No connection, or it was lost: trying again may help.
    #[error("the database cannot be reached")]
    Unreachable(#[source] sqlx::Error),
    /// The server refused the statement: a fault of ours.
    #[error("a statement failed")]
    Statement(#[source] sqlx::Error),
    /// A row holds what no version of this code writes.
    #[error("column {column} holds `{value}`")]
    Inconsistent {
        /// Table and column.
        column: &'static str,
        /// What it holds.
        value: String,
    },
    /// A migration could not be applied.
    #[error("the schema could not be brought up to date")]
    Migration(#[from] sqlx::migrate::MigrateError),
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        let transient = match &error {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => true,
            // 08: connection exceptions; 57P: the server is shutting down or starting;
            // 53: it has no connections or memory left; 40: serialisation, deadlock.
            sqlx::Error::Database(database) => database.code().is_some_and(|code| {
                ["08", "57P", "53", "40"]
                    .iter()
                    .any(|class| code.starts_with(class))
            }),
            _ => false,
        };
        if transient {
            Self::Unreachable(error)
        } else {
            Self::Statement(error)
        }
    }
}
