//! `lightspeed __with-postgres -- command`: runs a command with `DATABASE_URL` at a cluster of its
//! own. For `./lightspeed test`; nothing of the cluster stays.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;

use clap::Args;
use local_postgres::Cluster;

use crate::failure::Failure;

/// Flags of `__with-postgres`.
#[derive(Debug, Args)]
pub(crate) struct WithPostgres {
    /// Apply the migrations first
    #[arg(long)]
    migrated: bool,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Ends with the command's own status. Ctrl-C reaches the command through the terminal; this
/// process waits for it, so that the cluster is taken down after it.
pub(crate) async fn run(arguments: WithPostgres) -> Result<u8, Failure> {
    let cluster = tokio::task::block_in_place(Cluster::temporary)?;
    if arguments.migrated {
        crate::service::migrate(&cluster.url()).await?;
    }
    let (program, rest) = arguments
        .command
        .split_first()
        .ok_or_else(|| Failure::usage("no command was given", "put it behind --"))?;
    let mut child = tokio::process::Command::new(program)
        .args(rest)
        .env("DATABASE_URL", cluster.url())
        .spawn()
        .map_err(|error| {
            let message = format!("cannot run {}: {error}", program.to_string_lossy());
            Failure::usage(message, "")
        })?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    let status = status.map_err(|error| Failure::unavailable(error.to_string(), ""))?;
    let by_signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(by_signal).unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}
