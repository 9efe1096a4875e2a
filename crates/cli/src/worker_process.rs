//! The worker that `up` keeps alive: a process of its own, so that nothing a judging does can take
//! the service down, started again whenever it ends.
//!
//! It hangs on a pipe: when this process is gone, however that came, the worker reads the end of its
//! standard input, finishes the judging in hand and stops.

use std::fs::File;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::process::{Child, ChildStdin, Command};

use crate::failure::Failure;
use crate::stop::Stop;
use crate::terminal::Terminal;

/// Waits before another start: at once, then longer with every early end.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A worker that lived this long was no early end.
const LONG_LIFE: Duration = Duration::from_secs(60);
/// Time to finish the judging in hand.
const DRAIN: Duration = Duration::from_secs(20);

/// How to start the worker.
#[derive(Clone, Debug)]
pub(crate) struct WorkerProcess {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) state: PathBuf,
    pub(crate) problems: PathBuf,
    pub(crate) toolchain: Option<PathBuf>,
    pub(crate) device: String,
    /// The one GPU to judge on; `None`: all of the device's model.
    pub(crate) gpu: Option<u32>,
    pub(crate) allow_unconfined: bool,
    pub(crate) log: PathBuf,
}

impl WorkerProcess {
    /// Keeps one worker running until told to stop, then lets it finish.
    pub(crate) async fn keep(self, mut stop: Stop, terminal: Terminal) {
        let mut early_ends = 0;
        while !stop.told() {
            let begun = Instant::now();
            let mut child = match self.spawn() {
                Ok(child) => child,
                Err(failure) => {
                    terminal.say(&format!("the worker does not start: {failure}"));
                    early_ends += 1;
                    wait(early_ends, &mut stop).await;
                    continue;
                }
            };
            // `wait` would close it, and with it tell the worker to stop.
            let pipe = child.stdin.take();
            tokio::select! {
                status = child.wait() => {
                    early_ends = if begun.elapsed() < LONG_LIFE { early_ends + 1 } else { 0 };
                    terminal.say(&format!(
                        "the worker ended ({}); starting another (log: {})",
                        describe(status),
                        self.log.display()
                    ));
                    wait(early_ends, &mut stop).await;
                }
                () = stop.asked() => drain(child, pipe, &mut stop).await,
            }
        }
    }

    fn spawn(&self) -> Result<Child, Failure> {
        let failed = |error: std::io::Error| Failure::unavailable(error.to_string(), "");
        let program = std::env::current_exe().map_err(failed)?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .map_err(failed)?;
        let mut command = Command::new(program);
        command
            .args(["worker", "--until-stdin-ends", "--name", "local", "--quiet"])
            .args(["--device", &self.device])
            .arg("--state")
            .arg(&self.state)
            .arg("--problems")
            .arg(&self.problems)
            .env("LIGHTSPEED_URL", &self.url)
            .env("LIGHTSPEED_WORKER_KEY", &self.key)
            // Only the API holds these.
            .env_remove("DATABASE_URL")
            .env_remove("LIGHTSPEED_TOKEN")
            .stdin(Stdio::piped())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .process_group(0);
        if let Some(toolchain) = &self.toolchain {
            command.arg("--toolchain").arg(toolchain);
        }
        if let Some(number) = self.gpu {
            command.arg("--gpu").arg(number.to_string());
        }
        if self.allow_unconfined {
            command.arg("--allow-unconfined");
        }
        command.spawn().map_err(failed)
    }
}

/// Ends the pipe, waits for the judging in hand, and kills what takes too long.
async fn drain(mut child: Child, pipe: Option<ChildStdin>, stop: &mut Stop) {
    drop(pipe);
    tokio::select! {
        _ = child.wait() => return,
        () = stop.pressed() => {}
        () = tokio::time::sleep(DRAIN) => {}
    }
    let _ = child.kill().await;
}

async fn wait(early_ends: u32, stop: &mut Stop) {
    let _ = tokio::time::timeout(pause(early_ends), stop.asked()).await;
}

fn pause(early_ends: u32) -> Duration {
    FIRST_WAIT
        .saturating_mul(1 << early_ends.saturating_sub(1).min(16))
        .min(LONGEST_WAIT)
}

fn describe(status: std::io::Result<ExitStatus>) -> String {
    status.map_or_else(|error| error.to_string(), |status| status.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_keeps_dying_is_started_ever_later() {
        assert_eq!(pause(0), FIRST_WAIT);
        assert_eq!(pause(1), FIRST_WAIT);
        assert_eq!(pause(3), FIRST_WAIT * 4);
        assert_eq!(pause(60), LONGEST_WAIT);
    }
}
