//! `lightspeed up`: the whole service on this machine, in the foreground.
//!
//! Order: claim of the state folder, compiler and database side by side, migrations, accounts, API,
//! worker. Ctrl-C, SIGTERM and a closed terminal take it down in the opposite order.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use clap::Args;
use domain::DeviceName;
use local_postgres::{Cluster, Options, Step};
use problems::Package;

use crate::arguments::Global;
use crate::credentials::Credentials;
use crate::failure::Failure;
use crate::listen::{listen, url};
use crate::local;
use crate::run_lock::{RunLock, Running};
use crate::service::{Service, Site, Whose};
use crate::serving::Serving;
use crate::stop::Stop;
use crate::terminal::{Terminal, bold, dim};
use crate::worker_process::WorkerProcess;

/// Time for open requests to end.
const CLOSING: Duration = Duration::from_secs(5);

/// Flags of `up`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed up
  lightspeed up --listen 0.0.0.0:80 --open
  lightspeed up --login-link            another login link for the service that runs")]
pub(crate) struct Up {
    #[command(flatten)]
    serving: Serving,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Print another login link for the service that runs, and leave
    #[arg(long)]
    login_link: bool,
    #[command(flatten)]
    judging: local::Judging,
}

/// Runs the service until it is told to stop.
pub(crate) async fn run(
    arguments: Up,
    given: &[String],
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    crate::logging::start_quietly();
    let web = arguments.serving.web_folder(given, terminal)?;
    let state = local::state_folder(global, terminal)?;
    let failed = |error: std::io::Error| {
        let message = format!("{}: {error}", state.display());
        Failure::unavailable(message, "choose another folder with --state")
    };
    let lock = match RunLock::take(&state).map_err(failed)? {
        Err(running) => {
            if let Some(text) = without_effect(given) {
                terminal.say(&text);
            }
            return another(&arguments, &running, &state, terminal).await;
        }
        Ok(_) if arguments.login_link => {
            return Err(Failure::unavailable(
                "no service runs on this state",
                "start one with `up`",
            ));
        }
        Ok(lock) => lock,
    };
    // Before minutes go into a database and a compiler.
    let packages = local::packages(&arguments.judging.problems, terminal)?;
    let (device, _) = local::found_device(&arguments.judging)?;
    let stop = Stop::by_signals()?;
    let up = Startup {
        arguments,
        state,
        web,
        packages,
        device,
        terminal,
    };
    up.run(lock, stop).await
}

/// What of the command line a service that runs already cannot heed.
fn without_effect(given: &[String]) -> Option<String> {
    const OF_THE_START: &[&str] = &[
        "--listen",
        "--web",
        "--device",
        "--gpu",
        "--problems",
        "--toolchain",
        "--allow-unconfined",
        "--database-url",
    ];
    let ignored: Vec<&str> = OF_THE_START
        .iter()
        .copied()
        .filter(|flag| given.iter().any(|given| given == flag))
        .collect();
    (!ignored.is_empty()).then(|| {
        format!(
            "a service runs already, so {} had no effect: stop it with `down`, then `up` again",
            ignored.join(" and ")
        )
    })
}

/// A service runs already: says where, with a fresh login link.
async fn another(
    arguments: &Up,
    running: &Running,
    state: &Path,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let Some(base) = &running.url else {
        let message = format!(
            "another `up` (process {}) is starting on this state",
            running.pid
        );
        return Err(Failure::unavailable(
            message,
            "wait for it, or stop it with `down`",
        ));
    };
    let (database_url, whose) = match &arguments.serving.database_url {
        Some(url) => (url.clone(), Whose::Given),
        None => {
            let options = Options {
                may_install: false,
                ..Options::default()
            };
            let cluster = tokio::task::block_in_place(|| Cluster::ensure(state, &options))?;
            (cluster.url(), Whose::Private)
        }
    };
    let service = Service::open(&database_url, whose).await?;
    let link = format!("{base}{}", service.login_path().await?);
    service.close().await;
    if !arguments.login_link {
        terminal.say(&format!(
            "already running at {base} (process {})",
            running.pid
        ));
    }
    announce_link(&link, arguments.open, terminal);
    Ok(0)
}

