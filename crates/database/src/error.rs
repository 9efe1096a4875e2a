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

/// Why no connection was made, as far as whoever wrote the URL can mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text is no URL of a database.
    NoUrl,
    /// No server answers there.
    NobodyThere,
    /// The server takes neither this user nor this password.
    Credentials,
    /// The server has no such database.
    NoSuchDatabase,
}

impl DatabaseError {
    /// What is wrong with the URL of the connection, if that is what failed.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        let (Self::Unreachable(error) | Self::Statement(error)) = self else {
            return None;
        };
        match error {
            sqlx::Error::Configuration(_) => Some(Refusal::NoUrl),
            // The pool tries a refused connection again until it runs out of time.
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => Some(Refusal::NobodyThere),
            sqlx::Error::Database(database) => match database.code()?.as_ref() {
                "28P01" | "28000" => Some(Refusal::Credentials),
                "3D000" => Some(Refusal::NoSuchDatabase),
                _ => None,
            },
            _ => None,
        }
    }
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
