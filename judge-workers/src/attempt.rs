//! One attempt: judge in a blocking thread, keep the lease beside it, hand the report in.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::{AttemptId, Progress, Verdict};
use judge::{Environment, JudgeRequest, Judged};
use problems::Package;
use protocol::worker::{
    AttemptOutcome, AttemptReport, Claim, Heartbeat, LeaseToken, ProgressReport,
};
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};

use crate::client::{Client, ClientError};
use crate::lease::Lease;
use crate::lighter::lighten;

/// Between two tries of a call under the lease.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// A report that the API cannot take this many times, while it answers heartbeats, is dropped; the
/// lease then runs out and the judging is tried again.
const REPORT_TRIES: u32 = 20;

/// Everything one attempt needs.
pub(crate) struct Attempt {
    pub client: Client,
    pub claim: Claim,
    /// `None`: this worker does not have the claimed version.
    pub package: Option<Arc<Package>>,
    pub environment: Environment,
    pub master_seed: [u8; 32],
    pub heartbeat_interval: Duration,
    pub progress_interval: Duration,
    /// Set when the worker is to stop.
    pub drain: watch::Receiver<bool>,
    /// How long the judging may go on after that before it is handed back.
    pub drain_grace: Duration,
}

/// Why an attempt was given up without a report.
#[derive(Debug, PartialEq, Eq)]
enum GivenUp {
    /// The submission was cancelled; no report is wanted.
    Cancelled,
    /// The API gave the judging to somebody else.
    Superseded,
    /// The lease ran out while the API could not be reached.
    LeaseLost,
}

impl Attempt {
    /// Judges and reports. All failures end here: the lease covers whatever was not handed in.
    pub async fn run(mut self) {
        let judging = self.claim.judging_id;
        self.environment.cancel = Arc::new(AtomicBool::new(false));
        // A long poll may have eaten most of the claim's lease; start from a whole one.
        let lease = match self.first_lease().await {
            Ok(lease) => lease,
            Err(reason) => return tracing::warn!(%judging, ?reason, "attempt given up at once"),
        };
        match self.judge_under(lease).await {
            Ok((outcome, lease)) => self.hand_in(outcome, lease).await,
            Err(reason) => tracing::warn!(%judging, ?reason, "attempt given up"),
        }
    }

    async fn first_lease(&self) -> Result<Lease, GivenUp> {
        let mut lease = Lease::granted(self.now(), self.claim.lease_s);
        self.beat(&mut lease).await.map(|()| lease)
    }

