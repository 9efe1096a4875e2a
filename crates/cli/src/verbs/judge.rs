//! `lightspeed judge`: judges files on this machine, without a service.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use domain::{Mode, Report, Verdict};
use judge::{Environment, JudgeRequest};
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{local, report_text, source_file, values};

/// Flags of `judge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed judge vector_add kernel.cu
  lightspeed judge ./my_problem kernel.cu --mode practice
  lightspeed judge vector_add - --device emulated --json < kernel.cu | jq .verdict
  lightspeed judge matmul kernel.cu --keep-code code && less code/code.sass
  lightspeed judge matmul --batch --repeat 10 --json v1.cu v2.cu > reports.jsonl")]
pub(crate) struct Judge {
    /// A problem's name, or the folder of a package
    problem: String,
    /// A CUDA C++ file; - is standard input. Several with --batch
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// ranked: what a board would judge; practice: public shapes, printed output too
    #[arg(long, default_value = "ranked", value_name = "ranked|practice", value_parser = values::mode)]
    mode: Mode,
    /// Judge file after file and print a table; with --json one report a line, with its `file` and its `round` (from 1)
    #[arg(long)]
    batch: bool,
    /// Judge all files this many times
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "batch",
        value_parser = values::whole(1..=u32::MAX)
    )]
    repeat: u32,
    /// Wait this long between two judgings
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "0",
        requires = "batch",
        value_parser = values::seconds
    )]
    pause_s: Duration,
    /// Write the compiled code into this folder: code.ptx, code.cubin and, where nvdisasm or cuobjdump is
    /// found, code.sass, each line under the line of the file that it was made from
    #[arg(long, value_name = "DIR", conflicts_with = "batch")]
    keep_code: Option<PathBuf>,
    #[command(flatten)]
    judging: local::Judging,
}

/// Judges and prints. Ctrl-C ends the judging; a batch then prints what it has.
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
    if let Some(folder) = &arguments.keep_code {
        std::fs::create_dir_all(folder).map_err(|error| {
            let message = format!("cannot make the folder {}: {error}", folder.display());
            Failure::usage(message, "name a folder that you may write with --keep-code")
        })?;
        environment.keep_code = Some(folder.clone());
    }
    let interrupt = signal(SignalKind::interrupt())
        .map_err(|error| Failure::unavailable(error.to_string(), ""))?;
    let requests = sources.into_iter().map(|source| JudgeRequest {
        package: package.clone(),
        source,
        device,
        mode: arguments.mode,
        queued: None,
        master_seed: [0; 32],
    });
    let bench = Bench {
        environment,
        ticker,
        interrupt,
    };
    let mut requests: Vec<_> = arguments.files.iter().zip(requests).collect();
    match requests.pop() {
        Some((file, request)) if !arguments.batch => one(bench, file, request, terminal).await,
        last => {
            requests.extend(last);
            several(bench, &arguments, &requests, terminal).await
        }
    }
}

async fn one(
    mut bench: Bench,
    file: &Path,
    request: JudgeRequest,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let (report, interrupted) = bench.judge(request).await?;
    if interrupted && report.verdict == Verdict::Cancelled {
        return Err(Failure::Interrupted);
    }
    bench.ticker.finish();
    print(&report, file, terminal);
    bench.settle().await;
    Ok(report.verdict.exit_code())
}

/// Round after round, file after file. Ctrl-C ends it with what there is.
async fn several(
    mut bench: Bench,
    arguments: &Judge,
    requests: &[(&PathBuf, JudgeRequest)],
    terminal: Terminal,
) -> Result<u8, Failure> {
    let mut batch = Batch::new(terminal);
    let rounds = (1..=arguments.repeat)
        .flat_map(|round| requests.iter().map(move |request| (round, request)));
    let mut interrupted = false;
    for (place, (round, (file, request))) in rounds.enumerate() {
        interrupted = place > 0 && bench.pause(arguments.pause_s).await;
        if interrupted {
            break;
        }
        bench.ticker.about(&label(file, round, arguments.repeat));
        let (report, ended) = bench.judge(request.clone()).await?;
        // One that was ended has come to nothing.
        if !(ended && report.verdict == Verdict::Cancelled) {
            batch.add(file, round, &report);
            bench.ticker.say(report.verdict.as_str());
        }
        interrupted = ended;
        if interrupted {
            break;
        }
    }
    bench.ticker.finish();
    let exit = batch.finish();
    bench.settle().await;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    Ok(exit)
}

/// `v1.cu`, or `v1.cu, round 2 of 10`.
fn label(file: &Path, round: u32, rounds: u32) -> String {
    match rounds {
        1 => file.display().to_string(),
        _ => format!("{}, round {round} of {rounds}", file.display()),
    }
}

/// Where judgings run, one at a time.
struct Bench {
    environment: Environment,
    ticker: Ticker,
    interrupt: Signal,
}

impl Bench {
    /// Leaves a GPU as free as it was found.
    async fn settle(self) {
        if let Some(lane) = self.environment.lane {
            let _ = tokio::task::spawn_blocking(move || lane.settle()).await;
        }
    }

    /// Waits. Says whether Ctrl-C was pressed meanwhile.
    async fn pause(&mut self, pause: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(pause) => false,
            _ = self.interrupt.recv() => true,
        }
    }

    /// The report, and whether Ctrl-C was pressed meanwhile.
    async fn judge(&mut self, mut request: JudgeRequest) -> Result<(Report, bool), Failure> {
        request.master_seed = local::fresh_seed();
        let environment = self.environment.clone();
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
                Some(step) = progress.recv() => self.ticker.step(step),
                _ = self.interrupt.recv() => {
                    interrupted = true;
                    cancel.store(true, Ordering::Relaxed);
                }
            }
        };
        let report = report.map_err(|error| Failure::unavailable(error.to_string(), ""))?;
        Ok((report, interrupted))
    }
}

fn print(report: &Report, file: &Path, terminal: Terminal) {
    if terminal.json {
        terminal.print_json(report);
    } else {
        terminal.print(&report_text::render(report, &file.display().to_string()));
    }
}

/// One line of a batch: the report, and which of the judgings it is of.
#[derive(Debug, Serialize)]
struct BatchLine<'a> {
    /// The path as given; `-` is standard input.
    file: String,
    /// Which repetition, from 1.
    round: u32,
    #[serde(flatten)]
    report: &'a Report,
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

    fn add(&mut self, file: &Path, round: u32, report: &Report) {
        self.exit = self.exit.max(report.verdict.exit_code());
        if self.terminal.json {
            return self.terminal.print_json_line(&BatchLine {
                file: file.display().to_string(),
                round,
                report,
            });
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
