//! Many workers on virtual time: a seeded storm of submissions, claims, heartbeats, deaths, late
//! reports and cancellations against the real queue. The invariants hold throughout, and in the end
//! every judging has exactly one verdict.

#![allow(clippy::unwrap_used)] // a step that fails fails the test

use std::collections::BTreeMap;
use std::time::Duration;

use database::accounts::{WorkerKeyId, ensure_user, ensure_worker_key, worker_key};
use database::problems::publish;
use database::queue::{
    self, Beat, ClaimError, Claimed, Lease, LeaseError, LeasePolicy, NewWorker, WorkerProcess,
};
use database::submissions::{self, NewSubmission};
use database_testing::TestDatabase;
use domain::report::{ProblemRef, ToolchainRef};
use domain::{
    AttemptId, Clock, DeviceName, JudgingId, Mode, Report, Source, Status, SubmissionId,
    SystemClock, UserId, Verdict,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::json;
use uuid::Uuid;

const POLICY: LeasePolicy = LeasePolicy {
    duration: Duration::from_secs(30),
    max_faults: 3,
};

fn scale() -> (usize, usize) {
    match std::env::var_os("LIGHTSPEED_TEST_LONG") {
        Some(_) => (2000, 60_000),
        None => (200, 6000),
    }
}

/// What one simulated worker is at.
enum Worker {
    /// Never registered, or died: must register before it claims.
    Down,
    Idle(WorkerProcess),
    Busy(WorkerProcess, Box<Claimed>),
}

struct Storm {
    test: TestDatabase,
    random: ChaCha8Rng,
    key: WorkerKeyId,
    user: UserId,
    workers: Vec<Worker>,
    /// Leases of dead workers, whose reports may still arrive.
    ghosts: Vec<Claimed>,
    submissions: BTreeMap<JudgingId, SubmissionId>,
    /// Verdicts that a report was taken with, by judging.
    taken: BTreeMap<JudgingId, Verdict>,
}

#[tokio::test]
async fn a_storm_of_workers_loses_nothing_and_judges_nothing_twice() {
    let (workers, steps) = scale();
    let mut storm = Storm::new(7, workers).await;
    for step in 0..steps {
        storm.step().await;
        if step % 500 == 0 {
            storm.assert_sound().await;
        }
    }
    storm.calm().await;
    storm.assert_sound().await;
    storm.assert_all_done().await;
}

impl Storm {
    async fn new(seed: u64, workers: usize) -> Self {
        let test = TestDatabase::create().await;
        let db = &test.db;
        publish(db, &problem(), "digest", &json!({})).await.unwrap();
        let key = ensure_worker_key(db, "storm", None).await.unwrap();
        Self {
            user: ensure_user(db, "storm", false, now()).await.unwrap(),
            key: worker_key(db, &key).await.unwrap().unwrap(),
            random: ChaCha8Rng::seed_from_u64(seed),
            workers: (0..workers).map(|_| Worker::Down).collect(),
            ghosts: Vec::new(),
            submissions: BTreeMap::new(),
            taken: BTreeMap::new(),
            test,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.random.next_u64() % bound as u64).unwrap()
    }

    async fn step(&mut self) {
        match self.below(100) {
            0..20 => self.submit().await,
            20..82 => self.act().await,
            82..86 => self.cancel().await,
            86..90 => self.late_report().await,
            90..97 => {
                let by = Duration::from_secs(self.below(8) as u64);
                self.test.advance(by).await;
            }
            _ => {
                queue::expire(&self.test.db, &POLICY).await.unwrap();
            }
        }
    }

    async fn submit(&mut self) {
        let source = Source::try_from(format!("kernel {}", self.below(50))).unwrap();
        let new = NewSubmission {
            id: SubmissionId::new(now()),
            judging_id: JudgingId::new(now()),
            user_id: self.user,
            problem: &problem(),
            device: DeviceName::Emulated,
            mode: if self.below(2) == 0 {
                Mode::Practice
            } else {
                Mode::Ranked
            },
            source: &source,
            estimate: Duration::from_secs(10),
        };
        submissions::submit(&self.test.db, &new)
            .await
            .unwrap()
            .unwrap();
        self.submissions.insert(new.judging_id, new.id);
    }

    /// One worker does the next thing it would do.
    async fn act(&mut self) {
        let index = self.below(self.workers.len());
        let worker = std::mem::replace(&mut self.workers[index], Worker::Down);
        self.workers[index] = match worker {
            Worker::Down => Worker::Idle(self.register(index).await),
            Worker::Idle(process) => self.claim(process).await,
            Worker::Busy(process, claimed) => match self.below(10) {
                0..3 => self.beat(process, claimed).await,
                3..8 => self.report(process, *claimed).await,
                8 => self.retry(process, *claimed).await,
                _ => {
                    self.ghosts.push(*claimed);
                    Worker::Down
                }
            },
        };
    }

    async fn register(&mut self, index: usize) -> WorkerProcess {
        let name = format!("w{index}");
        let worker = NewWorker {
            key: self.key,
            name: &name,
            devices: &[DeviceName::Emulated],
            problems: &[problem()],
            toolchain: &ToolchainRef::default(),
            now: now(),
        };
        queue::register(&self.test.db, &worker, POLICY.max_faults)
            .await
            .unwrap()
            .0
    }

    async fn claim(&mut self, process: WorkerProcess) -> Worker {
        let claim_id = Uuid::new_v4();
        let attempt = AttemptId::new(now());
        let claimed = queue::claim(&self.test.db, &process, claim_id, attempt, &POLICY).await;
        match claimed {
            Ok(None) => Worker::Idle(process),
            Ok(Some(claimed)) => {
                assert!(
                    !self.taken.contains_key(&claimed.judging_id),
                    "{} was judged already",
                    claimed.judging_id
                );
                self.repeat(&process, claim_id, &claimed).await;
                Worker::Busy(process, Box::new(claimed))
            }
            Err(ClaimError::StaleIncarnation) => Worker::Down,
            Err(error) => panic!("{error}"),
        }
    }

    /// A claim whose answer was lost, repeated: the same lease.
    async fn repeat(&mut self, process: &WorkerProcess, claim_id: Uuid, claimed: &Claimed) {
        if self.below(4) == 0 {
            let attempt = AttemptId::new(now());
            let again = queue::claim(&self.test.db, process, claim_id, attempt, &POLICY).await;
            let again = again.unwrap().expect("the same judging");
            assert_eq!(
                (again.attempt_id, again.token),
                (claimed.attempt_id, claimed.token)
            );
        }
    }

    async fn beat(&mut self, process: WorkerProcess, claimed: Box<Claimed>) -> Worker {
        match queue::heartbeat(&self.test.db, &self.lease(&claimed), &POLICY).await {
            Ok(Beat::Kept) => Worker::Busy(process, claimed),
            Ok(Beat::Cancelled) | Err(LeaseError::Superseded) => Worker::Idle(process),
            Err(error) => panic!("{error}"),
        }
    }

    async fn report(&mut self, process: WorkerProcess, claimed: Claimed) -> Worker {
        let verdict = if self.below(2) == 0 {
            Verdict::Accepted
        } else {
            Verdict::WrongAnswer
        };
        let report = report(verdict);
        match queue::report(&self.test.db, &self.lease(&claimed), &report).await {
            Ok(changed) => {
                assert_eq!(
                    (changed.status, changed.verdict),
                    (Status::Done, Some(verdict))
                );
                let before = self.taken.insert(claimed.judging_id, verdict);
                assert_eq!(before, None, "{} got two verdicts", claimed.judging_id);
            }
            Err(LeaseError::Superseded) => {}
            Err(error) => panic!("{error}"),
        }
        Worker::Idle(process)
    }

    async fn retry(&mut self, process: WorkerProcess, claimed: Claimed) -> Worker {
        let lease = self.lease(&claimed);
        match queue::retry(&self.test.db, &lease, "a fault", POLICY.max_faults).await {
            Ok(_) | Err(LeaseError::Superseded) => Worker::Idle(process),
            Err(error) => panic!("{error}"),
        }
    }

    /// The report of a worker thought dead arrives after all. It counts only while its lease was
    /// given to nobody else.
    async fn late_report(&mut self) {
        if self.ghosts.is_empty() {
            return;
        }
        let index = self.below(self.ghosts.len());
        let ghost = self.ghosts.swap_remove(index);
        let report = report(Verdict::Accepted);
        match queue::report(&self.test.db, &self.lease(&ghost), &report).await {
            Ok(_) => {
                let before = self.taken.insert(ghost.judging_id, Verdict::Accepted);
                assert_eq!(before, None, "{} got two verdicts", ghost.judging_id);
            }
            Err(LeaseError::Superseded) => {}
            Err(error) => panic!("{error}"),
        }
    }

    async fn cancel(&mut self) {
        if self.submissions.is_empty() {
            return;
        }
        let index = self.below(self.submissions.len());
        let submission = *self.submissions.values().nth(index).unwrap();
        submissions::cancel(&self.test.db, submission)
            .await
            .unwrap();
    }

    /// No more submissions and no more deaths, until the queue is empty.
    async fn calm(&mut self) {
        self.test.advance(POLICY.duration * 2).await;
        queue::expire(&self.test.db, &POLICY).await.unwrap();
        let process = self.register(usize::MAX).await;
        while let Worker::Busy(process, claimed) = self.claim(process).await {
            self.report(process, *claimed).await;
        }
    }

    async fn assert_all_done(&self) {
        let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
        for (judging, submission) in &self.submissions {
            let found = submissions::get(&self.test.db, *submission)
                .await
                .unwrap()
                .unwrap();
            assert_eq!(found.status, Status::Done, "{judging} is not done");
            let verdict = found.verdict.expect("done has a verdict");
            if let Some(taken) = self.taken.get(judging) {
                assert_eq!(verdict, *taken, "{judging} changed its verdict");
            }
            *verdicts.entry(verdict.to_string()).or_default() += 1;
        }
        // The storm must have been one: every way out was taken.
        for way in ["accepted", "wrong_answer", "cancelled"] {
            assert!(
                verdicts.contains_key(way),
                "no judging ended as {way}: {verdicts:?}"
            );
        }
        println!("{verdicts:?}");
    }

    async fn assert_sound(&self) {
        let violations = database::invariants::check(&self.test.db).await.unwrap();
        assert_eq!(violations, []);
    }

    fn lease(&self, claimed: &Claimed) -> Lease {
        Lease {
            key: self.key,
            attempt_id: claimed.attempt_id,
            token: claimed.token,
        }
    }
}

fn problem() -> ProblemRef {
    ProblemRef {
        slug: "vector_add".to_owned(),
        version: 1,
    }
}

fn report(verdict: Verdict) -> Report {
    let report = json!({
        "schema": domain::report::REPORT_SCHEMA,
        "problem": problem(),
        "device": { "name": "emulated", "kind": "emulated", "arch": "sm_90a", "profile": null },
        "mode": "ranked", "source_sha256": "", "verdict": verdict, "kind": null, "message": "",
        "toolchain": ToolchainRef::default(), "diagnostics": [], "execution": "planned",
        "kernels": [], "shapes": [], "score": null, "warnings": [],
        "phases_s": domain::report::PhaseTimes::default(),
        "started_at": now(), "finished_at": now(),
    });
    serde_json::from_value(report).unwrap()
}

fn now() -> chrono::DateTime<chrono::Utc> {
    SystemClock::default().now()
}
