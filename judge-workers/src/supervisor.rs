//! Registers, claims and runs one attempt after another until told to stop.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use domain::DeviceName;
use domain::report::{ProblemRef, ToolchainRef};
use problems::Package;
use protocol::worker::{AttemptOutcome, AttemptReport, Claim, ClaimRequest, Register, Registered};
use tokio::sync::watch;
use tokio::time::sleep;
use uuid::Uuid;

use crate::attempt::Attempt;
use crate::client::{Client, ClientError};

/// Pauses after failed calls, growing to the last.
const BACKOFF: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
];

/// Questions after a claim that was cut short, and the pause between two.
const SETTLE_TRIES: u32 = 3;
const SETTLE_PAUSE: Duration = Duration::from_millis(100);

/// How long a judging in hand may go on once the worker is to stop. Shorter than what process
/// managers wait before they kill, so that handing it back still succeeds.
pub const DRAIN_GRACE: Duration = Duration::from_secs(15);

/// What a worker is started with.
#[derive(Clone)]
pub struct Settings {
    /// Base URL of the API.
    pub url: String,
    /// Worker key (`lsw_...`).
    pub key: String,
    /// Unique among the processes that share the key.
    pub name: String,
    /// Devices it judges on.
    pub devices: Vec<DeviceName>,
    /// Packages it has.
    pub packages: Vec<Arc<Package>>,
    /// Surroundings of every judging.
    pub environment: judge::Environment,
    /// Source of master seeds.
    pub entropy: Arc<dyn Fn() -> [u8; 32] + Send + Sync>,
    /// See [`DRAIN_GRACE`].
    pub drain_grace: Duration,
}

/// Why the worker ended on its own.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The API refused this worker.
    #[error(transparent)]
    Refused(ClientError),
    /// A newer process has taken this worker's name.
    #[error("another process registered as this worker; only one may use the name")]
    Superseded,
}

/// Runs until `shutdown` resolves. The judging in hand is then finished, or handed back when that
/// takes longer than the grace; neither costs it an attempt.
pub async fn run(
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), WorkerError> {
    let mut shutdown = pin!(shutdown);
    let worker = Worker::new(settings)?;
    let registered = tokio::select! {
        registered = worker.register() => registered?,
        () = &mut shutdown => return Ok(()),
    };
    tracing::info!(worker = %registered.worker_id, incarnation = registered.incarnation, "registered");
    let (drain, draining) = watch::channel(false);
    loop {
        let claim_id = Uuid::new_v4();
        let claim = tokio::select! {
            claim = worker.claim(&registered, claim_id) => claim?,
            () = &mut shutdown => {
                worker.settle(&registered, claim_id).await;
                return Ok(());
            }
        };
        let Some(claim) = claim else { continue };
        let mut attempt = pin!(worker.attempt(*claim, &registered, draining.clone()));
        tokio::select! {
            () = &mut attempt => {}
            () = &mut shutdown => {
                drain.send_replace(true);
                attempt.await;
                return Ok(());
            }
        }
    }
}

struct Worker {
    settings: Settings,
    client: Client,
    packages: BTreeMap<(String, u32), Arc<Package>>,
}

impl Worker {
    fn new(settings: Settings) -> Result<Self, WorkerError> {
        let client = Client::new(&settings.url, &settings.key).map_err(WorkerError::Refused)?;
        let packages = settings
            .packages
            .iter()
            .map(|package| ((package.slug.clone(), package.version), Arc::clone(package)))
            .collect();
        Ok(Self {
            settings,
            client,
            packages,
        })
    }

    async fn register(&self) -> Result<Registered, WorkerError> {
        let problems = self.packages.keys().cloned();
        let body = Register {
            name: self.settings.name.clone(),
            devices: self.settings.devices.clone(),
            problems: problems
                .map(|(slug, version)| ProblemRef { slug, version })
                .collect(),
            toolchain: ToolchainRef {
                nvrtc: judge::NVRTC_VERSION.to_owned(),
                cupti: None,
                options: Vec::new(),
            },
        };
        let mut failures = 0;
        loop {
            match self.client.register(&body).await {
                Ok(registered) => return Ok(registered),
                Err(error) => pause_or_stop(error, &mut failures).await?,
            }
        }
    }

    /// Waits for work. The same claim id is repeated until an answer is read, so that a lost answer
    /// loses no judging. `None`: there was no work for as long as a call may wait.
    async fn claim(
        &self,
        registered: &Registered,
        claim_id: Uuid,
    ) -> Result<Option<Box<Claim>>, WorkerError> {
        let mut failures = 0;
        loop {
            let body = Self::claim_request(registered, claim_id, registered.long_poll_s);
            match self.client.claim(&body).await {
                Ok(answer) => return Ok(answer.claim),
                Err(error) => pause_or_stop(error, &mut failures).await?,
            }
        }
    }

    /// Hands back what a claim cut short by shutdown may have been granted, known by its id. The API may be
    /// granting it at this very moment, so that it is asked some times.
    async fn settle(&self, registered: &Registered, claim_id: Uuid) {
        let body = Self::claim_request(registered, claim_id, 0.0);
        for _ in 0..SETTLE_TRIES {
            match self.client.claim(&body).await {
                Ok(answer) => match answer.claim {
                    Some(claim) => return self.hand_back(*claim).await,
                    None => sleep(SETTLE_PAUSE).await,
                },
                Err(error) => return tracing::debug!(%error, "the last claim was not settled"),
            }
        }
    }

    async fn hand_back(&self, claim: Claim) {
        let report = AttemptReport {
            lease_token: claim.lease_token,
            outcome: AttemptOutcome::Release {
                reason: "the worker is shutting down".to_owned(),
            },
        };
        if let Err(error) = self.client.report(claim.attempt_id, &report).await {
            tracing::warn!(judging = %claim.judging_id, %error, "a claim was not handed back");
        }
    }

    fn claim_request(registered: &Registered, claim_id: Uuid, wait_s: f64) -> ClaimRequest {
        ClaimRequest {
            worker_id: registered.worker_id,
            incarnation: registered.incarnation,
            claim_id,
            wait_s,
        }
    }

    async fn attempt(&self, claim: Claim, registered: &Registered, drain: watch::Receiver<bool>) {
        let key = (claim.problem.slug.clone(), claim.problem.version);
        let attempt = Attempt {
            client: self.client.clone(),
            package: self.packages.get(&key).cloned(),
            environment: self.settings.environment.clone(),
            master_seed: (self.settings.entropy)(),
            heartbeat_interval: seconds(registered.heartbeat_interval_s),
            progress_interval: seconds(registered.progress_interval_s),
            drain,
            drain_grace: self.settings.drain_grace,
            claim,
        };
        attempt.run().await;
    }
}

fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s).unwrap_or(Duration::from_secs(1))
}

async fn pause_or_stop(error: ClientError, failures: &mut usize) -> Result<(), WorkerError> {
    match error {
        ClientError::Unreachable(reason) => {
            let pause = BACKOFF[(*failures).min(BACKOFF.len() - 1)];
            tracing::warn!(%reason, ?pause, "the API does not answer; trying again");
            *failures += 1;
            sleep(pause).await;
            Ok(())
        }
        ClientError::Superseded(_) => Err(WorkerError::Superseded),
        refused @ ClientError::Refused { .. } => Err(WorkerError::Refused(refused)),
    }
}
