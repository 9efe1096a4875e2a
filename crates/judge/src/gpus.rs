//! Which GPUs this host has. Asked in a child: a driver that hangs or crashes takes only the child along.

use std::path::Path;
use std::time::Duration;

use device::{GpuInfo, Target};
use sandbox::ChildCommand;

use crate::child::PROBE_ROLE;
use crate::policy::driving;

/// Drivers take a second or two to wake up a card that nobody uses.
const WALL: Duration = Duration::from_secs(30);
const MAX_RESPONSE_BYTES: u64 = 1 << 20;

/// Every GPU that the driver shows, or why there is none to be seen. `program` is re-executed.
pub fn gpus(program: &Path, allow_unconfined: bool) -> Result<Vec<GpuInfo>, String> {
    let any = Target::Gpu {
        ordinal: 0,
        card: None,
        cupti: None,
    };
    let command = ChildCommand {
        program: program.to_owned(),
        role: PROBE_ROLE.to_owned(),
        policy: driving(&any, WALL, MAX_RESPONSE_BYTES, allow_unconfined),
    };
    let answer = command.run(b"null", &mut |_| {}, None);
    let answer = answer.map_err(|failure| failure.to_string())?;
    let reply: Result<Vec<GpuInfo>, String> =
        serde_json::from_slice(&answer.response).map_err(|e| e.to_string())?;
    reply
}
