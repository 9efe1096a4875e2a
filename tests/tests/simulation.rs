//! Many workers on virtual time: a seeded storm of submissions, claims, heartbeats, deaths, late
//! reports and cancellations against the real queue, several at once. The invariants hold throughout, and in the end
//! every judging has exactly one verdict.

#![allow(clippy::unwrap_used)] // a step that fails fails the test

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use database::Database;
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
use futures_util::future::join_all;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::json;
use uuid::Uuid;

const POLICY: LeasePolicy = LeasePolicy {
    duration: Duration::from_secs(30),
    max_faults: 3,
};

/// Connections with the database, so that the deeds of a burst really race.
const MOST_AT_ONCE: usize = 8;

/// Workers, and bursts of deeds.
fn scale() -> (usize, usize) {
    match std::env::var_os("LIGHTSPEED_TEST_LONG") {
        Some(_) => (2000, 15_000),
        None => (200, 1500),
    }
}

/// What one simulated worker is at.
enum Worker {
    /// Never registered, or died: must register before it claims.
    Down,
    Idle(WorkerProcess),
    Busy(WorkerProcess, Box<Claimed>),
}

/// One thing to do, with every choice made: choices come from the seed alone, in one order.
enum Deed {
    Submit(Source, Mode),
    Cancel(SubmissionId),
    Expire,
    Register(usize),
    /// `again`: its answer is lost, and the same claim is made once more.
    Claim {
        index: usize,
        process: WorkerProcess,
        again: bool,
    },
    Beat(usize, WorkerProcess, Box<Claimed>),
    Retry(usize, WorkerProcess, Box<Claimed>),
    /// Of a worker, or of one thought dead.
    Report(Option<(usize, WorkerProcess)>, Box<Claimed>, Verdict),
}

/// What came of it.
enum Outcome {
    Nothing,
    Submitted(JudgingId, SubmissionId),
    Worker(usize, Worker),
    /// The report was taken.
    Taken(Option<(usize, WorkerProcess)>, JudgingId, Verdict),
}

