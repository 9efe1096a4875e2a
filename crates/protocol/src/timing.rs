//! The one table of timeouts. Their order is what makes a lost answer harmless, so a test holds it.

use std::time::Duration;

/// A heartbeat call is given up after this long.
pub const HEARTBEAT_CALL: Duration = Duration::from_secs(5);
/// A heartbeat is sent this often.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);
/// A lease holds this long after its last heartbeat.
pub const LEASE: Duration = Duration::from_secs(30);
/// A worker that cannot reach the API kills its executor this long before its own lease end.
pub const LEASE_MARGIN: Duration = Duration::from_secs(5);
/// A claim waits at most this long for work.
pub const LONG_POLL: Duration = Duration::from_secs(25);
/// Any HTTP call but a stream is given up after this long.
pub const HTTP_CLIENT: Duration = Duration::from_secs(35);
/// Proxies in front of the API must wait at least this long.
pub const PROXY: Duration = Duration::from_secs(60);
/// Least time between two progress calls of an attempt: 5 a second.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// How often an API process looks for expired leases.
pub const EXPIRY_INTERVAL: Duration = Duration::from_secs(5);
/// How long a login code may be used.
pub const LOGIN_CODE: Duration = Duration::from_mins(10);
/// How long a session lasts.
pub const SESSION: Duration = Duration::from_hours(30 * 24);
/// Attempts at a judging before it ends as `judge_error`.
pub const MAX_ATTEMPTS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timeout_is_shorter_than_what_depends_on_it() {
        assert!(HEARTBEAT_CALL < HEARTBEAT_INTERVAL);
        assert!(HEARTBEAT_INTERVAL * 2 + HEARTBEAT_CALL + LEASE_MARGIN <= LEASE);
        assert!(LONG_POLL < HTTP_CLIENT);
        assert!(HTTP_CLIENT < PROXY);
        assert!(EXPIRY_INTERVAL < LEASE);
    }
}
