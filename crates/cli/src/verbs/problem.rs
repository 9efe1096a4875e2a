//! `lightspeed problem`: the problems of a service, and the proof of a package.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::Verdict;
use judge::verify::{Row, Verification, verify};
use protocol::problem::ProblemList;
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::Global;
use crate::client::Client;
use crate::failure::Failure;
use crate::problem_text::{self, Told};
use crate::progress::Ticker;
use crate::report_text::{duration, ratio};
use crate::table::Table;
use crate::terminal::{self, Terminal, bold, dim};
use crate::verbs::devices::offered;
use crate::{local, service};

/// Flags of `problem`.
#[derive(Debug, Args)]
pub(crate) struct Problem {
    #[command(subcommand)]
    what: What,
}

/// Where the packages here are.
#[derive(Debug, Args)]
struct Packages {
    /// Folder of problem packages, read where no service runs and no --url names one
    #[arg(
        long,
        env = "LIGHTSPEED_PROBLEMS",
        default_value = "problems",
        value_name = "DIR"
    )]
    problems: PathBuf,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the problems of the service, or of the packages here where none runs
    #[command(after_help = "Examples:
  lightspeed problem list
  lightspeed problem list --json | jq -r '.problems[].slug'")]
    List {
        #[command(flatten)]
        packages: Packages,
    },
    /// Show a problem of the service, or of the packages here where none runs
    #[command(after_help = "Example:\n  lightspeed problem show vector_add")]
    Show {
        /// The problem
        slug: String,
        #[command(flatten)]
        packages: Packages,
    },
    /// Judge every solution of a package here and hold it to its promise
    #[command(after_help = "Examples:
  lightspeed problem verify vector_add
  lightspeed problem verify ./my_problem --device emulated --json")]
    Verify {
        /// A problem's name, or the folder of a package
        problem: String,
        #[command(flatten)]
        judging: local::Judging,
    },
}

/// Does what the words say.
pub(crate) async fn run(
    arguments: Problem,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    match arguments.what {
        What::List { packages } => list(&packages, global, terminal).await,
        What::Show { slug, packages } => show(&slug, &packages, global, terminal).await,
        What::Verify { problem, judging } => {
            tokio::task::block_in_place(|| proof(&problem, &judging, global, terminal))
        }
    }
}

async fn list(packages: &Packages, global: &Global, terminal: Terminal) -> Result<u8, Failure> {
    let client = Client::new(global)?;
    match client.problems().await {
        Ok(list) if terminal.json => terminal.print_json(&list),
        Ok(list) => {
            let devices = client.devices().await?.devices;
            let offered = offered(&devices);
            terminal.print(&problem_text::list(&list, &Told::ByService(&offered)));
        }
        Err(failure) => {
            packages.instead_of(failure, global, terminal)?;
            let packages = local::packages(&packages.problems, terminal)?;
            let problems = packages.iter().map(service::problem_summary).collect();
            let list = ProblemList { problems };
            if terminal.json {
                terminal.print_json(&without_solvers(&list));
            } else {
                terminal.print(&problem_text::list(&list, &Told::ByPackages));
            }
        }
    }
    Ok(0)
}

async fn show(
    slug: &str,
    packages: &Packages,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let (problem, document) = match Client::new(global)?.problem(slug).await {
        Ok(problem) => {
            let document = json!(problem);
            (problem, document)
        }
        Err(failure) => {
            packages.instead_of(failure, global, terminal)?;
            let package = local::package(slug, &packages.problems)?;
            let problem = service::problem_detail(&package);
            let document = without_solvers(&problem);
            (problem, document)
        }
    };
    if terminal.json {
        terminal.print_json(&document);
    } else {
        terminal.print(&problem_text::detail(&problem));
    }
    Ok(0)
}

impl Packages {
    /// Whether the packages here are read because of this failure: only where no service answers, and
    /// nobody asked for a certain one. It is said, since they may differ from what a service has.
    fn instead_of(
        &self,
        failure: Failure,
        global: &Global,
        terminal: Terminal,
    ) -> Result<(), Failure> {
        let nobody = matches!(failure, Failure::Unavailable(_)) && failure.api_code().is_none();
        if global.url.is_some() || !nobody {
            return Err(failure);
        }
        terminal.say(&format!(
            "{failure}; reading the packages of {} instead",
            self.problems.display()
        ));
        Ok(())
    }
}

/// As a service would answer, but for who solved it, which no package tells.
fn without_solvers<T: Serialize>(document: &T) -> Value {
    let mut document = json!(document);
    let lone = document.get("solvers").is_some();
    let rows = match document.get_mut("problems").and_then(Value::as_array_mut) {
        Some(rows) => rows.iter_mut().collect(),
        None if lone => vec![&mut document],
        None => Vec::new(),
    };
    for row in rows {
        row["solvers"] = Value::Null;
    }
    document
}

/// Judges every file of the package. A broken promise is status 1, a fault of the judge 3.
fn proof(
    problem: &str,
    judging: &local::Judging,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let package = local::package(problem, &judging.problems)?;
    let state = local::state_folder(global, terminal)?;
    let mut ticker = Ticker::new(terminal);
    let mut environment = local::environment(judging, &state, &mut |step| ticker.say(step))?;
    let device = local::device(judging, &mut environment, true)?;
    let mut on_row = |row: &Row| ticker.say(&format!("{}: {}", row.file, row.verdict));
    let seed = local::fresh_seed();
    let verification = verify(&environment, &package, device, seed, &mut on_row);
    ticker.finish();
    if terminal.json {
        terminal.print_json(&verification);
    } else {
        terminal.print(&render(&verification));
    }
    let faulty = |row: &Row| !row.kept && row.verdict == Verdict::JudgeError;
    Ok(match verification.passed() {
        true => 0,
        false if verification.rows.iter().any(faulty) => 3,
        false => 1,
    })
}

fn render(verification: &Verification) -> String {
    let kept = verification.rows.iter().filter(|row| row.kept).count();
    let title = format!("{} v{}", verification.problem, verification.version);
    let sum = format!(
        "{kept} of {} kept, on {}",
        verification.rows.len(),
        verification.device
    );
    let mut text = format!("{}  {}\n", bold(title), dim(sum));
    let mut table = Table::new(&["", "file", "expected", "verdict", "kind", ">score", ">time"]);
    for row in &verification.rows {
        let mark = if row.kept {
            console::style("ok").green()
        } else {
            console::style("BROKEN").red()
        };
        table.row(vec![
            mark.to_string(),
            row.file.clone(),
            row.expected.clone(),
            terminal::verdict(row.verdict).to_string(),
            row.kind.map(|k| k.to_string()).unwrap_or_default(),
            row.score.map(ratio).unwrap_or_default(),
            row.total_s.map(duration).unwrap_or_default(),
        ]);
    }
    text.push_str(&table.render());
    for row in verification.rows.iter().filter(|row| !row.kept) {
        text.push_str(&format!("  {}: {}\n", bold(&row.file), row.message));
    }
    text
}
