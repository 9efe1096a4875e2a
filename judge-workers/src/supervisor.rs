//! Registers, claims and runs one attempt after another until told to stop.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use domain::DeviceName;
use domain::report::{ProblemRef, ToolchainRef};
use problems::Package;
use protocol::worker::{Claim, ClaimRequest, Register, Registered};
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

/// Runs until `shutdown` resolves; the judging in hand is finished first.
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
    loop {
        let claim = tokio::select! {
            claim = worker.claim(&registered) => claim?,
            () = &mut shutdown => return Ok(()),
        };
        worker.attempt(*claim, &registered).await;
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
    /// loses no judging.
    async fn claim(&self, registered: &Registered) -> Result<Box<Claim>, WorkerError> {
        let mut failures = 0;
        let mut claim_id = Uuid::new_v4();
        loop {
            let body = ClaimRequest {
                worker_id: registered.worker_id,
                incarnation: registered.incarnation,
                claim_id,
                wait_s: registered.long_poll_s,
            };
            match self.client.claim(&body).await {
                Ok(answer) => match answer.claim {
                    Some(claim) => return Ok(claim),
                    None => {
                        failures = 0;
                        claim_id = Uuid::new_v4();
                    }
                },
                Err(error) => pause_or_stop(error, &mut failures).await?,
            }
        }
    }

    async fn attempt(&self, claim: Claim, registered: &Registered) {
        let key = (claim.problem.slug.clone(), claim.problem.version);
        let attempt = Attempt {
            client: self.client.clone(),
            package: self.packages.get(&key).cloned(),
            environment: self.settings.environment.clone(),
            master_seed: (self.settings.entropy)(),
            heartbeat_interval: seconds(registered.heartbeat_interval_s),
            progress_interval: seconds(registered.progress_interval_s),
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
            tokio::time::sleep(pause).await;
            Ok(())
        }
        ClientError::Superseded(_) => Err(WorkerError::Superseded),
        refused @ ClientError::Refused { .. } => Err(WorkerError::Refused(refused)),
    }
}
