//! What every handler can reach.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use database::Database;
use database::wakeups::Wakeups;
use domain::Clock;
use problems::Package;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ConnectionLimits, LeaseSettings};

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct AppState {
    pub db: Database,
    pub wakeups: Wakeups,
    /// Cancelled when the process stops serving.
    pub stopping: CancellationToken,
    pub lease: LeaseSettings,
    pub connections: ConnectionLimits,
    fixed: Arc<Fixed>,
}

struct Fixed {
    packages: BTreeMap<String, Package>,
    web_dir: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    public_url: String,
}

impl AppState {
    pub fn new(config: Config) -> Self {
        let packages = config.packages.into_iter().map(|p| (p.slug.clone(), p));
        Self {
            wakeups: Wakeups::start(&config.database),
            db: config.database,
            stopping: CancellationToken::new(),
            lease: config.lease,
            connections: config.connections,
            fixed: Arc::new(Fixed {
                packages: packages.collect(),
                web_dir: config.web_dir,
                clock: config.clock,
                public_url: config.public_url,
            }),
        }
    }

    /// By slug.
    pub fn packages(&self) -> &BTreeMap<String, Package> {
        &self.fixed.packages
    }

    pub fn web_dir(&self) -> Option<&PathBuf> {
        self.fixed.web_dir.as_ref()
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.fixed.clock.now()
    }

    pub fn public_url(&self) -> &str {
        &self.fixed.public_url
    }
}
