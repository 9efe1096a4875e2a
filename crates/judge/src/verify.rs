//! Proves a package: every solution is judged and must come to the outcome that its header names.
//!
//! What the emulated device accepts, it must accept in practice too, where it looks closer.
//! The baseline must be accepted; the starter must compile and run, whatever it computes.

use std::sync::Arc;

use domain::{DeviceKind, DeviceName, Mode, Report, Source, Verdict, VerdictKind};
use problems::{Expectation, Package};
use serde::Serialize;

use crate::{Environment, JudgeRequest, judge};

/// The proof of one package on one device.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// Slug.
    pub problem: String,
    /// Version.
    pub version: u32,
    /// Device.
    pub device: DeviceName,
    /// One row a file.
    pub rows: Vec<Row>,
}

/// One file's outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// File name within the package.
    pub file: String,
    /// What its header promises.
    pub expected: String,
    /// What came out.
    pub verdict: Verdict,
    /// What exactly.
    pub kind: Option<VerdictKind>,
    /// The report's sentence.
    pub message: String,
    /// The headline score, where one was earned.
    pub score: Option<f64>,
    /// Whether the promise was kept.
    pub kept: bool,
    /// Seconds.
    pub total_s: Option<f64>,
}

impl Verification {
    /// Whether every promise was kept.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.rows.iter().all(|row| row.kept)
    }
}

/// Judges every file of a package; `on_row` hears of each as it is done.
pub fn verify(
    environment: &Environment,
    package: &Arc<Package>,
    device: DeviceName,
    master_seed: [u8; 32],
    on_row: &mut dyn FnMut(&Row),
) -> Verification {
    let mut rows = Vec::new();
    for case in cases(package, device) {
        let row = run(environment, package, device, master_seed, &case);
        on_row(&row);
        rows.push(row);
    }
    Verification {
        problem: package.slug.clone(),
        version: package.version,
        device,
        rows,
    }
}

struct Case<'a> {
    file: String,
    source: &'a Source,
    promise: Promise<'a>,
}

enum Promise<'a> {
    /// As a solution's header says.
    Header(&'a Expectation),
    /// Compiles and runs; its values do not matter.
    Runs,
    /// Accepted.
    Accepted,
}

fn cases(package: &Package, device: DeviceName) -> Vec<Case<'_>> {
    let starter = Case {
        file: "starter.cu".to_owned(),
        source: &package.starter_source,
        promise: Promise::Runs,
    };
    let baseline = Case {
        file: "baseline.cu".to_owned(),
        source: &package.baseline_source,
        promise: Promise::Accepted,
    };
    let solutions = package.solutions_for(device).map(|solution| Case {
        file: format!("solutions/{}.cu", solution.name),
        source: &solution.source,
        promise: Promise::Header(&solution.expect),
    });
    [starter, baseline].into_iter().chain(solutions).collect()
}

fn run(
    environment: &Environment,
    package: &Arc<Package>,
    device: DeviceName,
    master_seed: [u8; 32],
    case: &Case<'_>,
) -> Row {
    let judged = |mode: Mode| {
        let request = JudgeRequest {
            package: Arc::clone(package),
            source: case.source.clone(),
            device,
            mode,
            queued: None,
            master_seed,
        };
        judge(environment, &request, &mut |_| {})
    };
    let mut report = judged(Mode::Ranked);
    // Practice looks for races and undefined values, of which a correct solution must not be accused.
    if device.kind() == DeviceKind::Emulated && report.verdict == Verdict::Accepted {
        let practised = judged(Mode::Practice);
        if practised.verdict != Verdict::Accepted {
            report = practised;
        }
    }
    Row {
        file: case.file.clone(),
        expected: case.promise.to_string(),
        kept: case.promise.kept(&report, device),
        verdict: report.verdict,
        kind: report.kind,
        message: report.message,
        score: report.score.and_then(|score| score.value),
        total_s: report.phases_s.total,
    }
}

impl Promise<'_> {
    fn kept(&self, report: &Report, device: DeviceName) -> bool {
        match self {
            Self::Runs => matches!(report.verdict, Verdict::Accepted | Verdict::WrongAnswer),
            Self::Accepted => report.verdict == Verdict::Accepted,
            Self::Header(expect) => {
                let score = report.score.as_ref().and_then(|score| score.value);
                let floor = expect.min_score.get(&device).copied();
                report.verdict == expect.verdict
                    && (expect.kind.is_none() || report.kind == expect.kind)
                    && floor.is_none_or(|floor| score.is_some_and(|score| score >= floor))
            }
        }
    }
}

impl std::fmt::Display for Promise<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Runs => f.write_str("runs"),
            Self::Accepted => Verdict::Accepted.fmt(f),
            Self::Header(expect) => match expect.kind {
                Some(kind) => write!(f, "{}/{kind}", expect.verdict),
                None => expect.verdict.fmt(f),
            },
        }
    }
}
