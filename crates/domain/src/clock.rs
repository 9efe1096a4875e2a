//! Time is injected, so that expiry and durations are tested without sleeping.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

/// A source of time. Production code takes one of these; clippy refuses the global clocks elsewhere.
pub trait Clock: Send + Sync {
    /// Wall-clock time, for stamps that people read.
    fn now(&self) -> DateTime<Utc>;
    /// Time since an arbitrary origin that never goes back, for durations.
    fn monotonic(&self) -> Duration;
}

/// The operating system's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // the one place that may read it
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }
}
