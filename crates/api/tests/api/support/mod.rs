//! A running API without a socket, and words to tell a scenario in.

pub mod call;
pub mod reports;
pub mod worker;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use api::{Config, ConnectionLimits, LeaseSettings};
use axum::Router;
use axum::http::Method;
use database::events::EventBody;
use database::{Database, accounts};
use database_testing::TestDatabase;
use domain::{Clock, Mode, SubmissionId, SystemClock, UserId};
use problems::Package;
use protocol::submission::{Submission, Submitted};
use serde_json::json;

pub use call::{Answer, Call};
pub use worker::Worker;

/// An answer of every kernel; nothing here compiles it.
pub const KERNEL: &str = "extern \"C\" void solve(const float* a, float* b, int n) {}";

/// Somebody with a token.
pub struct Person {
    pub id: UserId,
    pub token: String,
}

pub struct Context {
    pub router: Router,
    /// The one who submits unless said otherwise.
    pub alice: Person,
    pub bob: Person,
    pub operator: Person,
    pub worker_key: String,
    test: TestDatabase,
}

impl Context {
    pub async fn start() -> Self {
        Self::start_with(None).await
    }

    pub async fn start_with(web_dir: Option<&Path>) -> Self {
        let test = TestDatabase::create().await;
        let db = test.db.clone();
        let config = config(&db, web_dir);
        api::publish(&db, &config.packages).await.unwrap();
        Self {
            alice: person(&db, "alice", false).await,
            bob: person(&db, "bob", false).await,
            operator: person(&db, "olga", true).await,
            worker_key: accounts::ensure_worker_key(&db, "test", None)
                .await
                .unwrap(),
            router: api::router(config),
            test,
        }
    }

    pub fn db(&self) -> &Database {
        &self.test.db
    }

    pub fn test(&self) -> &TestDatabase {
        &self.test
    }

    pub fn get(&self, path: &str) -> Call<'_> {
        Call::new(self, Method::GET, path)
    }

    pub fn post(&self, path: &str) -> Call<'_> {
        Call::new(self, Method::POST, path)
    }

    /// Alice submits to vector_add, ranked, on the emulated device.
    pub async fn submit(&self, kernel: &str) -> Submitted {
        self.submit_as(&self.alice, kernel, Mode::Ranked).await
    }

    pub async fn submit_as(&self, who: &Person, kernel: &str, mode: Mode) -> Submitted {
        self.post(protocol::routes::SUBMISSIONS)
            .bearer(&who.token)
            .json(&json!({
                "problem": "vector_add", "device": "emulated", "mode": mode, "source": kernel,
            }))
            .send()
            .await
            .expect_status(201)
            .parse()
    }

    pub async fn submission(&self, id: SubmissionId) -> Submission {
        self.get(&protocol::routes::submission(id))
            .bearer(&self.alice.token)
            .send()
            .await
            .expect_status(200)
            .parse()
    }

    pub async fn cancel(&self, id: SubmissionId) -> Answer {
        self.post(&protocol::routes::submission_cancel(id))
            .bearer(&self.alice.token)
            .send()
            .await
    }

    /// A worker process that can judge everything here on the emulated device.
    pub async fn worker(&self, name: &str) -> Worker<'_> {
        Worker::register(self, name).await
    }

    /// Time passes, and the service notices which leases have lapsed.
    pub async fn advance(&self, by: Duration) {
        self.test.advance(by).await;
        database::queue::expire(self.db(), &policy())
            .await
            .unwrap()
            .expect("nobody else looks for lapsed leases here");
    }

    /// The stored events of a submission, a line each.
    pub async fn timeline(&self, id: SubmissionId) -> String {
        let events = database::events::after(self.db(), id, 0).await.unwrap();
        let lines: Vec<String> = events
            .into_iter()
            .map(|event| {
                let what = match event.body {
                    EventBody::Status {
                        status,
                        verdict,
                        message,
                        ..
                    } => [
                        Some(format!("{status:?}").to_lowercase()),
                        verdict.map(|verdict| verdict.to_string()),
                        message.map(|message| format!("\"{message}\"")),
                    ]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" "),
                    EventBody::Phase(phase) => format!("phase {phase}"),
                    EventBody::Report(report) => format!("report {}", report.verdict),
                };
                format!("{} attempt {}: {what}", event.seq, event.attempt)
            })
            .collect();
        lines.join("\n")
    }

    /// Asserts what must hold after every scenario. Each test ends with it.
    pub async fn end(self) {
        let violations = database::invariants::check(self.db()).await.unwrap();
        assert_eq!(violations, [], "the scenario broke an invariant");
    }
}

pub fn config(db: &Database, web_dir: Option<&Path>) -> Config {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems/vector_add");
    Config {
        database: db.clone(),
        packages: vec![Package::load(&folder).expect("the package vector_add is sound")],
        web_dir: web_dir.map(Path::to_owned),
        lease: LeaseSettings::default(),
        connections: ConnectionLimits::default(),
        clock: Arc::new(SystemClock::default()),
        public_url: "http://judge.test".to_owned(),
    }
}

pub fn policy() -> database::queue::LeasePolicy {
    let lease = LeaseSettings::default();
    database::queue::LeasePolicy {
        duration: lease.duration,
        max_faults: lease.max_attempts,
    }
}

pub fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

async fn person(db: &Database, name: &str, operator: bool) -> Person {
    let now = SystemClock::default().now();
    let id = accounts::ensure_user(db, name, operator, now)
        .await
        .unwrap();
    let token = accounts::mint_token(db, id, "test").await.unwrap();
    Person { id, token }
}