struct Storm {
    test: TestDatabase,
    random: ChaCha8Rng,
    doer: Doer,
    workers: Vec<Worker>,
    /// Leases of dead workers, whose reports may still arrive.
    ghosts: Vec<Claimed>,
    submissions: BTreeMap<JudgingId, SubmissionId>,
    /// Verdicts that a report was taken with, by judging.
    taken: BTreeMap<JudgingId, Verdict>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_workers_loses_nothing_and_judges_nothing_twice() {
    let (workers, bursts) = scale();
    let mut storm = Storm::new(7, workers).await;
    for burst in 0..bursts {
        storm.burst().await;
        if burst % 100 == 0 {
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
        let db = test.db.clone();
        publish(&db, &problem(), "digest", &json!({}))
            .await
            .unwrap();
        let key = ensure_worker_key(&db, "storm", None).await.unwrap();
        Self {
            doer: Doer {
                user: ensure_user(&db, "storm", false, now()).await.unwrap(),
                key: worker_key(&db, &key).await.unwrap().unwrap(),
                db,
            },
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

    /// Some deeds at once, and now and then a jump of the clock between them.
    async fn burst(&mut self) {
        if self.below(4) == 0 {
            let by = Duration::from_secs(self.below(8) as u64);
            self.test.advance(by).await;
        }
        let mut busy = BTreeSet::new();
        let mut deeds = Vec::new();
        for _ in 0..=self.below(MOST_AT_ONCE) {
            deeds.extend(self.choose(&mut busy));
        }
        let outcomes = join_all(deeds.into_iter().map(|deed| self.doer.act(deed))).await;
        self.settle(outcomes);
    }

    fn choose(&mut self, busy: &mut BTreeSet<usize>) -> Option<Deed> {
        match self.below(100) {
            0..22 => {
                let source = format!("kernel {}", self.below(50));
                let mode = [Mode::Practice, Mode::Ranked][self.below(2)];
                Some(Deed::Submit(Source::try_from(source).unwrap(), mode))
            }
            22..88 => self.choose_for_a_worker(busy),
            88..92 if !self.submissions.is_empty() => {
                let index = self.below(self.submissions.len());
                let submission = self.submissions.values().nth(index).unwrap();
                Some(Deed::Cancel(*submission))
            }
            92..96 if !self.ghosts.is_empty() => {
                let index = self.below(self.ghosts.len());
                let ghost = Box::new(self.ghosts.swap_remove(index));
                Some(Deed::Report(None, ghost, Verdict::Accepted))
            }
            _ => Some(Deed::Expire),
        }
    }

    /// The next thing that a worker would do; a worker does one thing at a time.
    fn choose_for_a_worker(&mut self, busy: &mut BTreeSet<usize>) -> Option<Deed> {
        let index = self.below(self.workers.len());
        if !busy.insert(index) {
            return None;
        }
        match std::mem::replace(&mut self.workers[index], Worker::Down) {
            Worker::Down => Some(Deed::Register(index)),
            Worker::Idle(process) => Some(Deed::Claim {
                index,
                process,
                again: self.below(4) == 0,
            }),
            Worker::Busy(process, claimed) => match self.below(10) {
                0..3 => Some(Deed::Beat(index, process, claimed)),
                3..8 => {
                    let verdict = [Verdict::Accepted, Verdict::WrongAnswer][self.below(2)];
                    Some(Deed::Report(Some((index, process)), claimed, verdict))
                }
                8 => Some(Deed::Retry(index, process, claimed)),
                _ => {
                    self.ghosts.push(*claimed);
                    None
                }
            },
        }
    }

    fn settle(&mut self, outcomes: Vec<Outcome>) {
        let mut claimed_now = BTreeSet::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Nothing => {}
                Outcome::Submitted(judging, submission) => {
                    self.submissions.insert(judging, submission);
                }
                Outcome::Taken(worker, judging, verdict) => {
                    let before = self.taken.insert(judging, verdict);
                    assert_eq!(before, None, "{judging} got two verdicts");
                    if let Some((index, process)) = worker {
                        self.workers[index] = Worker::Idle(process);
                    }
                }
                Outcome::Worker(index, worker) => {
                    if let Worker::Busy(_, claimed) = &worker {
                        let judging = claimed.judging_id;
                        // Of one burst too: a heartbeat and a claim must not both hold it.
                        assert!(claimed_now.insert(judging), "{judging} is held twice");
                    }
                    self.workers[index] = worker;
                }
            }
        }
        for judging in claimed_now {
            assert!(
                !self.taken.contains_key(&judging),
                "{judging} was judged already"
            );
        }
    }

    /// No more submissions and no more deaths, until the queue is empty.
    async fn calm(&mut self) {
        self.test.advance(POLICY.duration * 2).await;
        self.doer.act(Deed::Expire).await;
        let process = self.doer.register(usize::MAX).await;
        while let Worker::Busy(_, claimed) = self.doer.claim(process, false).await {
            let report = Deed::Report(None, claimed, Verdict::Accepted);
            let outcome = self.doer.act(report).await;
            self.settle(vec![outcome]);
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
            match self.taken.get(judging) {
                Some(taken) => assert_eq!(verdict, *taken, "{judging} changed its verdict"),
                None => assert!(
                    matches!(verdict, Verdict::Cancelled | Verdict::JudgeError),
                    "{judging} is {verdict}, which nobody reported"
                ),
            }
            *verdicts.entry(verdict.to_string()).or_default() += 1;
        }
        // The storm must have been one: every way out was taken.
        for way in ["accepted", "wrong_answer", "cancelled", "judge_error"] {
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
}

/// Does what was chosen. Shares nothing with the others that act at the same time.
struct Doer {
    db: Database,
    key: WorkerKeyId,
    user: UserId,
}

impl Doer {
    async fn act(&self, deed: Deed) -> Outcome {
        match deed {
            Deed::Submit(source, mode) => self.submit(&source, mode).await,
            Deed::Cancel(submission) => {
                submissions::cancel(&self.db, submission).await.unwrap();
                Outcome::Nothing
            }
            Deed::Expire => {
                queue::expire(&self.db, &POLICY).await.unwrap();
                Outcome::Nothing
            }
            Deed::Register(index) => {
                Outcome::Worker(index, Worker::Idle(self.register(index).await))
            }
            Deed::Claim {
                index,
                process,
                again,
            } => Outcome::Worker(index, self.claim(process, again).await),
            Deed::Beat(index, process, claimed) => {
                Outcome::Worker(index, self.beat(process, claimed).await)
            }
            Deed::Retry(index, process, claimed) => {
                let lease = self.lease(&claimed);
                match queue::retry(&self.db, &lease, "a fault", POLICY.max_faults).await {
                    Ok(_) | Err(LeaseError::Superseded) => {}
                    Err(error) => panic!("{error}"),
                }
                Outcome::Worker(index, Worker::Idle(process))
            }
            Deed::Report(worker, claimed, verdict) => self.report(worker, &claimed, verdict).await,
        }
    }

    async fn submit(&self, source: &Source, mode: Mode) -> Outcome {
        let new = NewSubmission {
            id: SubmissionId::new(now()),
            judging_id: JudgingId::new(now()),
            user_id: self.user,
            problem: &problem(),
            device: DeviceName::Emulated,
            mode,
            source,
            estimate: Duration::from_secs(10),
        };
        submissions::submit(&self.db, &new).await.unwrap().unwrap();
        Outcome::Submitted(new.judging_id, new.id)
    }

    async fn register(&self, index: usize) -> WorkerProcess {
        let worker = NewWorker {
            key: self.key,
            name: &format!("w{index}"),
            devices: &[DeviceName::Emulated],
            problems: &[problem()],
            toolchain: &ToolchainRef::default(),
            now: now(),
        };
        let registered = queue::register(&self.db, &worker, POLICY.max_faults).await;
        registered.unwrap().0
    }

    async fn claim(&self, process: WorkerProcess, again: bool) -> Worker {
        let claim_id = Uuid::new_v4();
        let attempt = AttemptId::new(now());
        let claimed = queue::claim(&self.db, &process, claim_id, attempt, &POLICY).await;
        match claimed {
            Ok(None) => Worker::Idle(process),
            Ok(Some(claimed)) => {
                if again && !self.claim_again(&process, claim_id, &claimed).await {
                    return Worker::Idle(process);
                }
                Worker::Busy(process, Box::new(claimed))
            }
            Err(ClaimError::StaleIncarnation) => Worker::Down,
            Err(error) => panic!("{error}"),
        }
    }

    /// A claim whose answer was lost, repeated: the same lease, or another judging's if this one was
    /// cancelled in between. Whether it is still the same.
    async fn claim_again(
        &self,
        process: &WorkerProcess,
        claim_id: Uuid,
        claimed: &Claimed,
    ) -> bool {
        let attempt = AttemptId::new(now());
        let again = queue::claim(&self.db, process, claim_id, attempt, &POLICY).await;
        let Some(again) = again.unwrap() else {
            return false;
        };
        assert_eq!(
            (again.attempt_id, again.token),
            (claimed.attempt_id, claimed.token)
        );
        true
    }

    async fn beat(&self, process: WorkerProcess, claimed: Box<Claimed>) -> Worker {
        match queue::heartbeat(&self.db, &self.lease(&claimed), &POLICY).await {
            Ok(Beat::Kept) => Worker::Busy(process, claimed),
            Ok(Beat::Cancelled) | Err(LeaseError::Superseded) => Worker::Idle(process),
            Err(error) => panic!("{error}"),
        }
    }

    /// A report of one thought dead counts only while its lease was given to nobody else.
    async fn report(
        &self,
        worker: Option<(usize, WorkerProcess)>,
        claimed: &Claimed,
        verdict: Verdict,
    ) -> Outcome {
        let report = report(verdict);
        match queue::report(&self.db, &self.lease(claimed), &report, None).await {
            Ok(changed) => {
                let now_is = (changed.status, changed.verdict);
                assert_eq!(now_is, (Status::Done, Some(verdict)));
                Outcome::Taken(worker, claimed.judging_id, verdict)
            }
            Err(LeaseError::Superseded) => match worker {
                Some((index, process)) => Outcome::Worker(index, Worker::Idle(process)),
                None => Outcome::Nothing,
            },
            Err(error) => panic!("{error}"),
        }
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
