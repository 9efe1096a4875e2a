//! All SQL of the service: queue, boards, accounts. Only `api` and the commands that start it may
//! call this crate; workers never do.
//!
//! Every transaction is short and none is open while a kernel runs. Statements read time through
//! `lightspeed_now()`. Enums travel as the contract's words and are checked when they are read.

pub mod accounts;
pub mod boards;
pub mod devices;
mod error;
pub mod events;
pub mod invariants;
pub mod judgings;
pub mod problems;
pub mod queue;
pub mod sessions;
pub mod submissions;
pub mod wakeups;
mod words;

use std::time::Duration;

use log::LevelFilter;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool};

pub use error::{DatabaseError, Refusal};

/// Every migration, embedded. One static, because each use of the macro embeds them again.
pub static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// A query that takes longer is told of with its text, for whoever looks for it.
const SLOW_QUERY: Duration = Duration::from_secs(1);
/// A migration builds tables and indexes, and takes its time.
const SLOW_MIGRATION: Duration = Duration::from_mins(1);

/// A pool of connections. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Database {
    pool: PgPool,
}

impl Database {
    /// Connects to `url` (`postgres://user@host/name`, or `?host=/folder` for a Unix socket).
    pub async fn connect(url: &str, max_connections: u32) -> Result<Self, DatabaseError> {
        let options: PgConnectOptions = url.parse().map_err(DatabaseError::from)?;
        let pool = PgPoolOptions::new()
            .max_connections(max_connections)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(
                options
                    .application_name("lightspeed")
                    .log_slow_statements(LevelFilter::Debug, SLOW_QUERY),
            )
            .await?;
        Ok(Self { pool })
    }

    /// Applies the migrations that are missing. Safe to call from several processes at once.
    pub async fn migrate(&self) -> Result<(), DatabaseError> {
        let options = self.pool.connect_options();
        let options = PgConnectOptions::clone(&options)
            .log_slow_statements(LevelFilter::Warn, SLOW_MIGRATION);
        let mut connection = options.connect().await?;
        let applied = MIGRATOR.run(&mut connection).await;
        let closed = connection.close().await;
        applied?;
        Ok(closed?)
    }

    /// Whether the server answers and every embedded migration is applied.
    pub async fn ready(&self) -> Result<bool, DatabaseError> {
        let newest = MIGRATOR.iter().map(|m| m.version).max().unwrap_or(0);
        // The table belongs to the migration library, so it is absent before the first run.
        let applied = sqlx::query_scalar!(
            r#"SELECT to_regclass('_sqlx_migrations') IS NOT NULL AS "present!""#
        )
        .fetch_one(&self.pool)
        .await?;
        if !applied {
            return Ok(false);
        }
        let version: Option<i64> =
            sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success")
                .fetch_one(&self.pool)
                .await?;
        Ok(version.unwrap_or(0) >= newest)
    }

    /// Closes every connection; later calls fail.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }
}
