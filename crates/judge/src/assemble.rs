//! Findings become a report. Pure: no child, no clock.

use std::collections::BTreeSet;

use device::Leaked;
use domain::report::{
    ClockMode, DeviceRef, Execution, KernelResources, Measurement, Modelled, PhaseTimes,
    ProblemRef, REPORT_SCHEMA, ShapeReport, ShapeRole, ToolchainRef,
};
use domain::{
    DeviceKind, Diagnostic, Mode, Report, Severity, Stage, TargetLimits, Verdict, VerdictKind,
};
use launch_plan::Plan;
use problems::Shape;

use crate::JudgeRequest;
use crate::compile::disassembly::CompiledCode;
use crate::compile::wire::{CompileTimes, CompiledSource};
use crate::outcome::{Interruption, ShapeOutcome};
use crate::{redact, scores, trust};

/// What a judging has found out so far.
#[derive(Default)]
pub(crate) struct Findings {
    /// Shapes to judge, in order.
    pub shapes: Vec<Shape>,
    /// Errors and warnings at places in the source.
    pub diagnostics: Vec<Diagnostic>,
    /// What compiled it.
    pub toolchain: ToolchainRef,
    /// The compiled code, for people.
    pub code: Option<CompiledCode>,
    /// What the compiler made of the kernels.
    pub usage: Vec<KernelResources>,
    /// Launches of each shape's plan.
    pub launches: Vec<u32>,
    /// Held-out shapes that have no plan.
    pub unplanned: BTreeSet<usize>,
    /// Whether each shape's host function is interpreted while the device runs.
    pub live: Vec<bool>,
    /// Seconds in the compile child.
    pub compile_times: CompileTimes,
    /// Results of the first shapes, in order.
    pub outcomes: Vec<ShapeOutcome>,
    /// What a careful reader should know, each said once.
    pub warnings: BTreeSet<String>,
    /// Seconds in the timed phase.
    pub time_s: Option<f64>,
    /// The machine during the timed phase.
    pub measurement: Option<Measurement>,
    /// Why the judging ended early, where no shape says so.
    pub interruption: Option<Interruption>,
}

impl Findings {
    /// Forgets what came of code that is compiled once more.
    pub fn begin_anew(&mut self) {
        *self = Self {
            shapes: std::mem::take(&mut self.shapes),
            warnings: std::mem::take(&mut self.warnings),
            compile_times: self.compile_times,
            ..Self::default()
        };
    }

    /// Keeps what a report says of compiled code.
    pub fn keep_compiled(&mut self, compiled: &CompiledSource, limits: &TargetLimits) {
        self.diagnostics.clone_from(&compiled.warnings);
        self.toolchain = ToolchainRef {
            nvrtc: compiled.nvrtc_version.clone(),
            cupti: None,
            options: compiled.options.clone(),
        };
        self.launches = compiled.plans.iter().map(launches).collect();
        self.live = compiled.plans.iter().map(|p| p.live.is_some()).collect();
        self.code = Some(CompiledCode::of(compiled));
        self.usage = crate::resources::kernel_resources(compiled, limits);
    }
}

fn launches(plan: &Plan) -> u32 {
    u32::try_from(plan.launch_count()).unwrap_or(u32::MAX)
}

