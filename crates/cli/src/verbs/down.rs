//! `lightspeed down`: stops what `up` started on this state.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use local_postgres::{Cluster, Status};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::arguments::Global;
use crate::failure::Failure;
use crate::run_lock::holder;
use crate::terminal::Terminal;

/// Patience with a service that finishes what it has.
const TURNS: u32 = 600;
const TURN: Duration = Duration::from_millis(100);

/// Flags of `down`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lightspeed down")]
pub(crate) struct Down {}

/// Tells the service to stop and waits for it; then makes sure of the database.
pub(crate) async fn run(global: &Global, terminal: Terminal) -> Result<u8, Failure> {
    let mut found = false;
    for state in local_postgres::state_folder::candidates(&global.state) {
        found |= stop_service(&state).await?;
        if matches!(Cluster::status_at(&state), Status::Running { .. }) {
            found = true;
            tokio::task::block_in_place(|| Cluster::stop_at(&state))?;
        }
    }
    terminal.say(if found {
        "stopped"
    } else {
        "nothing runs on this state"
    });
    Ok(0)
}

async fn stop_service(state: &Path) -> Result<bool, Failure> {
    let Some(running) = holder(state) else {
        return Ok(false);
    };
    let pid = i32::try_from(running.pid).ok().filter(|&pid| pid > 1);
    let told = pid.is_some_and(|pid| kill(Pid::from_raw(pid), Signal::SIGTERM).is_ok());
    if !told {
        let message = format!("process {} cannot be told to stop", running.pid);
        return Err(Failure::unavailable(message, "is it another user's?"));
    }
    for _ in 0..TURNS {
        if holder(state).is_none() {
            return Ok(true);
        }
        tokio::time::sleep(TURN).await;
    }
    let message = format!("process {} does not stop", running.pid);
    Err(Failure::unavailable(
        message,
        format!("end it with `kill -9 {}`", running.pid),
    ))
}
