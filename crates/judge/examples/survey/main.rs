//! How much of a folder of public answers the judge takes as they are.
//!
//! Every `.cu` file is judged in the real sandboxed children on the emulated device, for a problem made up
//! from the signature of its own `solve`: tensors of 1 MiB, integers of 512, then 64, 16 and 5 where that
//! faults. The outputs are not looked at: whether an answer is right is no question here. One JSON line a
//! file goes to the standard output, or to a file; a summary follows.
//!
//! ```text
//! cargo run --release -p judge --example survey -- FOLDER --toolchain DIR [--lines FILE] [--only WORD]
//! ```

mod outcome;
mod problem;
mod summary;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use domain::{DeviceName, Mode, Source, SystemClock};
use judge::{Environment, JudgeRequest, Toolchain};

use outcome::{Line, Stage};
use summary::Summary;

/// Values of the integers, the first that runs without a fault counts.
const SIZES: [i64; 4] = [512, 64, 16, 5];

#[derive(Parser)]
struct Arguments {
    /// Folder with `.cu` files
    folder: PathBuf,
    /// A ready folder with the CUDA compiler
    #[arg(long, env = "LIGHTSPEED_TOOLCHAIN")]
    toolchain: PathBuf,
    /// Where the lines go instead of the standard output
    #[arg(long)]
    lines: Option<PathBuf>,
    /// Only files whose name contains this
    #[arg(long)]
    only: Option<String>,
}

fn main() {
    let mut words = std::env::args().skip(1);
    if let Some(role) = words.next().filter(|word| judge::child::is_role(word)) {
        judge::child::run(&role);
    }
    if let Err(message) = survey(&Arguments::parse()) {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

fn survey(arguments: &Arguments) -> Result<(), String> {
    let toolchain = Toolchain::open(&arguments.toolchain).map_err(|e| e.to_string())?;
    let clock = Arc::new(SystemClock::default());
    let mut environment = Environment::new(toolchain, clock).map_err(|e| e.to_string())?;
    let cache = tempfile::tempdir().map_err(|e| e.to_string())?;
    environment.cache = Some(cache.path().to_owned());
    let mut out: Box<dyn std::io::Write> = match &arguments.lines {
        Some(file) => Box::new(std::fs::File::create(file).map_err(|e| e.to_string())?),
        None => Box::new(std::io::stdout()),
    };
    let mut summary = Summary::default();
    for file in files(&arguments.folder)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if arguments
            .only
            .as_ref()
            .is_some_and(|word| !name.contains(word.as_str()))
        {
            continue;
        }
        let line = one(&environment, &file, &name);
        let text = serde_json::to_string(&line).map_err(|e| e.to_string())?;
        writeln!(out, "{text}").map_err(|e| e.to_string())?;
        summary.add(line);
    }
    eprint!("{summary}");
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<_> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "cu"))
        .collect();
    files.sort();
    Ok(files)
}

/// The best of what a file came to over the sizes.
fn one(environment: &Environment, file: &Path, name: &str) -> Line {
    let source = std::fs::read(file)
        .map_err(|e| e.to_string())
        .and_then(|bytes| Source::from_bytes(bytes).map_err(|e| e.to_string()));
    let source = match source {
        Ok(source) => source,
        Err(message) => return Line::unread(name, message),
    };
    let signature = match launch_plan::entry_signature(source.as_str()) {
        Ok(signature) => signature,
        Err(failure) => return Line::without_signature(name, &failure),
    };
    let mut best: Option<Line> = None;
    for size in SIZES {
        let request = JudgeRequest {
            package: Arc::new(problem::package(&signature, size)),
            source: source.clone(),
            device: DeviceName::Emulated,
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
    best.expect("there is a size")
}