/// Writes the report. `started_at` and `finished_at` are the caller's to set.
pub(crate) fn assemble(request: &JudgeRequest, mut findings: Findings, total_s: f64) -> Report {
    redact::held_out(&findings.shapes, &mut findings.outcomes);
    let device = scoring::device(request.device);
    let of_times = trust::warnings(&findings);
    findings.warnings.extend(of_times);
    let (verdict, kind, message) = conclude(request, &findings);
    if request.mode == Mode::Practice
        && verdict == Verdict::Accepted
        && let Some(reason) = trust::doubt(request, &findings)
    {
        let warning = format!("a ranked judging would be held for a person to look at: {reason}");
        findings.warnings.insert(warning);
    }
    let shapes = shape_reports(request, &findings);
    let score = match (verdict, request.device.kind()) {
        (Verdict::Accepted, DeviceKind::Emulated) => scores::modelled(request, &findings),
        (Verdict::Accepted | Verdict::Held, DeviceKind::Gpu) => {
            scores::measured(request, &findings)
        }
        _ => None,
    };
    if verdict == Verdict::Accepted {
        findings.warnings.extend(scores::unmodelled(&shapes));
    }
    if request.mode == Mode::Practice {
        findings.warnings.extend(leak(&findings));
    }
    let phases_s = phase_times(request, &findings, total_s);
    let printed = printed(request.mode, &findings.outcomes);
    let execution = execution(&findings);
    if let Some(measurement) = &findings.measurement {
        findings
            .toolchain
            .cupti
            .clone_from(&measurement.timer.cupti);
    }
    let mut diagnostics = findings.diagnostics;
    diagnostics.extend(findings.outcomes.iter().find_map(run_diagnostic));
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        problem: ProblemRef {
            slug: request.package.slug.clone(),
            version: request.package.version,
        },
        device: DeviceRef {
            name: request.device,
            kind: request.device.kind(),
            arch: device.limits.arch.clone(),
            profile: findings.measurement.as_ref().map(profile),
        },
        mode: request.mode,
        source_sha256: request.source.sha256(),
        toolchain: findings.toolchain,
        verdict,
        kind,
        message,
        diagnostics,
        execution,
        kernels: findings.usage,
        shapes,
        score,
        phases_s,
        measurement: findings.measurement,
        printed,
        warnings: findings.warnings.into_iter().collect(),
        started_at: chrono::DateTime::UNIX_EPOCH,
        finished_at: chrono::DateTime::UNIX_EPOCH,
    }
}

/// Of the open shapes: that only a held-out one is live would tell of it.
fn execution(findings: &Findings) -> Execution {
    let mut rows = findings.shapes.iter().zip(&findings.live);
    match rows.any(|(shape, live)| *live && shape.role != ShapeRole::HeldOut) {
        true => Execution::Live,
        false => Execution::Planned,
    }
}

/// The first shape that is not accepted decides; an interruption decides where none does.
fn conclude(request: &JudgeRequest, findings: &Findings) -> (Verdict, Option<VerdictKind>, String) {
    let failed = findings
        .shapes
        .iter()
        .zip(&findings.outcomes)
        .find(|(_, outcome)| outcome.verdict != Verdict::Accepted);
    if let Some((shape, outcome)) = failed {
        return (
            outcome.verdict,
            outcome.kind,
            failure_message(shape, outcome),
        );
    }
    if let Some(interruption) = &findings.interruption {
        return (
            interruption.verdict,
            interruption.kind,
            interruption.message.clone(),
        );
    }
    if findings.outcomes.len() < findings.shapes.len() {
        let message = "the executor ended before the last shape".to_owned();
        return (Verdict::JudgeError, None, message);
    }
    if request.mode == Mode::Ranked
        && let Some(reason) = trust::doubt(request, findings)
    {
        return (
            Verdict::Held,
            None,
            format!("held for a person to look at: {reason}"),
        );
    }
    let count = findings.shapes.len();
    (
        Verdict::Accepted,
        None,
        format!("all {count} shapes are correct"),
    )
}

fn failure_message(shape: &Shape, outcome: &ShapeOutcome) -> String {
    let what = outcome.message.as_deref().unwrap_or("failed");
    match redact::name(shape) {
        Some(name) => format!("{name}: {what}"),
        None => what.to_owned(),
    }
}

