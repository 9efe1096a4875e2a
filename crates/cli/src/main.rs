//! The `lightspeed` command.
//!
//! `main` first looks whether this process was started as a sandboxed child; only then does it read
//! flags. Every verb lives in a file of its own under `verbs`, and ends with an exit status of the
//! contract or with a [`failure::Failure`], which is printed here and nowhere else.

mod answer;
mod arguments;
mod client;
mod credentials;
mod failure;
mod follow;
mod lanes;
mod listen;
mod listing_text;
mod local;
mod logging;
mod math_text;
mod parsing;
mod problem_text;
mod progress;
mod report_text;
mod run_lock;
mod service;
mod serving;
mod source_file;
mod stop;
mod suggest;
mod table;
mod target;
mod terminal;
mod values;
mod verbs;
mod worker_process;

use std::process::ExitCode;

use arguments::{CommandLine, Verb};
use client::Client;
use failure::Failure;
use parsing::{Parsed, Refused, parse};
use terminal::Terminal;

fn main() -> ExitCode {
    let role = std::env::args_os().nth(1);
    if let Some(role) = role.and_then(|role| role.into_string().ok())
        && judge::child::is_role(&role)
    {
        judge::child::run(&role);
    }
    let words: Vec<_> = std::env::args_os().collect();
    let Parsed { line, given } = match parse(words.clone()) {
        Ok(parsed) => parsed,
        Err(refused) => return refuse(&refused, parsing::asks_for_json(&words)),
    };
    let terminal = Terminal::new(&line.global);
    install_crypto();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            let failure = Failure::unavailable(error.to_string(), "");
            return fail(&failure, terminal.json);
        }
    };
    let ended = runtime.block_on(run(line, &given, terminal));
    // A thread that still waits for something (a download, standard input) must not hold the end up.
    runtime.shutdown_background();
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => fail(&failure, terminal.json),
    }
}

async fn run(line: CommandLine, given: &[String], terminal: Terminal) -> Result<u8, Failure> {
    let global = line.global;
    match line.verb {
        Verb::Up(arguments) => verbs::up::run(arguments, given, &global, terminal).await,
        Verb::Down(_) => verbs::down::run(&global, terminal).await,
        Verb::Status(_) => verbs::status::run(&global, terminal).await,
        Verb::Judge(arguments) => verbs::judge::run(arguments, &global, terminal).await,
        Verb::Submit(arguments) => {
            verbs::submit::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Watch(arguments) => {
            verbs::watch::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Code(arguments) => {
            verbs::code::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Cancel(arguments) => {
            verbs::cancel::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Submissions(arguments) => {
            verbs::submissions::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Leaderboard(arguments) => {
            verbs::leaderboard::run(arguments, &Client::new(&global)?, terminal).await
        }
        Verb::Problem(arguments) => verbs::problem::run(arguments, &global, terminal).await,
        Verb::Serve(arguments) => verbs::serve::run(arguments, given, terminal).await,
        Verb::Worker(arguments) => verbs::worker::run(arguments, &global, terminal).await,
        Verb::Devices(_) => verbs::devices::run(&Client::new(&global)?, terminal).await,
        Verb::Calibrate(arguments) => verbs::calibrate::run(arguments, &global, terminal).await,
        Verb::Measure(arguments) => verbs::measure::run(arguments, &global, terminal).await,
        Verb::Openapi => {
            terminal.print(&service::openapi());
            Ok(0)
        }
        Verb::Toolchain(arguments) => verbs::toolchain::run(&arguments, &global, terminal),
        Verb::WithPostgres(arguments) => verbs::with_postgres::run(arguments).await,
    }
}

/// Answers a command line that was not understood, or that asked for help.
fn refuse(refused: &Refused, json: bool) -> ExitCode {
    match refused {
        Refused::Answer(answer) => {
            let _ = answer.print(); // a closed pipe is no error
            ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2))
        }
        Refused::Words(words, failure) => {
            let _ = words.print();
            end(failure, json)
        }
        Refused::Sentence(failure) => fail(failure, json),
    }
}

/// Prints the one sentence and the way out.
fn fail(failure: &Failure, json: bool) -> ExitCode {
    if !matches!(failure, Failure::Interrupted) {
        let label = console::style("lightspeed:").red().bold().for_stderr();
        // It may quote a service, a package or a name that somebody else chose.
        eprintln!("{label} {}", answer::clean(&failure.to_string()));
        if let Some(hint) = failure.hint() {
            eprintln!("  {}", answer::clean(hint));
        }
    }
    end(failure, json)
}

/// The exit status; under `--json` with a document on stdout, in one line because some verbs print
/// lines before it.
fn end(failure: &Failure, json: bool) -> ExitCode {
    if json {
        terminal::print_line(&failure.document());
    }
    ExitCode::from(failure.exit_code())
}

/// Picks the TLS implementation for this process. Again is no error.
pub(crate) fn install_crypto() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
