//! Support for the end-to-end tests: the real binary, started as a user would.

pub mod answers;
pub mod rig;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The workspace's root.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the workspace")
}

/// The built `lightspeed`, beside the running test.
///
/// # Panics
/// When it was not built: tests never judge with something else.
#[must_use]
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("the running test has a path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("target/<profile>/deps/<test>");
    let binary = profile.join("lightspeed");
    assert!(
        binary.exists(),
        "build it first: cargo build --release --bin lightspeed"
    );
    binary
}

/// A command of the built binary that sees this checkout's problems and keeps its state among the
/// build's outputs.
#[must_use]
pub fn lightspeed() -> Command {
    let binary = binary();
    let mut command = Command::new(&binary);
    command
        .env("LIGHTSPEED_PROBLEMS", root().join("problems"))
        .env(
            "LIGHTSPEED_STATE",
            binary.with_file_name("end-to-end-state"),
        );
    command
}

/// Runs a command with `input` on its standard input, to its end.
///
/// # Panics
/// When it cannot be started.
pub fn run_with_input(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    // From a thread of its own: the child may refuse before it has read everything.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("it can be waited for");
    writer.join().expect("the writer does not panic");
    output
}

/// What `lightspeed judge --json` came to.
#[derive(Debug)]
pub struct Judged {
    /// Exit status.
    pub exit: i32,
    /// The report, where one was written.
    pub report: Option<Value>,
    /// Standard error.
    pub stderr: String,
}

impl Judged {
    /// `verdict` or `verdict/kind`, as the report has it.
    ///
    /// # Panics
    /// When there is no report.
    #[must_use]
    pub fn verdict(&self) -> String {
        let report = self.report();
        let word = |field: &str| report[field].as_str().map(str::to_owned);
        let verdict = word("verdict").expect("every report has a verdict");
        match word("kind") {
            Some(kind) => format!("{verdict}/{kind}"),
            None => verdict,
        }
    }

    /// The report.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn report(&self) -> &Value {
        self.report
            .as_ref()
            .unwrap_or_else(|| panic!("no report; stderr: {}", self.stderr))
    }

    /// The report's sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        self.report()["message"].as_str().unwrap_or_default()
    }
}

/// Judges a source without a server, ranked, on the emulated device.
#[must_use]
pub fn judge(problem: &str, source: &[u8]) -> Judged {
    judge_with(problem, source, &[])
}

/// The same with more flags.
#[must_use]
pub fn judge_with(problem: &str, source: &[u8], flags: &[&str]) -> Judged {
    let mut command = lightspeed();
    command
        .args(["judge", problem, "-", "--device", "emulated", "--json"])
        .args(flags);
    let output = run_with_input(&mut command, source);
    let document: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    Judged {
        exit: output.status.code().unwrap_or(-1),
        // Errors are documents, too.
        report: document.filter(|document| document["error"].is_null()),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
