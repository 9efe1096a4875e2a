//! The service wing, as `up` and `serve` start it. The only file here that touches the `api` crate.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use api::local::{Database, DatabaseError, Refusal, accounts, sessions};
use api::{Config, ConnectionLimits, LeaseSettings};
use domain::{Clock, SystemClock, UserId};
use problems::Package;
use protocol::problem::{ProblemDetail, ProblemSummary};
use protocol::{routes, timing};
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::local::with_causes;
use crate::stop::Stop;

/// The name of the one user and of the one worker key of a private service.
const LOCAL: &str = "local";
/// Sessions that the API keeps open with the database.
const CONNECTIONS: u32 = 16;

/// A database with every migration applied.
#[derive(Clone)]
pub(crate) struct Service {
    database: Database,
    clock: Arc<dyn Clock>,
}

impl Service {
    /// Connects, and applies the migrations that are missing.
    pub(crate) async fn open(database_url: &str, whose: Whose) -> Result<Self, Failure> {
        let database = Database::connect(database_url, CONNECTIONS).await;
        let database = database.map_err(|error| match (whose, error.refusal()) {
            (Whose::Given, Some(refusal)) => refused(refusal),
            (Whose::Given, None) => {
                let message = format!("the database refused: {}", with_causes(&error));
                Failure::unavailable(message, "check DATABASE_URL (--database-url)")
            }
            (Whose::Private, _) => {
                let message = format!("the database cannot be reached: {}", with_causes(&error));
                Failure::unavailable(message, "look into log/postgres.log of the state folder")
            }
        })?;
        database.migrate().await.map_err(|error| {
            let message = format!("the migrations failed: {}", with_causes(&error));
            Failure::unavailable(
                message,
                "is the database of a newer version of this program?",
            )
        })?;
        let clock = Arc::new(SystemClock::default());
        Ok(Self { database, clock })
    }

    /// A token of the local user: the known one, if it still is one.
    pub(crate) async fn user_token(&self, known: Option<&str>) -> Result<String, Failure> {
        let user = self.local_user().await?;
        Ok(accounts::ensure_token(&self.database, user, LOCAL, known).await?)
    }

    /// A key for the local worker: the known one, if it still is one.
    pub(crate) async fn worker_key(&self, known: Option<&str>) -> Result<String, Failure> {
        Ok(accounts::ensure_worker_key(&self.database, LOCAL, known).await?)
    }

    /// Path and query of a link that logs the local user in, once.
    pub(crate) async fn login_path(&self) -> Result<String, Failure> {
        let user = self.local_user().await?;
        let code = sessions::mint_login_code(&self.database, user, timing::LOGIN_CODE).await?;
        Ok(format!("{}?code={code}", routes::LOGIN))
    }

    /// Serves until told to stop.
    pub(crate) async fn serve(self, site: Site, mut stop: Stop) -> Result<(), Failure> {
        let config = Config {
            database: self.database,
            packages: site.packages,
            web_dir: site.web,
            lease: lease_settings()?,
            connections: ConnectionLimits::default(),
            clock: self.clock,
            public_url: site.public_url,
        };
        let stopped = async move { stop.asked().await };
        api::serve(site.listener, config, stopped)
            .await
            .map_err(|error| Failure::unavailable(with_causes(&error), ""))
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        self.database.close().await;
    }

    async fn local_user(&self) -> Result<UserId, Failure> {
        let now = self.clock.now();
        Ok(accounts::ensure_local_user(&self.database, LOCAL, now).await?)
    }
}

/// Whose database it is, and so who can mend it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose {
    /// The one that `--database-url` or `DATABASE_URL` names.
    Given,
    /// The one that this program runs.
    Private,
}

/// What is wrong with the URL, without any part of it: a password may be inside.
fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::NoUrl => Failure::usage(
            "DATABASE_URL (--database-url) is not the URL of a Postgres database",
            "write it as postgres://user:password@host:5432/name, with %xx for special characters",
        ),
        Refusal::NobodyThere => Failure::unavailable(
            "no Postgres server answers where DATABASE_URL (--database-url) points",
            "start the server, or mend host and port; `up` without it runs a private server",
        ),
        Refusal::Credentials => Failure::usage(
            "the database server refuses the user or the password of DATABASE_URL (--database-url)",
            "mend them in the URL, or the server's pg_hba.conf",
        ),
        Refusal::NoSuchDatabase => Failure::usage(
            "the server has no database of the name in DATABASE_URL (--database-url)",
            "mend the name, or make the database with `createdb`",
        ),
    }
}

/// What is served where.
pub(crate) struct Site {
    /// The socket.
    pub(crate) listener: TcpListener,
    /// Where browsers reach it.
    pub(crate) public_url: String,
    /// Problems on offer.
    pub(crate) packages: Vec<Package>,
    /// The built page.
    pub(crate) web: Option<PathBuf>,
}

/// Applies the migrations to a database.
pub(crate) async fn migrate(database_url: &str) -> Result<(), Failure> {
    let service = Service::open(database_url, Whose::Private).await?;
    service.close().await;
    Ok(())
}

/// A package as a service's list shows it.
pub(crate) fn problem_summary(package: &Package) -> ProblemSummary {
    api::local::problem_summary(package)
}

/// A package as a service shows it.
pub(crate) fn problem_detail(package: &Package) -> ProblemDetail {
    api::local::problem_detail(package)
}

/// The OpenAPI document, as JSON.
pub(crate) fn openapi() -> String {
    serde_json::to_string_pretty(&api::openapi()).expect("the document is plain JSON")
}

/// The usual leases, or the shorter ones that tests ask for: `LIGHTSPEED_LEASE_S` is the length of a
/// lease in seconds, and the other intervals keep their proportion to it.
fn lease_settings() -> Result<LeaseSettings, Failure> {
    let usual = LeaseSettings::default();
    let Ok(text) = std::env::var("LIGHTSPEED_LEASE_S") else {
        return Ok(usual);
    };
    let lease_s = text
        .parse::<f64>()
        .ok()
        .filter(|s| (0.1..=3600.0).contains(s));
    let lease_s = lease_s.ok_or_else(|| {
        Failure::usage(
            format!("LIGHTSPEED_LEASE_S is `{text}`"),
            "write seconds, 0.1 to 3600",
        )
    })?;
    Ok(scaled(&usual, Duration::from_secs_f64(lease_s)))
}

fn scaled(usual: &LeaseSettings, duration: Duration) -> LeaseSettings {
    let scale = duration.as_secs_f64() / usual.duration.as_secs_f64();
    LeaseSettings {
        duration,
        heartbeat_interval: usual.heartbeat_interval.mul_f64(scale),
        expiry_interval: usual.expiry_interval.mul_f64(scale),
        ..*usual
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        let message = format!("the database refused: {}", with_causes(&error));
        Self::unavailable(message, "look into log/postgres.log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_leases_keep_their_proportions() {
        let usual = LeaseSettings::default();
        let short = scaled(&usual, Duration::from_secs(3));
        assert_eq!(short.duration, Duration::from_secs(3));
        assert_eq!(short.heartbeat_interval, usual.heartbeat_interval / 10);
        assert_eq!(short.expiry_interval, usual.expiry_interval / 10);
        assert_eq!(short.max_attempts, usual.max_attempts);
    }
}
