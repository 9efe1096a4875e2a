//! The queue: what workers may do to judgings. Called by the API on their behalf.
//!
//! Invariants (held by constraints, triggers and fences, checked by [`crate::invariants`]): at most
//! one live attempt a judging; `running` exactly while one lives; a final verdict is written once
//! and never changes. Every write of a worker is fenced: it names the attempt and its lease token,
//! and touches nothing when the attempt has ended. Locks are taken in the order workers, judgings,
//! attempts, submissions.

mod claim;
mod expiry;
mod give_back;
mod lease;
mod report;
mod workers;

use std::time::Duration;

use domain::report::ProblemRef;
use domain::source::Source;
use domain::{AttemptId, DeviceName, JudgingId, Mode, Status, SubmissionId, Verdict, WorkerId};
use uuid::Uuid;

use crate::DatabaseError;
use crate::accounts::WorkerKeyId;

pub use claim::claim;
pub use expiry::{age, expire};
pub use lease::{Beat, PhaseEntered, enter_phase, heartbeat, subject};
pub use report::{release, report, retry};
pub use workers::{NewWorker, register};

/// One registered process of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerProcess {
    /// The key it authenticated with.
    pub key: WorkerKeyId,
    /// The worker.
    pub id: WorkerId,
    /// Number of its registration.
    pub incarnation: u32,
}

/// How leases behave. One value for the whole service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasePolicy {
    /// A lease holds this long after the claim or the last heartbeat.
    pub duration: Duration,
    /// Faults after which a judging ends as `judge_error`.
    pub max_faults: u32,
}

/// The right to write about one attempt. Whoever has none cannot name the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The key the caller authenticated with; a token is of no use under another.
    pub key: WorkerKeyId,
    /// The attempt.
    pub attempt_id: AttemptId,
    /// The token that the claim returned.
    pub token: Uuid,
}

/// What a claim hands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The submission.
    pub submission_id: SubmissionId,
    /// The judging.
    pub judging_id: JudgingId,
    /// The attempt.
    pub attempt_id: AttemptId,
    /// Its number within the judging, from 1.
    pub number: u32,
    /// Its lease token.
    pub token: Uuid,
    /// Problem and version.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// The text.
    pub source: Source,
    /// How long the judging waited, in seconds.
    pub queued_s: f64,
}

/// What an attempt is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The submission.
    pub submission_id: SubmissionId,
    /// The judging.
    pub judging_id: JudgingId,
    /// Problem and version.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// SHA-256 of the text in hexadecimal.
    pub source_sha256: String,
}

/// A judging that changed hands or ended, for waking those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The submission.
    pub submission_id: SubmissionId,
    /// The judging.
    pub judging_id: JudgingId,
    /// Its device.
    pub device: DeviceName,
    /// Where it stands now.
    pub status: Status,
    /// Its verdict, once done.
    pub verdict: Option<Verdict>,
}

/// Why a worker's write was refused.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// The attempt has ended or never existed under this token: the worker must drop its result.
    #[error("the lease was lost")]
    Superseded,
    /// The statement did not succeed; nothing was written.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Why a claim was refused.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// A newer process registered under this name, or none ever did.
    #[error("a newer process has registered under this name")]
    StaleIncarnation,
    /// The statement did not succeed; repeating the claim id is safe.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl From<sqlx::Error> for LeaseError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<sqlx::Error> for ClaimError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}
