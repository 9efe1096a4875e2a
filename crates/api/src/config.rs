//! What a process that serves the API must be told.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use database::Database;
use database::queue::LeasePolicy;
use domain::Clock;
use problems::Package;
use protocol::timing;

/// Everything [`crate::serve`] needs.
pub struct Config {
    /// Migrated.
    pub database: Database,
    /// Every problem on offer, one version a slug.
    pub packages: Vec<Package>,
    /// The built page; without it `/` says how to build it.
    pub web_dir: Option<PathBuf>,
    /// How leases behave.
    pub lease: LeaseSettings,
    /// What a client may take of the connections.
    pub connections: ConnectionLimits,
    /// Stamps ids; leases go by the clock of the database.
    pub clock: Arc<dyn Clock>,
    /// Where browsers reach the service, e.g. `http://127.0.0.1:8080`. Behind a proxy that speaks
    /// TLS it must be set to what the proxy is called by: with `https` the session cookie is sent over
    /// TLS only, and pages of that very origin alone may change anything by it.
    pub public_url: String,
}

/// What a client may take of the connections. Shorter times are for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at a time. Each costs a file descriptor, of which processes often have 1024.
    pub connections: usize,
    /// From the start of a connection, or the end of a call on it, to the next call's last header.
    pub header_read: Duration,
    /// From the end of the headers to the end of the body.
    pub body_read: Duration,
    /// A client that reads nothing for this long while there is something to read is gone.
    pub write_stall: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 512,
            header_read: Duration::from_secs(30),
            body_read: Duration::from_mins(1),
            write_stall: Duration::from_secs(30),
        }
    }
}

/// How leases behave. Shorter ones are for tests; keep the order of [`protocol::timing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseSettings {
    /// A lease holds this long.
    pub duration: Duration,
    /// Workers are told to send a heartbeat this often.
    pub heartbeat_interval: Duration,
    /// Longest wait of a claim.
    pub long_poll: Duration,
    /// How often this process looks for lapsed leases.
    pub expiry_interval: Duration,
    /// Attempts lost to faults before a judging ends as `judge_error`.
    pub max_attempts: u32,
}

impl Default for LeaseSettings {
    fn default() -> Self {
        Self {
            duration: timing::LEASE,
            heartbeat_interval: timing::HEARTBEAT_INTERVAL,
            long_poll: timing::LONG_POLL,
            expiry_interval: timing::EXPIRY_INTERVAL,
            max_attempts: timing::MAX_ATTEMPTS,
        }
    }
}

impl LeaseSettings {
    pub(crate) fn policy(&self) -> LeasePolicy {
        LeasePolicy {
            duration: self.duration,
            max_faults: self.max_attempts,
        }
    }
}
