//! The `lightspeed` command.
//!
//! `main` first looks whether this process was started as a sandboxed child; only then does it read
//! flags. Every verb lives in a file of its own under `verbs`, and ends with an exit status of the
//! contract or with a [`failure::Failure`], which is printed here and nowhere else.

mod arguments;
mod client;
mod credentials;
mod failure;
mod follow;
mod progress;
mod report_text;
mod source_file;
mod table;
mod terminal;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

use arguments::{CommandLine, Verb};
use client::Client;
use failure::Failure;
use terminal::Terminal;

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let terminal = Terminal::new(&line.global);
    install_crypto();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&Failure::unavailable(error.to_string(), "")),
    };
    match runtime.block_on(run(line, terminal)) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => fail(&failure),
    }
}

async fn run(line: CommandLine, terminal: Terminal) -> Result<u8, Failure> {
    let global = line.global;
    match line.verb {
        Verb::Submit(arguments) => {
            verbs::submit::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Watch(arguments) => {
            verbs::watch::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Leaderboard(arguments) => {
            verbs::leaderboard::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Devices(_) => verbs::devices::run(&Client::new(&global)?, terminal).await,
        Verb::WithPostgres(arguments) => verbs::with_postgres::run(arguments).await,
    }
}

/// Prints the one sentence and the way out.
fn fail(failure: &Failure) -> ExitCode {
    if !matches!(failure, Failure::Interrupted) {
        let label = console::style("lightspeed:").red().bold().for_stderr();
        eprintln!("{label} {failure}");
        if let Some(hint) = failure.hint() {
            eprintln!("  {hint}");
        }
    }
    ExitCode::from(failure.exit_code())
}

/// Picks the TLS implementation for this process. Again is no error.
pub(crate) fn install_crypto() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
