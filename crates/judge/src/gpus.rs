//! Which GPUs this host has. Asked in a child: a driver that hangs or crashes takes only the child along.

use std::path::Path;
use std::time::Duration;

use device::{GpuInfo, Target, access};
use sandbox::{ChildCommand, Policy};

use crate::child::PROBE_ROLE;

/// Drivers take a second or two to wake up a card that nobody uses.
const WALL: Duration = Duration::from_secs(30);

/// Every GPU that the driver shows, or why there is none to be seen. `program` is re-executed.
pub fn gpus(program: &Path, allow_unconfined: bool) -> Result<Vec<GpuInfo>, String> {
    let access = access(&Target::Gpu {
        ordinal: 0,
        card: None,
        cupti: None,
    });
    let command = ChildCommand {
        program: program.to_owned(),
        role: PROBE_ROLE.to_owned(),
        policy: Policy {
            readable: access.readable,
            loadable: access.loadable,
            writable: access.writable,
            local_listener: access.local_listener,
            environment: access.environment,
            cpu_s: WALL.as_secs(),
            wall: WALL,
            memory_bytes: None,
            max_response_bytes: 1 << 20,
            allow_unconfined,
        },
    };
    let answer = command.run(b"null", &mut |_| {}, None);
    let answer = answer.map_err(|failure| failure.to_string())?;
    let reply: Result<Vec<GpuInfo>, String> =
        serde_json::from_slice(&answer.response).map_err(|e| e.to_string())?;
    reply
}
