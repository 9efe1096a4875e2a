//! What a child that drives a device may do.

use std::time::Duration;

use device::Target;
use sandbox::Policy;

/// What the driver of a target needs, and nothing else. `wall` bounds processor time, too, for one busy
/// thread; who admits more threads, or bounds memory, says so.
pub(crate) fn driving(
    target: &Target,
    wall: Duration,
    max_response_bytes: u64,
    allow_unconfined: bool,
) -> Policy {
    let access = device::access(target);
    Policy {
        readable: access.readable,
        loadable: access.loadable,
        writable: access.writable,
        program: None,
        local_listener: access.local_listener,
        environment: access.environment,
        cpu_s: wall.as_secs(),
        wall,
        memory_bytes: None,
        max_response_bytes,
        allow_unconfined,
    }
}