fn shape_reports(request: &JudgeRequest, findings: &Findings) -> Vec<ShapeReport> {
    let row = |(index, shape): (usize, &Shape)| {
        let launches = findings.launches.get(index).copied();
        let outcome = findings.outcomes.get(index);
        if shape.role == ShapeRole::HeldOut {
            redact::row(empty_row(shape), outcome)
        } else {
            open_row(request, shape, outcome, launches)
        }
    };
    findings.shapes.iter().enumerate().map(row).collect()
}

fn open_row(
    request: &JudgeRequest,
    shape: &Shape,
    outcome: Option<&ShapeOutcome>,
    launches: Option<u32>,
) -> ShapeReport {
    let cost = request.package.cost(&shape.axes).ok();
    let limit = cost
        .as_ref()
        .map(|cost| scoring::limit(cost, scoring::device(request.device)));
    let counters = outcome.and_then(|outcome| outcome.counters.clone());
    let sectors = counters
        .as_ref()
        .map(|c| c.global_load_sectors + c.global_store_sectors);
    // A ratio to what the whole work takes says nothing of a run that did not do it.
    let is_right = outcome.is_some_and(|outcome| outcome.verdict == Verdict::Accepted);
    let traffic_efficiency = match (&cost, sectors) {
        (Some(cost), Some(sectors)) if is_right => {
            scoring::traffic_efficiency(cost.fused_bytes, sectors)
        }
        _ => None,
    };
    let modelled = outcome.and_then(|outcome| outcome.modelled.clone());
    let modelled = modelled.map(|modelled| Modelled {
        sol: match (&limit, modelled.t_s) {
            (Some(limit), Some(t_s)) if is_right => Some(scoring::sol(limit.t_sol_s, t_s)),
            _ => None,
        },
        ..modelled
    });
    let timing = outcome.and_then(|outcome| outcome.timing.clone());
    let t_s = timing.as_ref().map(|timing| timing.t_s);
    let sol = match (&limit, t_s) {
        (Some(limit), Some(t_s)) if is_right => Some(scoring::sol(limit.t_sol_s, t_s)),
        _ => None,
    };
    ShapeReport {
        axes: Some(shape.axes.clone()),
        t_s,
        sol,
        timing,
        verdict: outcome.map(|outcome| outcome.verdict),
        kind: outcome.and_then(|outcome| outcome.kind),
        message: outcome.and_then(|outcome| outcome.message.clone()),
        mismatches: outcome
            .map(|outcome| outcome.mismatches.clone())
            .unwrap_or_default(),
        // Of a shape that did not run there is nothing to tell.
        launches: outcome.and_then(|outcome| outcome.live.map(|l| l.launches).or(launches)),
        read_backs: outcome.and_then(|outcome| Some(outcome.live?.read_backs)),
        flop: cost.as_ref().map(scoring::Cost::total_flop),
        fused_bytes: cost.as_ref().map(|cost| cost.fused_bytes),
        t_sol_s: limit.as_ref().map(|limit| limit.t_sol_s),
        bound: limit.as_ref().map(|limit| limit.bound),
        traffic_efficiency,
        modelled,
        counters,
        ..empty_row(shape)
    }
}

fn empty_row(shape: &Shape) -> ShapeReport {
    ShapeReport {
        id: shape.id.clone(),
        stratum: shape.stratum.clone(),
        role: shape.role,
        axes: None,
        w: shape.weight,
        verdict: None,
        kind: None,
        message: None,
        mismatches: Vec::new(),
        launches: None,
        read_backs: None,
        flop: None,
        fused_bytes: None,
        t_s: None,
        t_sol_s: None,
        bound: None,
        sol: None,
        traffic_efficiency: None,
        modelled: None,
        counters: None,
        timing: None,
    }
}

/// Timer, clock mode and driver: what makes two boards two.
fn profile(measurement: &Measurement) -> String {
    let Measurement {
        timer, clock_mode, ..
    } = measurement;
    let clocks = match clock_mode {
        ClockMode::Unlocked => "unlocked",
        ClockMode::Locked => "locked",
    };
    format!("{}/{clocks}/driver-{}", timer.name, timer.driver)
}

