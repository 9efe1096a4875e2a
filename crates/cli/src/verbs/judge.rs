//! `lightspeed judge`: judges files on this machine, without a service.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use domain::{Mode, Report, Verdict};
use judge::{Environment, JudgeRequest};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{local, report_text, source_file};

/// Flags of `judge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed judge vector_add kernel.cu
  lightspeed judge ./my_problem kernel.cu --mode practice
  lightspeed judge vector_add - --device emulated --json < kernel.cu | jq .verdict
  lightspeed judge matmul --batch --repeat 10 --json v1.cu v2.cu > reports.jsonl")]
pub(crate) struct Judge {
    /// A problem's name, or the folder of a package
    problem: String,
    /// A CUDA C++ file; - is standard input. Several with --batch
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// ranked: what a board would judge; practice: public shapes, printed output too
    #[arg(long, default_value = "ranked", value_name = "ranked|practice")]
    mode: Mode,
    /// Judge file after file and print a table; with --json one report a line
    #[arg(long)]
    batch: bool,
    /// Judge all files this many times
    #[arg(long, value_name = "N", default_value_t = 1, requires = "batch")]
    repeat: u32,
    /// Wait this long between two judgings
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.0,
        requires = "batch"
    )]
    pause_s: f64,
    #[command(flatten)]
    judging: local::Judging,
}

/// Judges and prints. Ctrl-C ends the judging with the verdict `cancelled`.
pub(crate) async fn run(
    arguments: Judge,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    if arguments.files.len() > 1 && !arguments.batch {
        return Err(Failure::usage(
            "one file is judged at a time",
            "judge several with --batch",
        ));
    }
    let sources = arguments.files.iter().map(|file| source_file::read(file));
    let sources = sources.collect::<Result<Vec<_>, _>>()?;
    let package = local::package(&arguments.problem, &arguments.judging.problems)?;
    let state = local::state_folder(global, terminal)?;
    let mut ticker = Ticker::new(terminal);
    let mut environment =
        local::environment(&arguments.judging, &state, &mut |step| ticker.say(step))?;
    let device = local::device(&arguments.judging, &mut environment, arguments.batch)?;
    let requests = sources.into_iter().map(|source| JudgeRequest {
        package: package.clone(),
        source,
        device,
        mode: arguments.mode,
        queued: None,
        master_seed: [0; 32],
    });
    let requests: Vec<_> = arguments.files.iter().zip(requests).collect();
    let mut batch = Batch::new(terminal);
    for round in 0..arguments.repeat {
        for (place, (file, request)) in requests.iter().enumerate() {
            if round > 0 || place > 0 {
                tokio::time::sleep(pause(arguments.pause_s)?).await;
            }
            let report = judge_one(&environment, request.clone(), &mut ticker).await?;
            if arguments.batch {
                batch.add(file, &report);
            } else {
                print(&report, file, terminal);
                return Ok(report.verdict.exit_code());
            }
        }
    }
    Ok(batch.finish())
}

async fn judge_one(
    environment: &Environment,
    mut request: JudgeRequest,
    ticker: &mut Ticker,
) -> Result<Report, Failure> {
    request.master_seed = local::fresh_seed();
    let environment = environment.clone();
    let cancel = environment.cancel.clone();
    let (steps, mut progress) = tokio::sync::mpsc::unbounded_channel();
    let mut judging = tokio::task::spawn_blocking(move || {
        judge::judge(&environment, &request, &mut |step| {
            let _ = steps.send(step); // nobody listens after an interrupt
        })
    });
    let mut interrupted = false;
    let report = loop {
        tokio::select! {
            ended = &mut judging => break ended,
            Some(step) = progress.recv() => ticker.step(step),
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
    Ok(report)
}

fn pause(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        Failure::usage(
            format!("--pause-s {seconds} is no time to wait"),
            "give seconds, 0 or more",
        )
    })
}

fn print(report: &Report, file: &Path, terminal: Terminal) {
    if terminal.json {
        terminal.print_json(report);
    } else {
        terminal.print(&report_text::render(report, &file.display().to_string()));
    }
}

/// What several judgings came to.
struct Batch {
    terminal: Terminal,
    table: Table,
    exit: u8,
}

impl Batch {
    fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            table: Table::new(&["file", "verdict", ">score", ">seconds"]),
            exit: 0,
        }
    }

    fn add(&mut self, file: &Path, report: &Report) {
        self.exit = self.exit.max(report.verdict.exit_code());
        if self.terminal.json {
            return self.terminal.print_json_line(report);
        }
        let score = report.score.as_ref().and_then(|score| score.value);
        self.table.row(vec![
            file.display().to_string(),
            report.verdict.to_string(),
            score.map_or_else(String::new, |value| format!("{value:.4}")),
            report
                .phases_s
                .total
                .map_or_else(String::new, |s| format!("{s:.2}")),
        ]);
    }

    /// Prints the table; the worst exit status of all.
    fn finish(self) -> u8 {
        if !self.terminal.json {
            self.terminal.print(&self.table.render());
        }
        self.exit
    }
}