    /// Runs the judging and keeps the lease. Returns when the judging is over in every case: its children are
    /// gone then, or, on a GPU, on their way out and the card not free before they are.
    async fn judge_under(&self, mut lease: Lease) -> Result<(AttemptOutcome, Lease), GivenUp> {
        let Some(package) = self.package.clone() else {
            let reason = "this worker does not have the claimed version of the problem".to_owned();
            return Ok((AttemptOutcome::Retry { reason }, lease));
        };
        let (progress_to, progress) = watch::channel(None);
        // Beside the judging, so that a slow call delays neither it nor a heartbeat. Ends with its
        // sender, which the judging drops.
        tokio::spawn(self.streamer().run(progress));
        let mut judged = self.start(package, progress_to);
        let mut drained = pin!(self.drained());

        let mut beats = interval_at(
            Instant::now() + self.heartbeat_interval,
            self.heartbeat_interval,
        );
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                outcome = &mut judged => {
                    return Ok((self.concluded(outcome), lease));
                }
                () = &mut drained => {
                    self.environment.cancel.store(true, Ordering::Relaxed);
                    // It may have ended just now; then its report counts.
                    let outcome = judged.await;
                    return Ok((self.handed_back(outcome), lease));
                }
                _ = beats.tick() => {
                    if let Err(reason) = self.beat(&mut lease).await {
                        self.environment.cancel.store(true, Ordering::Relaxed);
                        // Wait until the judging has let go of its children before anything else is claimed.
                        let _ = judged.await;
                        return Err(reason);
                    }
                }
            }
        }
    }

    fn start(
        &self,
        package: Arc<Package>,
        progress: watch::Sender<Option<Progress>>,
    ) -> tokio::task::JoinHandle<Judged> {
        let environment = self.environment.clone();
        let request = JudgeRequest {
            package,
            source: self.claim.source.clone(),
            device: self.claim.device,
            mode: self.claim.mode,
            queued: Duration::try_from_secs_f64(self.claim.queued_s).ok(),
            master_seed: self.master_seed,
        };
        tokio::task::spawn_blocking(move || {
            judge::judge_listing(&environment, &request, &mut |step| {
                progress.send_replace(Some(step));
            })
        })
    }

    /// Resolves when the worker is to stop and the judging has had its grace.
    async fn drained(&self) {
        let mut drain = self.drain.clone();
        if drain.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await; // nobody is left who could ask
        }
        sleep(self.drain_grace).await;
    }

    fn concluded(&self, outcome: Result<Judged, JoinError>) -> AttemptOutcome {
        match outcome {
            // A report that blames the judge is a worker's fault: another attempt may do better.
            Ok(Judged { report, .. }) if report.verdict == Verdict::JudgeError => {
                retry(report.message)
            }
            Ok(Judged { report, listing }) => AttemptOutcome::Report {
                report: Box::new(report),
                code: listing.map(Box::new),
            },
            Err(panic) => retry(format!("the judging panicked: {panic}")),
        }
    }

    /// What becomes of a judging that was stopped for the worker's sake: no attempt is counted.
    fn handed_back(&self, outcome: Result<Judged, JoinError>) -> AttemptOutcome {
        match outcome {
            Ok(judged) if judged.report.verdict == Verdict::Cancelled => AttemptOutcome::Release {
                reason: "the worker is shutting down".to_owned(),
            },
            outcome => self.concluded(outcome),
        }
    }

    /// One heartbeat; repeated while the API cannot be reached and the lease holds.
    async fn beat(&self, lease: &mut Lease) -> Result<(), GivenUp> {
        let body = Heartbeat {
            lease_token: self.claim.lease_token,
        };
        loop {
            let sent = self.now();
            match self.client.heartbeat(self.claim.attempt_id, &body).await {
                Ok(answer) if answer.cancel => return Err(GivenUp::Cancelled),
                Ok(answer) => {
                    *lease = Lease::granted(sent, answer.lease_s);
                    return Ok(());
                }
                Err(ClientError::Unreachable(reason)) => {
                    tracing::warn!(%reason, "heartbeat failed; trying again");
                    self.pause_within(*lease).await?;
                }
                Err(ClientError::Superseded(_) | ClientError::Refused { .. }) => {
                    return Err(GivenUp::Superseded);
                }
            }
        }
    }

    fn streamer(&self) -> Streamer {
        Streamer {
            client: self.client.clone(),
            attempt: self.claim.attempt_id,
            lease_token: self.claim.lease_token,
            interval: self.progress_interval,
        }
    }

    /// Hands the outcome in until it is taken, refused, or the lease is over. Between two tries the
    /// lease is renewed, so that an API which is away for a moment costs nothing.
    async fn hand_in(&self, outcome: AttemptOutcome, mut lease: Lease) {
        let judging = self.claim.judging_id;
        let mut body = AttemptReport {
            lease_token: self.claim.lease_token,
            outcome,
        };
        for _ in 0..REPORT_TRIES {
            match self.client.report(self.claim.attempt_id, &body).await {
                Ok(answer) => {
                    return tracing::info!(%judging, verdict = ?answer.verdict, "reported");
                }
                Err(ClientError::Unreachable(reason)) => {
                    tracing::warn!(%judging, %reason, "the report was not delivered; trying again");
                    let renewed = match self.pause_within(lease).await {
                        Ok(()) => self.beat(&mut lease).await,
                        Err(ended) => Err(ended),
                    };
                    if let Err(reason) = renewed {
                        return tracing::warn!(%judging, ?reason, "the report was not delivered");
                    }
                }
                Err(error) => {
                    tracing::warn!(%judging, %error, "the report was refused");
                    // Another attempt would come to the same size.
                    if error.is_of_size() && lighten(&mut body.outcome) {
                        continue;
                    }
                    // Not to be told at all would cost the judging the rest of its lease.
                    if matches!(body.outcome, AttemptOutcome::Report { .. }) {
                        body.outcome = AttemptOutcome::Retry {
                            reason: format!("the report was refused: {error}"),
                        };
                        continue;
                    }
                    return;
                }
            }
        }
        tracing::error!(%judging, "the report was not delivered; the lease will run out");
    }

    async fn pause_within(&self, lease: Lease) -> Result<(), GivenUp> {
        let left = lease.left(self.now());
        if left.is_zero() {
            return Err(GivenUp::LeaseLost);
        }
        sleep(RETRY_PAUSE.min(left)).await;
        Ok(())
    }

    fn now(&self) -> Duration {
        self.environment.clock.monotonic()
    }
}

/// Sends the latest progress, at most once an interval. A courtesy: failures are dropped.
struct Streamer {
    client: Client,
    attempt: AttemptId,
    lease_token: LeaseToken,
    interval: Duration,
}

impl Streamer {
    async fn run(self, mut progress: watch::Receiver<Option<Progress>>) {
        while progress.changed().await.is_ok() {
            let Some(progress) = *progress.borrow_and_update() else {
                continue;
            };
            let body = ProgressReport {
                lease_token: self.lease_token,
                progress,
            };
            if let Err(error) = self.client.progress(self.attempt, &body).await {
                tracing::debug!(%error, "progress was not delivered");
            }
            sleep(self.interval).await;
        }
    }
}

fn retry(reason: String) -> AttemptOutcome {
    AttemptOutcome::Retry { reason }
}
