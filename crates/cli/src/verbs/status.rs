//! `lightspeed status`: what runs on this state.

use clap::Args;
use local_postgres::{Cluster, Status as ClusterStatus};
use serde::Serialize;

use crate::arguments::Global;
use crate::client::Client;
use crate::failure::Failure;
use crate::run_lock::holder;
use crate::terminal::Terminal;

/// Flags of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lightspeed status --json | jq .url")]
pub(crate) struct Status {}

#[derive(Debug, Serialize)]
struct Document {
    state: String,
    running: bool,
    pid: Option<u32>,
    url: Option<String>,
    postgres_pid: Option<i32>,
    live_workers: Option<u64>,
}

/// Prints it. Status 3 when no service runs, so that scripts can ask.
pub(crate) async fn run(global: &Global, terminal: Terminal) -> Result<u8, Failure> {
    let document = look(global).await;
    if terminal.json {
        terminal.print_json(&document);
    } else {
        terminal.print(&render(&document));
    }
    Ok(if document.running { 0 } else { 3 })
}

async fn look(global: &Global) -> Document {
    let states = local_postgres::state_folder::candidates(&global.state);
    let held = states
        .iter()
        .find_map(|state| Some((state, holder(state)?)));
    let state = held.as_ref().map(|(state, _)| *state).or_else(|| {
        states
            .iter()
            .find(|state| Cluster::status_at(state) != ClusterStatus::Absent)
    });
    let state = state.or(states.first()).cloned().unwrap_or_default();
    let running = held.map(|(_, running)| running);
    let postgres_pid = match Cluster::status_at(&state) {
        ClusterStatus::Running { pid } => Some(pid),
        ClusterStatus::Stopped | ClusterStatus::Absent => None,
    };
    let url = running.as_ref().and_then(|running| running.url.clone());
    let live_workers = match &url {
        Some(url) => workers(url).await,
        None => None,
    };
    Document {
        state: state.display().to_string(),
        running: running.is_some(),
        pid: running.map(|running| running.pid),
        url,
        postgres_pid,
        live_workers,
    }
}

async fn workers(url: &str) -> Option<u64> {
    let client = Client::with(url, None).ok()?;
    let list = client.devices().await.ok()?;
    Some(list.devices.iter().map(|device| device.live_workers).sum())
}

fn render(document: &Document) -> String {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let service = match (document.running, document.url.is_some()) {
        (true, true) => format!("running (process {})", document.pid.unwrap_or(0)),
        (true, false) => format!("starting (process {})", document.pid.unwrap_or(0)),
        (false, _) => "not running".to_owned(),
    };
    let postgres = document
        .postgres_pid
        .map(|pid| format!("running (process {pid})"));
    format!(
        "service   {service}\nurl       {}\nworkers   {}\npostgres  {}\nstate     {}\n",
        or_none(document.url.clone()),
        or_none(document.live_workers.map(|n| n.to_string())),
        postgres.unwrap_or_else(|| "not running".to_owned()),
        document.state
    )
}