fn phase_times(request: &JudgeRequest, findings: &Findings, total_s: f64) -> PhaseTimes {
    let CompileTimes { plan_s, compile_s } = findings.compile_times;
    // Times of held-out shapes would tell their sizes.
    let shapes = findings.shapes.iter().zip(&findings.outcomes);
    let open = shapes.filter(|(shape, _)| shape.role != ShapeRole::HeldOut);
    let sum = |part: fn(&ShapeOutcome) -> f64| open.clone().map(|(_, o)| part(o)).sum::<f64>();
    let execute_s = sum(|outcome| outcome.execute_s);
    let check_s = sum(|outcome| outcome.check_s);
    let spent_s = plan_s + compile_s + execute_s + check_s + findings.time_s.unwrap_or(0.0);
    PhaseTimes {
        queue: request.queued.map(|queued| queued.as_secs_f64()),
        // Neither happens where the code was kept from before.
        plan: (plan_s > 0.0).then_some(plan_s),
        compile: (compile_s > 0.0).then_some(compile_s),
        // A child that was ended has told no time.
        execute: (execute_s > 0.0).then_some(execute_s),
        check: (check_s > 0.0).then_some(check_s),
        time: findings.time_s,
        overhead: Some((total_s - spent_s).max(0.0)),
        total: Some(total_s),
    }
}

fn printed(mode: Mode, outcomes: &[ShapeOutcome]) -> Option<String> {
    if mode != Mode::Practice {
        return None;
    }
    let text: String = outcomes
        .iter()
        .map(|outcome| outcome.printed.as_str())
        .collect();
    (!text.is_empty()).then(|| truncated(text, PRINTED_BYTES))
}

/// What a report keeps of printed text.
const PRINTED_BYTES: usize = 64 << 10;

fn truncated(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let mut end = limit;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

/// What device code's `malloc` gave and no `free` took, where most was left.
fn leak(findings: &Findings) -> Option<String> {
    let shapes = findings.shapes.iter().zip(&findings.outcomes);
    let left = shapes.map(|(shape, outcome)| (shape, outcome.leaked));
    let (shape, leaked) = left.max_by_key(|(_, leaked)| leaked.bytes)?;
    let Leaked { allocations, bytes } = leaked;
    let name = redact::name(shape).map(|name| format!(" on {name}"));
    (allocations > 0).then(|| {
        format!(
            "{allocations} allocations of `malloc` on the device ({bytes} bytes) were never freed{}",
            name.unwrap_or_default()
        )
    })
}

/// A fault at a known line belongs into the editor too.
fn run_diagnostic(outcome: &ShapeOutcome) -> Option<Diagnostic> {
    let line = outcome.line?;
    let message = outcome.message.clone()?;
    Some(Diagnostic {
        stage: Stage::Run,
        severity: Severity::Error,
        line: Some(line),
        column: None,
        hint: run_hint(outcome.kind, &message).map(str::to_owned),
        message,
    })
}

/// What to do about a fault of a kernel, where its kind leaves no other reading.
fn run_hint(kind: Option<VerdictKind>, message: &str) -> Option<&'static str> {
    match kind? {
        VerdictKind::OutOfBounds if message.contains("shared memory, which has 0 bytes") => Some(
            "`extern __shared__` memory has the size that the third argument of the launch gives: \
             kernel<<<grid, block, bytes>>>",
        ),
        VerdictKind::OutOfBounds if message.contains("shared memory") => {
            Some("compare the index with the array's size, or with the bytes that the launch gives")
        }
        VerdictKind::OutOfBounds => {
            Some("does the kernel check its index, as in `if (i < n)`, before it reads and writes?")
        }
        VerdictKind::InputModified => {
            Some("inputs are read only; write to an output or to scratch")
        }
        _ => None,
    }
}
