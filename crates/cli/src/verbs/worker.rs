//! `lightspeed worker`: the daemon that judges for a service.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use judge::{Environment, GpuInfo};
use judge_workers::{Settings, WorkerError};
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::Global;
use crate::client::DEFAULT_URL;
use crate::credentials::Credentials;
use crate::failure::Failure;
use crate::lanes::{self, Ended};
use crate::terminal::Terminal;
use crate::{local, values};

/// Flags of `worker`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed worker --url https://judge.example.org --key lsw_...
  LIGHTSPEED_WORKER_KEY=lsw_... lightspeed worker --name gpu7-0 --device emulated")]
pub(crate) struct Worker {
    /// The worker's key, lsw_... [default: the local worker's]
    #[arg(long, env = "LIGHTSPEED_WORKER_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Unique among the workers that share the key [default: the host's name]. On a host with several
    /// GPUs each has a worker, named NAME/gpu0 and so on
    #[arg(long)]
    name: Option<String>,
    /// Told to stop, go on with the judging in hand for this long, then hand it back [default: 15]
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    drain_grace_s: Option<Duration>,
    /// Stop when standard input ends: the process that started it is gone
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
    #[command(flatten)]
    judging: local::Judging,
}

/// Works until it is told to stop; the judging in hand is then finished or handed back.
pub(crate) async fn run(
    arguments: Worker,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    crate::logging::start();
    // First of all: what is told while it starts counts, too.
    let told = told_to_stop(arguments.until_stdin_ends)?;
    let state = local::state_folder(global, terminal)?;
    let stored = Credentials::read(&state).unwrap_or_default();
    let url = global.url.clone().or(stored.url);
    let key = arguments.key.or(stored.worker_key).ok_or_else(|| {
        let hint = "give one with --key or LIGHTSPEED_WORKER_KEY; `up` makes the local worker's";
        Failure::usage("no worker key", hint)
    })?;
    let packages = local::packages(&arguments.judging.problems, terminal)?;
    let environment =
        local::environment(&arguments.judging, &state, &mut |step| terminal.say(step))?;
    let (device, gpus) = local::found_devices(&arguments.judging)?;
    let name = arguments.name.unwrap_or_else(host_name);
    let settings = Settings {
        url: url.unwrap_or_else(|| DEFAULT_URL.to_owned()),
        key,
        name: name.clone(),
        devices: vec![device],
        packages: packages.into_iter().map(Arc::new).collect(),
        environment: environment.clone(),
        entropy: Arc::new(local::fresh_seed),
        drain_grace: arguments
            .drain_grace_s
            .unwrap_or(judge_workers::DRAIN_GRACE),
    };
    let is_alone = gpus.len() < 2 && arguments.judging.gpu.is_none();
    let of_gpu = |gpu: GpuInfo| {
        let name = lanes::name(&name, gpu.ordinal, is_alone);
        let lane = local::lane(&environment, device, gpu, true);
        lane.prepare();
        let environment = Environment {
            lane: Some(lane),
            ..environment.clone()
        };
        Settings {
            name,
            environment,
            ..settings.clone()
        }
    };
    let lanes: Vec<Settings> = match gpus.is_empty() {
        true => vec![settings],
        false => gpus.into_iter().map(of_gpu).collect(),
    };
    let run = |settings, stop| judge_workers::run(settings, stop);
    lanes::run(lanes, run, told)
        .await
        .map_err(|ended| match ended {
            Ended::Failed(error) => why(&error),
            Ended::Panicked(message) => Failure::unavailable(message, ""),
        })?;
    Ok(0)
}

fn why(error: &WorkerError) -> Failure {
    let message = local::with_causes(error);
    match error {
        WorkerError::Refused(_) => Failure::usage(
            message,
            "check the key and that service and worker are of the same version",
        ),
        WorkerError::Superseded => {
            Failure::unavailable(message, "give each worker a --name of its own")
        }
    }
}

/// Ctrl-C, SIGTERM, or the end of standard input where that was asked for.
fn told_to_stop(until_stdin_ends: bool) -> Result<impl Future<Output = ()>, Failure> {
    let failed = |error: std::io::Error| Failure::unavailable(error.to_string(), "");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let pipe_ends = stdin_ends(until_stdin_ends);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = pipe_ends => {}
        }
    })
}

/// Resolves at the end of standard input; never, where that was not asked for. A thread of its own
/// reads, because a read cannot be called off.
async fn stdin_ends(asked: bool) {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    if !asked {
        return std::future::pending().await;
    }
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        drop(tell);
    });
    let _ = told.await;
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "worker".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_help_tells_the_grace_that_holds() {
        let command = crate::arguments::CommandLine::command();
        let worker = command.find_subcommand("worker").unwrap();
        let help = worker.clone().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let grace = format!("[default: {}]", judge_workers::DRAIN_GRACE.as_secs());
        assert!(help.contains(&grace), "{help}");
    }
}
