//! How much of a folder of public answers the judge takes as they are, and whether devices agree on them.
//!
//! Every `.cu` file is judged in the real sandboxed children, for a problem made up from the signature of its
//! own `solve`: tensors of 1 MiB, integers of 512, then 64, 16 and 5 where that faults. Whether an answer is
//! right is no question here. One JSON line a file goes to the standard output, or to a file; a summary
//! follows. A record of what the answers computed can be compared with another device's, which is to judge
//! them at the same sizes.
//!
//! ```text
//! cargo run --release -p judge --example survey -- FOLDER --toolchain DIR [--lines FILE] [--only WORD]
//! survey FOLDER --record emulated.jsonl
//! survey FOLDER --device h200 --like emulated.jsonl --record h200.jsonl --jobs 8
//! survey --compare emulated.jsonl h200.jsonl
//! ```

mod compare;
mod devices;
mod outcome;
mod problem;
mod record;
mod summary;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use clap::Parser;
use domain::{DeviceName, Mode, Signature, Source};
use judge::{Environment, JudgeRequest};

use compare::Comparison;
use devices::Jobs;
use outcome::{Line, Stage};
use record::Record;
use summary::Summary;

#[derive(Parser)]
struct Arguments {
    /// Folder with `.cu` files
    #[arg(required_unless_present = "compare")]
    folder: Option<PathBuf>,
    /// A ready folder with the CUDA compiler
    #[arg(
        long,
        env = "LIGHTSPEED_TOOLCHAIN",
        required_unless_present = "compare"
    )]
    toolchain: Option<PathBuf>,
    /// Where the lines go instead of the standard output
    #[arg(long)]
    lines: Option<PathBuf>,
    /// Only files whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Where they are judged
    #[arg(long, default_value = "emulated")]
    device: DeviceName,
    /// How many are judged at once
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Where to write what each of them computed
    #[arg(long)]
    record: Option<PathBuf>,
    /// Values of the integers; the first that runs without a fault counts
    #[arg(long, value_delimiter = ',', default_values_t = [512, 64, 16, 5])]
    sizes: Vec<i64>,
    /// A record: only files that ran there, at the sizes that they ran at
    #[arg(long, conflicts_with = "sizes")]
    like: Option<PathBuf>,
    /// Two records to compare
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    compare: Option<Vec<PathBuf>>,
}

fn main() {
    let mut words = std::env::args().skip(1);
    if let Some(role) = words.next().filter(|word| judge::child::is_role(word)) {
        judge::child::run(&role);
    }
    let arguments = Arguments::parse();
    let done = match arguments.compare.as_deref() {
        Some([a, b]) => Comparison::of(a, b).map(|comparison| print!("{comparison}")),
        _ => survey(&arguments),
    };
    if let Err(message) = done {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

/// A file that is to be judged.
struct Case {
    path: PathBuf,
    name: String,
    sizes: Vec<i64>,
}

fn survey(arguments: &Arguments) -> Result<(), String> {
    let given = "clap asks for it";
    let toolchain = arguments.toolchain.as_deref().expect(given);
    let cases = cases(arguments, arguments.folder.as_deref().expect(given))?;
    let count = arguments.jobs.clamp(1, cases.len().max(1));
    let jobs = Jobs::new(toolchain, arguments.device, count)?;
    let mut lines =
        writer(arguments.lines.as_deref())?.unwrap_or_else(|| Box::new(std::io::stdout()));
    let mut records = writer(arguments.record.as_deref())?;
    let mut summary = Summary::default();
    let (next, (send, judged)) = (&AtomicUsize::new(0), channel());
    std::thread::scope(|scope| {
        for environment in &jobs.environments {
            let (send, cases) = (send.clone(), &cases);
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if send.send(one(environment, arguments.device, case)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (line, record) in judged {
            put(&mut lines, &line)?;
            if let Some(records) = &mut records {
                put(records, &record?)?;
            }
            summary.add(line);
        }
        Ok::<(), String>(())
    })?;
    eprint!("{summary}");
    Ok(())
}

fn writer(path: Option<&Path>) -> Result<Option<Box<dyn Write>>, String> {
    let Some(path) = path else {
        return Ok(None);
    };
    let file = std::fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Some(Box::new(file)))
}

fn put(out: &mut dyn Write, line: &impl serde::Serialize) -> Result<(), String> {
    let text = serde_json::to_string(line).map_err(|e| e.to_string())?;
    writeln!(out, "{text}").map_err(|e| e.to_string())
}

fn cases(arguments: &Arguments, folder: &Path) -> Result<Vec<Case>, String> {
    let earlier = arguments.like.as_deref().map(record::read).transpose()?;
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut cases: Vec<_> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "cu"))
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            let wanted = arguments
                .only
                .as_ref()
                .is_none_or(|word| name.contains(word));
            let sizes = match &earlier {
                None => arguments.sizes.clone(),
                Some(earlier) => {
                    let record = earlier.get(&name).filter(|record| record.ran)?;
                    vec![record.size?]
                }
            };
            wanted.then_some(())?;
            Some(Case { path, name, sizes })
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// The best of what a file came to over the sizes, and what it computed there.
fn one(
    environment: &Environment,
    device: DeviceName,
    case: &Case,
) -> (Line, Result<Record, String>) {
    let folder = environment.keep_outputs.as_deref();
    let folder = folder.expect("jobs keep outputs");
    let (line, signature) = judged(environment, device, case);
    let record = Record::new(&line, signature.as_ref(), folder);
    (line, record)
}

fn judged(environment: &Environment, device: DeviceName, case: &Case) -> (Line, Option<Signature>) {
    let name = &case.name;
    let source = std::fs::read(&case.path)
        .map_err(|e| e.to_string())
        .and_then(|bytes| Source::from_bytes(bytes).map_err(|e| e.to_string()));
    let source = match source {
        Ok(source) => source,
        Err(message) => return (Line::unread(name, message), None),
    };
    let signature = match launch_plan::entry_signature(source.as_str()) {
        Ok(signature) => signature,
        Err(failure) => return (Line::without_signature(name, &failure), None),
    };
    let mut best: Option<Line> = None;
    for &size in &case.sizes {
        let request = JudgeRequest {
            package: Arc::new(problem::package(&signature, size)),
            source: source.clone(),
            device,
            mode: Mode::Practice,
            queued: None,
            master_seed: [0; 32],
        };
        let report = judge::judge(environment, &request, &mut |_| {});
        let planned = problem::plans(&source, &signature, size);
        let line = Line::judged(name, &signature, size, report, planned);
        let ends = line.settled();
        if best.as_ref().is_none_or(|best| line.stage > best.stage) {
            best = Some(line);
        }
        if ends || best.as_ref().is_some_and(|line| line.stage == Stage::Ran) {
            break;
        }
    }
    (best.expect("there is a size"), Some(signature))
}
