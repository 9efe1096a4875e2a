//! `lightspeed judge`: judges a file on this machine, without a service.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use domain::{Mode, Report, Verdict};
use judge::JudgeRequest;

use crate::arguments::Global;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::terminal::Terminal;
use crate::{local, report_text, source_file};

/// Flags of `judge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed judge vector_add kernel.cu
  lightspeed judge ./my_problem kernel.cu --mode practice
  lightspeed judge vector_add - --device emulated --json < kernel.cu | jq .verdict")]
pub(crate) struct Judge {
    /// A problem's name, or the folder of a package
    problem: String,
    /// A CUDA C++ file; - is standard input
    file: PathBuf,
    /// ranked: what a board would judge; practice: public shapes, printed output too
    #[arg(long, default_value = "ranked", value_name = "ranked|practice")]
    mode: Mode,
    #[command(flatten)]
    judging: local::Judging,
}

/// Judges and prints the report. Ctrl-C ends the judging with the verdict `cancelled`.
pub(crate) async fn run(
    arguments: Judge,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let source = source_file::read(&arguments.file)?;
    let device = local::device(&arguments.judging.device)?;
    let package = local::package(&arguments.problem, &arguments.judging.problems)?;
    let state = local::state_folder(global, terminal)?;
    let mut ticker = Ticker::new(terminal);
    let environment = local::environment(&arguments.judging, &state, &mut |step| ticker.say(step))?;
    let request = JudgeRequest {
        package,
        source,
        device,
        mode: arguments.mode,
        queued: None,
        master_seed: local::fresh_seed(),
    };
    let cancel = environment.cancel.clone();
    let judging = tokio::task::spawn_blocking(move || {
        judge::judge(&environment, &request, &mut |progress| {
            ticker.step(progress);
        })
    });
    tokio::pin!(judging);
    let mut interrupted = false;
    let report = loop {
        tokio::select! {
            ended = &mut judging => break ended,
            _ = tokio::signal::ctrl_c() => {
                interrupted = true;
                cancel.store(true, Ordering::Relaxed);
            }
        }
    };
    let report = report.map_err(|error| Failure::unavailable(error.to_string(), ""))?;
    if interrupted && report.verdict == Verdict::Cancelled {
        return Err(Failure::Interrupted);
    }
    print(&report, &arguments.file.display().to_string(), terminal);
    Ok(report.verdict.exit_code())
}

fn print(report: &Report, file: &str, terminal: Terminal) {
    if terminal.json {
        terminal.print_json(report);
    } else {
        terminal.print(&report_text::render(report, file));
    }
}