struct Startup {
    arguments: Up,
    state: PathBuf,
    web: Option<PathBuf>,
    packages: Vec<Package>,
    device: DeviceName,
    terminal: Terminal,
}

impl Startup {
    async fn run(self, mut lock: RunLock, stop: Stop) -> Result<u8, Failure> {
        let mut early = stop.clone();
        let cluster = tokio::select! {
            prepared = self.prepare() => prepared?,
            () = early.asked() => {
                let _ = tokio::task::block_in_place(|| Cluster::stop_at(&self.state));
                return Err(Failure::Interrupted);
            }
        };
        let (database_url, whose) = match (&cluster, &self.arguments.serving.database_url) {
            (Some(cluster), _) => (cluster.url(), Whose::Private),
            (None, url) => (url.clone().unwrap_or_default(), Whose::Given),
        };
        let served = self.serve(&database_url, whose, &mut lock, stop).await;
        if let Some(cluster) = cluster {
            tokio::task::block_in_place(|| cluster.stop())?;
        }
        served?;
        self.terminal.say("stopped");
        Ok(0)
    }

    /// The compiler and the database, side by side: on a first run each takes a while.
    async fn prepare(&self) -> Result<Option<Cluster>, Failure> {
        let (state, terminal) = (self.state.clone(), self.terminal);
        let private = self.arguments.serving.database_url.is_none();
        let database = tokio::task::spawn_blocking(move || {
            let on_step = |step| terminal.say(describe(step));
            let options = Options {
                on_step: &on_step,
                ..Options::default()
            };
            private
                .then(|| Cluster::ensure(&state, &options))
                .transpose()
        });
        let (state, judging) = (self.state.clone(), self.arguments.judging.clone());
        let compiler = tokio::task::spawn_blocking(move || {
            local::environment(&judging, &state, &mut |step| terminal.say(step))
        });
        let (database, compiler) = tokio::join!(database, compiler);
        let broken = |error: tokio::task::JoinError| Failure::unavailable(error.to_string(), "");
        let cluster = database.map_err(broken)??;
        match compiler.map_err(broken)? {
            Ok(_) => Ok(cluster),
            Err(failure) => {
                if let Some(cluster) = cluster {
                    let _ = tokio::task::block_in_place(|| cluster.stop());
                }
                Err(failure)
            }
        }
    }

    /// Everything between the database's start and its stop.
    async fn serve(
        &self,
        database_url: &str,
        whose: Whose,
        lock: &mut RunLock,
        mut stop: Stop,
    ) -> Result<(), Failure> {
        let device = self.device;
        let service = Service::open(database_url, whose).await?;
        let listener = listen(&self.arguments.serving.listen, self.terminal).await?;
        let address = listener
            .local_addr()
            .map_err(|e| Failure::unavailable(e.to_string(), ""))?;
        let base = url(address);
        let credentials = self.credentials(&service, &base).await?;
        let link = format!("{base}{}", service.login_path().await?);
        let (tell_api, api_stop) = Stop::by_hand();
        let site = Site {
            listener,
            public_url: base.clone(),
            packages: self.packages.clone(),
            web: self.web.clone(),
        };
        let mut api = tokio::spawn(service.clone().serve(site, api_stop));
        let worker = self.worker(&base, credentials.worker_key.unwrap_or_default(), device)?;
        let worker = tokio::spawn(worker.keep(stop.clone(), self.terminal));
        let _ = lock.say(Some(&base));
        self.announce(&base, &link, device);
        let early = tokio::select! {
            () = stop.asked() => None,
            ended = &mut api => Some(ended),
        };
        if early.is_none() {
            self.terminal.say("stopping (once more: at once)");
            // It finishes or hands back what it has while the API still answers.
            let _ = worker.await;
        } else {
            worker.abort();
        }
        let _ = tell_api.send(1);
        let ended = match early {
            Some(ended) => Some(ended),
            None => tokio::time::timeout(CLOSING, &mut api).await.ok(),
        };
        service.close().await;
        match ended {
            Some(Ok(outcome)) => outcome,
            Some(Err(error)) => Err(Failure::unavailable(error.to_string(), "")),
            // Streams that nobody ends are cut.
            None => Ok(()),
        }
    }

