//! Reports as a worker would send them, with as little in them as a test needs.

use domain::report::{
    DeviceRef, Execution, PhaseTimes, REPORT_SCHEMA, Score, ScoreMetric, ToolchainRef,
};
use domain::{Clock, Diagnostic, Report, Severity, Stage, SystemClock, Verdict};
use protocol::worker::Claim;

/// A report that answers `claim`.
pub fn report(claim: &Claim, verdict: Verdict) -> Report {
    let now = SystemClock::default().now();
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        problem: claim.problem.clone(),
        device: DeviceRef {
            name: claim.device,
            kind: claim.device.kind(),
            arch: "sm_90a".to_owned(),
            profile: None,
        },
        mode: claim.mode,
        source_sha256: claim.source.sha256(),
        toolchain: ToolchainRef {
            nvrtc: "13.5.37".to_owned(),
            cupti: None,
            options: vec![],
        },
        verdict,
        kind: None,
        message: format!("The judging ended as {verdict}."),
        diagnostics: vec![Diagnostic {
            stage: Stage::Compile,
            severity: Severity::Warning,
            line: Some(1),
            column: None,
            message: "quotes the source".to_owned(),
            hint: None,
        }],
        execution: Execution::Planned,
        kernels: vec![],
        shapes: vec![],
        score: None,
        phases_s: PhaseTimes::default(),
        measurement: None,
        printed: None,
        warnings: vec![],
        started_at: now,
        finished_at: now,
    }
}

/// An accepted report with a score on the emulated device's board.
pub fn scored(claim: &Claim, value: f64) -> Report {
    Report {
        score: Some(Score {
            metric: ScoreMetric::ModelledSol,
            value: Some(value),
            strict_sol: None,
            worst_shape: Some("small".to_owned()),
            scoring_version: 1,
        }),
        ..report(claim, Verdict::Accepted)
    }
}
