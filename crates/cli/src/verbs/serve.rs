//! `lightspeed serve`: the API alone, on a database that others may share.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::listen::{listen, url};
use crate::local;
use crate::service::{Service, Site, Whose};
use crate::serving::Serving;
use crate::stop::Stop;
use crate::terminal::Terminal;

/// Flags of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  DATABASE_URL=postgres://lightspeed@db/lightspeed lightspeed serve --listen 0.0.0.0:8080")]
pub(crate) struct Serve {
    #[command(flatten)]
    serving: Serving,
    /// Where browsers reach the service, when that is not where it listens. Needed behind a proxy that
    /// speaks TLS: only pages of this origin may then act by the session cookie
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Folder of problem packages
    #[arg(
        long,
        env = "LIGHTSPEED_PROBLEMS",
        default_value = "problems",
        value_name = "DIR"
    )]
    problems: PathBuf,
}

/// Serves until told to stop.
pub(crate) async fn run(
    arguments: Serve,
    given: &[String],
    terminal: Terminal,
) -> Result<u8, Failure> {
    crate::logging::start();
    let web = arguments.serving.web_folder(given, terminal)?;
    let database_url = arguments.serving.database_url.ok_or_else(|| {
        let hint = "set DATABASE_URL, or use `up`, which runs a database of its own";
        Failure::usage("no database", hint)
    })?;
    let packages = local::packages(&arguments.problems, terminal)?;
    let stop = Stop::by_signals()?;
    let service = Service::open(&database_url, Whose::Given).await?;
    let listener = listen(&arguments.serving.listen, terminal).await?;
    let address = listener.local_addr();
    let address = address.map_err(|error| Failure::unavailable(error.to_string(), ""))?;
    terminal.say(&format!("serving at {}", url(address)));
    let site = Site {
        listener,
        public_url: arguments.public_url.unwrap_or_else(|| url(address)),
        packages,
        web,
    };
    let mut pressed = stop.clone();
    let outcome = tokio::select! {
        outcome = service.clone().serve(site, stop) => outcome,
        () = pressed.pressed() => Ok(()),
    };
    service.close().await;
    outcome.map(|()| 0)
}
