//! `lightspeed problem`: the problems of a service, and the proof of a package.

use clap::{Args, Subcommand};
use domain::Verdict;
use judge::verify::{Row, Verification, verify};
use protocol::problem::{ProblemDetail, ProblemKind, ProblemList};
use protocol::routes;

use crate::arguments::Global;
use crate::client::Client;
use crate::failure::Failure;
use crate::local;
use crate::progress::Ticker;
use crate::report_text::{duration, ratio};
use crate::table::Table;
use crate::terminal::{self, Terminal, bold, dim};

/// Flags of `problem`.
#[derive(Debug, Args)]
pub(crate) struct Problem {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the problems of the service
    #[command(after_help = "Example:\n  lightspeed problem list --json | jq -r '.problems[].slug'")]
    List,
    /// Show a problem of the service
    #[command(after_help = "Example:\n  lightspeed problem show vector_add")]
    Show {
        /// The problem
        slug: String,
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
        What::List => list(&Client::new(global)?, terminal).await,
        What::Show { slug } => show(&slug, &Client::new(global)?, terminal).await,
        What::Verify { problem, judging } => {
            tokio::task::block_in_place(|| proof(&problem, &judging, global, terminal))
        }
    }
}

async fn list(client: &Client, terminal: Terminal) -> Result<u8, Failure> {
    let list: ProblemList = client.get(routes::PROBLEMS).await?;
    if terminal.json {
        terminal.print_json(&list);
        return Ok(0);
    }
    let mut table = Table::new(&[
        "problem",
        "title",
        "kind",
        "difficulty",
        ">solvers",
        "devices",
    ]);
    for problem in &list.problems {
        let kind = match problem.kind {
            ProblemKind::Lesson => "lesson",
            ProblemKind::Workload => "workload",
        };
        let devices: Vec<&str> = problem.devices.iter().map(|d| d.as_str()).collect();
        table.row(vec![
            problem.slug.clone(),
            problem.title.en.clone(),
            kind.to_owned(),
            problem.difficulty.clone(),
            problem.solvers.to_string(),
            devices.join(" "),
        ]);
    }
    terminal.print(&table.render());
    Ok(0)
}

async fn show(slug: &str, client: &Client, terminal: Terminal) -> Result<u8, Failure> {
    let problem: ProblemDetail = client.get(&routes::problem(slug)).await?;
    if terminal.json {
        terminal.print_json(&problem);
        return Ok(0);
    }
    let title = &problem.summary.title.en;
    let version = format!("{} v{}", problem.summary.slug, problem.summary.version);
    let mut text = format!(
        "{}  {}\n\n  {}\n\n",
        bold(title),
        dim(version),
        problem.declaration
    );
    text.push_str(problem.statement.en.trim());
    text.push_str("\n\n");
    let mut table = Table::new(&["stratum", "stands for", ">weight", "public shape"]);
    for stratum in &problem.strata {
        let axes: Vec<String> = stratum
            .axes
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        table.row(vec![
            stratum.id.clone(),
            stratum.label.clone(),
            ratio(stratum.w),
            axes.join(" "),
        ]);
    }
    text.push_str(&table.render());
    terminal.print(&text);
    Ok(0)
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
