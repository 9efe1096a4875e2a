//! `lightspeed __measure`: experiments on how to measure, for tests/gpu/figures.sh.

use clap::Args;
use judge::Environment;
use judge::experiments::{self, ALL, Experiment, Table};
use serde::Serialize;

use crate::arguments::Global;
use crate::failure::Failure;
use crate::local;
use crate::terminal::Terminal;

/// Flags of `__measure`.
#[derive(Debug, Args)]
#[command(after_help = questions())]
pub(crate) struct Measure {
    /// Experiments by name [default: all]
    #[arg(value_name = "NAME", value_parser = names())]
    names: Vec<String>,
    /// Do not load CUPTI: spans are measured by events
    #[arg(long)]
    without_cupti: bool,
    /// Run in this process, unconfined, so that a profiler sees the kernels
    #[arg(long)]
    here: bool,
    #[command(flatten)]
    card: local::Card,
}

/// One experiment's outcome, for programs.
#[derive(Serialize)]
struct Outcome {
    name: &'static str,
    question: &'static str,
    table: Option<Table>,
    failed: Option<String>,
}

/// Runs the experiments one after the other; one that fails is told and ends no other.
pub(crate) async fn run(
    arguments: Measure,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let state = local::state_folder(global, terminal)?;
    let mut say = |step: &str| terminal.say(step);
    let mut environment = if arguments.here {
        arguments.card.environment_here(&state, &mut say)?
    } else {
        arguments.card.environment(&state, &mut say)?
    };
    if let Some(gpu) = environment.gpu.as_mut().filter(|_| arguments.without_cupti) {
        gpu.cupti = None;
    }
    let names = arguments.names;
    let is_wanted = move |e: &&Experiment| names.is_empty() || names.iter().any(|n| n == e.name);
    let mut outcomes = Vec::new();
    for experiment in ALL.iter().filter(is_wanted) {
        terminal.say(&format!("{}: {}", experiment.name, experiment.question));
        let outcome = perform(&environment, experiment, arguments.here).await;
        if !terminal.json {
            terminal.print(&markdown(&outcome));
        }
        outcomes.push(outcome);
    }
    let has_failed = outcomes.iter().any(|outcome| outcome.failed.is_some());
    if terminal.json {
        terminal.print_json(&outcomes);
    }
    Ok(u8::from(has_failed))
}

async fn perform(
    environment: &Environment,
    experiment: &'static Experiment,
    here: bool,
) -> Outcome {
    let environment = environment.clone();
    let measure = if here {
        experiments::measure_here
    } else {
        experiments::measure
    };
    // A thread of its own: a device belongs to one, and a child dies with the one that started it.
    let measured = tokio::task::spawn_blocking(move || measure(&environment, experiment.name));
    let measured = measured
        .await
        .unwrap_or_else(|error| Err(error.to_string()));
    let (table, failed) = match measured {
        Ok(table) => (Some(table), None),
        Err(why) => (None, Some(why)),
    };
    Outcome {
        name: experiment.name,
        question: experiment.question,
        table,
        failed,
    }
}

fn markdown(outcome: &Outcome) -> String {
    let mut text = format!("## {}\n\n{}\n\n", outcome.name, outcome.question);
    if let Some(table) = &outcome.table {
        text.push_str(&table.markdown());
    }
    if let Some(why) = &outcome.failed {
        text.push_str(&format!("FAILED: {why}\n"));
    }
    text.push('\n');
    text
}

fn names() -> clap::builder::PossibleValuesParser {
    ALL.iter()
        .map(|experiment| experiment.name)
        .collect::<Vec<_>>()
        .into()
}

/// What each experiment decides.
fn questions() -> String {
    let lines = ALL
        .iter()
        .map(|e| format!("  {:15} {}\n", e.name, e.question));
    format!(
        "Experiments:\n{}\nExample:\n  lightspeed __measure timers flush --json",
        lines.collect::<String>()
    )
}