    /// Makes sure of the local user and worker, and leaves what the other verbs need.
    async fn credentials(&self, service: &Service, base: &str) -> Result<Credentials, Failure> {
        let stored = Credentials::read(&self.state).unwrap_or_default();
        let credentials = Credentials {
            url: Some(base.to_owned()),
            token: Some(service.user_token(stored.token.as_deref()).await?),
            worker_key: Some(service.worker_key(stored.worker_key.as_deref()).await?),
        };
        credentials.write(&self.state).map_err(|error| {
            let path = Credentials::path(&self.state);
            Failure::unavailable(format!("{}: {error}", path.display()), "")
        })?;
        Ok(credentials)
    }

    fn worker(
        &self,
        base: &str,
        key: String,
        device: DeviceName,
    ) -> Result<WorkerProcess, Failure> {
        let logs = self.state.join("log");
        std::fs::create_dir_all(&logs)
            .map_err(|error| Failure::unavailable(format!("{}: {error}", logs.display()), ""))?;
        let judging = &self.arguments.judging;
        Ok(WorkerProcess {
            url: base.to_owned(),
            key,
            state: self.state.clone(),
            problems: judging.problems.clone(),
            toolchain: judging.toolchain.clone(),
            device: device.to_string(),
            gpu: judging.gpu,
            allow_unconfined: judging.allow_unconfined,
            log: logs.join("worker.log"),
        })
    }

    fn announce(&self, base: &str, link: &str, device: DeviceName) {
        let facts = format!("device {device} · state {}", self.state.display());
        self.terminal
            .say(&format!("{} {}", bold("Lightspeed runs at"), bold(base)));
        self.terminal.say(&format!("  {}", dim(facts)));
        announce_link(link, self.arguments.open, self.terminal);
        self.terminal
            .say(&format!("  {}", dim("stop with Ctrl-C or `down`")));
    }
}

/// The one line of `up` that is a result: it goes to stdout.
fn announce_link(link: &str, open: bool, terminal: Terminal) {
    if terminal.json {
        terminal.print_json_line(&serde_json::json!({ "login_link": link }));
    } else {
        terminal.print(&format!("  log in (once, within 10 minutes): {link}"));
    }
    if open {
        open_in_browser(link, terminal);
    }
}

fn open_in_browser(link: &str, terminal: Terminal) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let failed = move |why: &str| {
        terminal.say(&format!(
            "  no browser could be opened ({opener} {why}): open the link by hand"
        ));
    };
    let started = std::process::Command::new(opener)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        return failed("is missing");
    };
    // It may stay as long as the browser does, so nobody waits for it.
    std::thread::spawn(move || {
        if child.wait().is_ok_and(|status| !status.success()) {
            failed("found none");
        }
    });
}

fn describe(step: Step) -> &'static str {
    match step {
        Step::Installing => "installing Postgres",
        Step::Initialising => "making a database cluster",
        Step::Starting => "starting Postgres",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_a_running_service_cannot_heed_are_named() {
        let given = ["--web", "--listen", "--open", "--json"].map(str::to_owned);
        assert_eq!(
            without_effect(&given).unwrap(),
            "a service runs already, so --listen and --web had no effect: \
             stop it with `down`, then `up` again"
        );
        assert_eq!(without_effect(&["--login-link".to_owned()]), None);
    }
}
