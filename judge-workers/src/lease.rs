//! A worker's own idea of its lease, on its own monotonic clock.
//!
//! It is always shorter than the API's: the clock starts when a request is *sent*, and a margin is
//! taken off, so that an executor is dead before anybody else may start on the judging.

use std::time::Duration;

use protocol::timing::LEASE_MARGIN;

/// Until when this process may act on a judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    ends: Duration,
}

impl Lease {
    /// The lease granted by an answer to a request sent at `sent` on the monotonic clock.
    pub fn granted(sent: Duration, lease_s: f64) -> Self {
        let length = Duration::try_from_secs_f64(lease_s).unwrap_or_default();
        // Short leases (tests) keep a margin in proportion.
        let margin = LEASE_MARGIN.min(length / 6);
        Self {
            ends: sent + length - margin,
        }
    }

    /// Time left at `now`; zero once it must be given up.
    pub fn left(self, now: Duration) -> Duration {
        self.ends.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: Duration = Duration::from_secs(100);

    #[test]
    fn a_lease_ends_five_seconds_early_counted_from_sending() {
        let lease = Lease::granted(SENT, 30.0);
        assert_eq!(lease.left(SENT), Duration::from_secs(25));
        assert_eq!(
            lease.left(SENT + Duration::from_secs(24)),
            Duration::from_secs(1)
        );
        assert_eq!(lease.left(SENT + Duration::from_secs(26)), Duration::ZERO);
    }

    #[test]
    fn a_short_lease_keeps_a_margin_of_a_sixth() {
        assert_eq!(
            Lease::granted(SENT, 3.0).left(SENT),
            Duration::from_millis(2500)
        );
    }

    #[test]
    fn nonsense_grants_nothing() {
        assert_eq!(Lease::granted(SENT, -1.0).left(SENT), Duration::ZERO);
        assert_eq!(Lease::granted(SENT, f64::NAN).left(SENT), Duration::ZERO);
    }
}
