//! What a worker says. It speaks over HTTP with its own key and sees no database.
//!
//! A worker registers once per process, then claims. A claim answers everything it needs to judge.
//! Every later call names the attempt in the path and the lease token in the body; 409 means that
//! the lease is lost: kill the executor at once and drop the result.

use domain::report::{ProblemRef, ToolchainRef};
use domain::source::Source;
use domain::{
    AttemptId, CodeListing, DeviceName, JudgingId, Mode, Progress, Report, SubmissionId, Verdict,
    WorkerId,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The largest body of a report, in bytes. Reports hold no tensors; a few hundred rows fit easily into
/// four megabytes, and both forms of the code into as many, were every second byte escaped.
pub const MAX_REPORT_BODY_BYTES: usize = 8 << 20;

/// `POST /api/v1/worker/register`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Register {
    /// Unique among the processes that share a key, e.g. `host-gpu0`. Registering a name again
    /// supersedes the process that had it and gives its judgings back to the queue.
    pub name: String,
    /// Devices it can judge on.
    pub devices: Vec<DeviceName>,
    /// Packages it has; nothing else is handed to it.
    pub problems: Vec<ProblemRef>,
    /// What it compiles with.
    pub toolchain: ToolchainRef,
}

/// Answer to [`Register`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Registered {
    /// The worker's id, the same for every process of that name.
    pub worker_id: WorkerId,
    /// Counts the registrations of that name.
    pub incarnation: u32,
    /// A lease holds this long after the claim or the last heartbeat.
    pub lease_s: f64,
    /// Send a heartbeat this often while judging.
    pub heartbeat_interval_s: f64,
    /// Report progress at most this often.
    pub progress_interval_s: f64,
    /// Longest `wait_s` of a claim.
    pub long_poll_s: f64,
}

/// `POST /api/v1/worker/claim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClaimRequest {
    /// From [`Registered`].
    pub worker_id: WorkerId,
    /// From [`Registered`]; an older one is refused with `stale_incarnation`.
    pub incarnation: u32,
    /// Made by the worker. Repeating it returns the same lease, so that an answer lost on the way
    /// loses no judging. Use a new one after every answer that was read.
    pub claim_id: Uuid,
    /// Wait this long for work before answering "none"; 0 answers at once.
    #[serde(default)]
    pub wait_s: f64,
}

/// Answer to [`ClaimRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClaimAnswer {
    /// The work, or `null` when there is none.
    pub claim: Option<Box<Claim>>,
}

/// Everything a worker needs to judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Claim {
    /// The submission.
    pub submission_id: SubmissionId,
    /// The judging.
    pub judging_id: JudgingId,
    /// This try at it.
    pub attempt_id: AttemptId,
    /// Number of this try, from 1.
    pub attempt: u32,
    /// Must accompany every write.
    pub lease_token: LeaseToken,
    /// The lease holds this long from when the claim was sent.
    pub lease_s: f64,
    /// Problem and version.
    pub problem: ProblemRef,
    /// Device.
    pub device: DeviceName,
    /// Practice or ranked.
    pub mode: Mode,
    /// The submitted text.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub source: Source,
    /// How long it waited, for the report's `phases_s.queue`.
    pub queued_s: f64,
}

/// Proof of holding a lease. Unguessable; never logged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
pub struct LeaseToken(pub Uuid);

impl std::fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LeaseToken(..)")
    }
}

/// `POST /api/v1/worker/attempts/{id}/heartbeat`: keeps the lease, nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Heartbeat {
    /// From the claim.
    pub lease_token: LeaseToken,
}

/// Answer to [`Heartbeat`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeartbeatAnswer {
    /// The lease holds this long from when the heartbeat was sent.
    pub lease_s: f64,
    /// The submission was cancelled: kill the executor; no report is wanted.
    pub cancel: bool,
}

/// `POST /api/v1/worker/attempts/{id}/progress`: streamed to watchers. Answers 204.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProgressReport {
    /// From the claim.
    pub lease_token: LeaseToken,
    /// What the attempt is at.
    pub progress: Progress,
}

/// `POST /api/v1/worker/attempts/{id}/report`: ends the attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttemptReport {
    /// From the claim.
    pub lease_token: LeaseToken,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: AttemptOutcome,
}

/// How an attempt ended. Infrastructure faults and submission faults are told apart here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AttemptOutcome {
    /// A final verdict; written once.
    Report {
        /// Everything it found out.
        report: Box<Report>,
        /// The compiled code, where there is some; kept beside the report.
        #[serde(default)]
        code: Option<Box<CodeListing>>,
    },
    /// The worker's own fault; another attempt follows unless this was the last.
    Retry {
        /// For the operator's log.
        reason: String,
    },
    /// The worker drains and hands the judging back; the attempt is not counted.
    Release {
        /// For the operator's log.
        reason: String,
    },
}

/// Answer to [`AttemptReport`]. Sending the same report again gives the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReportAnswer {
    /// The judging's verdict, or `null` when it was queued again.
    pub verdict: Option<Verdict>,
}
