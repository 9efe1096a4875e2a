//! A queue with one problem, and callers with fresh ids.

use std::time::Duration;

use database::Database;
use database::accounts::{WorkerKeyId, ensure_user, ensure_worker_key, worker_key};
use database::problems::publish;
use database::queue::{self, ClaimError, Claimed, Lease, LeasePolicy, NewWorker, WorkerProcess};
use database::submissions::{NewSubmission, submit};
use database_testing::TestDatabase;
use domain::report::{DeviceRef, Execution, PhaseTimes, ProblemRef, REPORT_SCHEMA, ToolchainRef};
use domain::source::Source;
use domain::{
    AttemptId, Clock, DeviceName, JudgingId, Mode, Report, SubmissionId, SystemClock, UserId,
    Verdict,
};
use serde_json::json;
use uuid::Uuid;

pub const POLICY: LeasePolicy = LeasePolicy {
    duration: Duration::from_secs(30),
    max_faults: 3,
};

pub struct Queue {
    pub test: TestDatabase,
    pub alice: UserId,
    pub bob: UserId,
    key: WorkerKeyId,
}

impl Queue {
    pub async fn create() -> Self {
        let test = TestDatabase::create().await;
        let db = &test.db;
        publish(db, &problem(), "digest", &json!({})).await.unwrap();
        let key = ensure_worker_key(db, "test", None).await.unwrap();
        Self {
            alice: ensure_user(db, "alice", false, now()).await.unwrap(),
            bob: ensure_user(db, "bob", false, now()).await.unwrap(),
            key: worker_key(db, &key).await.unwrap().unwrap(),
            test,
        }
    }

    pub fn db(&self) -> &Database {
        &self.test.db
    }

    pub async fn submit(&self, user: UserId, mode: Mode) -> JudgingId {
        let source = Source::try_from("kernel".to_owned()).unwrap();
        let new = NewSubmission {
            id: SubmissionId::new(now()),
            judging_id: JudgingId::new(now()),
            user_id: user,
            problem: &problem(),
            device: DeviceName::Emulated,
            mode,
            source: &source,
            estimate: Duration::from_secs(10),
        };
        submit(self.db(), &new).await.unwrap().unwrap();
        new.judging_id
    }

    pub async fn worker(&self, name: &str) -> WorkerProcess {
        let worker = NewWorker {
            key: self.key,
            name,
            devices: &[DeviceName::Emulated],
            problems: &[problem()],
            toolchain: &ToolchainRef::default(),
            now: now(),
        };
        queue::register(self.db(), &worker, POLICY.max_faults)
            .await
            .unwrap()
            .0
    }

    pub async fn claim(&self, worker: &WorkerProcess) -> Option<Claimed> {
        self.try_claim(worker).await.unwrap()
    }

    pub async fn try_claim(&self, worker: &WorkerProcess) -> Result<Option<Claimed>, ClaimError> {
        let attempt = AttemptId::new(now());
        queue::claim(self.db(), worker, Uuid::new_v4(), attempt, &POLICY).await
    }

    pub fn lease(&self, claimed: &Claimed) -> Lease {
        Lease {
            key: self.key,
            attempt_id: claimed.attempt_id,
            token: claimed.token,
        }
    }

    /// Judgings in the order in which one worker gets them.
    pub async fn drain(&self) -> Vec<JudgingId> {
        let worker = self.worker("drain").await;
        let mut order = Vec::new();
        while let Some(claimed) = self.claim(&worker).await {
            order.push(claimed.judging_id);
        }
        order
    }

    pub async fn assert_sound(&self) {
        let violations = database::invariants::check(self.db()).await.unwrap();
        assert_eq!(violations, []);
    }
}

pub fn problem() -> ProblemRef {
    ProblemRef {
        slug: "vector_add".to_owned(),
        version: 1,
    }
}

pub fn report(verdict: Verdict) -> Report {
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        problem: problem(),
        device: DeviceRef {
            name: DeviceName::Emulated,
            kind: DeviceName::Emulated.kind(),
            arch: "sm_90a".to_owned(),
            profile: None,
        },
        mode: Mode::Ranked,
        source_sha256: String::new(),
        toolchain: ToolchainRef::default(),
        verdict,
        kind: None,
        message: String::new(),
        diagnostics: vec![],
        execution: Execution::Planned,
        kernels: vec![],
        shapes: vec![],
        score: None,
        phases_s: PhaseTimes::default(),
        measurement: None,
        printed: None,
        warnings: vec![],
        started_at: now(),
        finished_at: now(),
    }
}

pub fn now() -> chrono::DateTime<chrono::Utc> {
    SystemClock::default().now()
}
