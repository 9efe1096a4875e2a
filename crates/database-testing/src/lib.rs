//! Throw-away databases on a real server, for tests of the database crate and of those above it.
//!
//! A crate of its own, so that no build of the whole workspace puts it into the shipped program.
//! `DATABASE_URL` names the server; without it a test fails, because a skipped test proves nothing.
//! Each test gets a database of its own, copied from a migrated template and dropped at the end.

use std::time::Duration;

use database::{Database, MIGRATOR};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool};
use uuid::Uuid;

/// Connections of the code under test.
const CONNECTIONS: u32 = 12;

/// A database that lives as long as this value.
pub struct TestDatabase {
    /// The database, migrated and empty.
    pub db: Database,
    /// The test's own way in, past the code under test.
    aside: PgPool,
    name: String,
}

impl TestDatabase {
    /// Makes one. Panics with the reason when it cannot, since a test can do nothing else.
    pub async fn create() -> Self {
        let server = server();
        let mut admin = PgConnection::connect_with(&server)
            .await
            .unwrap_or_else(|error| panic!("the server named by DATABASE_URL: {error}"));
        let template = ensure_template(&mut admin, &server).await;
        let name = format!("lightspeed_test_{}", Uuid::new_v4().simple());
        run(
            &mut admin,
            format!(r#"CREATE DATABASE "{name}" TEMPLATE "{template}""#),
        )
        .await;
        let db = connect(&server, &name).await;
        let aside = PgPoolOptions::new()
            .max_connections(1)
            .connect_lazy_with(server.database(&name));
        Self { db, aside, name }
    }

    /// A URL under which other processes reach this database.
    #[must_use]
    pub fn url(&self) -> String {
        url(&server().database(&self.name))
    }

    /// Lets `by` pass on the clock of the database.
    pub async fn advance(&self, by: Duration) {
        sqlx::query("UPDATE clock SET skew = skew + make_interval(secs => $1)")
            .bind(by.as_secs_f64())
            .execute(&self.aside)
            .await
            .expect("the clock can be moved");
    }

    /// Runs a statement that only a test would: to break what the code never breaks.
    pub async fn execute(&self, statement: &'static str) -> Result<u64, sqlx::Error> {
        let done = sqlx::query(statement).execute(&self.aside).await?;
        Ok(done.rows_affected())
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let name = self.name.clone();
        // A runtime of its own: the test's may be ending, or unwinding.
        let dropped = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime can be built")
                .block_on(async {
                    let mut admin = PgConnection::connect_with(&server()).await?;
                    let statement = format!(r#"DROP DATABASE IF EXISTS "{name}" WITH (FORCE)"#);
                    sqlx::raw_sql(AssertSqlSafe(statement))
                        .execute(&mut admin)
                        .await
                })
        })
        .join();
        if !matches!(dropped, Ok(Ok(_))) {
            eprintln!("the test database {} was left behind", self.name);
        }
    }
}

fn server() -> PgConnectOptions {
    let url = std::env::var("DATABASE_URL").unwrap_or_else(|_| {
        panic!(
            "this test needs a PostgreSQL server: set DATABASE_URL, \
             or run `./lightspeed test`, which starts one"
        )
    });
    url.parse()
        .unwrap_or_else(|error| panic!("DATABASE_URL cannot be read: {error}"))
}

async fn connect(server: &PgConnectOptions, name: &str) -> Database {
    Database::connect(&url(&server.clone().database(name)), CONNECTIONS)
        .await
        .unwrap_or_else(|error| panic!("the test database {name}: {error}"))
}

fn url(options: &PgConnectOptions) -> String {
    options.to_url_lossy().to_string()
}

/// The migrated template, made once for each set of migrations by whichever test comes first.
async fn ensure_template(admin: &mut PgConnection, server: &PgConnectOptions) -> String {
    let name = format!("lightspeed_template_{:016x}", fingerprint());
    // Templates cannot be copied while somebody is connected, so only one test makes it.
    run(admin, "SELECT pg_advisory_lock(7236269)".to_owned()).await;
    let exists: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)",
    )
    .bind(&name)
    .fetch_one(&mut *admin)
    .await
    .expect("the catalogue can be read");
    if !exists {
        run(
            admin,
            format!(r#"DROP DATABASE IF EXISTS "{name}" WITH (FORCE)"#),
        )
        .await;
        run(admin, format!(r#"CREATE DATABASE "{name}""#)).await;
        let db = connect(server, &name).await;
        db.migrate().await.expect("the migrations apply");
        db.close().await;
        // Marked last: an interrupted run leaves no half-made template behind.
        run(
            admin,
            format!(r#"ALTER DATABASE "{name}" IS_TEMPLATE true"#),
        )
        .await;
    }
    run(admin, "SELECT pg_advisory_unlock(7236269)".to_owned()).await;
    name
}

fn fingerprint() -> u64 {
    use sha2::{Digest, Sha256};
    let mut digest = Sha256::new();
    for migration in MIGRATOR.iter() {
        digest.update(&*migration.checksum);
    }
    let bytes = digest.finalize();
    u64::from_be_bytes(std::array::from_fn(|i| bytes[i]))
}

async fn run(admin: &mut PgConnection, statement: String) {
    sqlx::raw_sql(AssertSqlSafe(statement.clone()))
        .execute(admin)
        .await
        .unwrap_or_else(|error| panic!("{statement}: {error}"));
}
