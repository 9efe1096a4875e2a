//! The procedure, step by step. It always ends in a report; there is no other way out.

mod compiling;

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::report::{Measurement, ShapeRole};
use domain::{CodeListing, DeviceKind, Phase, Progress, Report, Verdict};
use problems::Shape;

use self::compiling::Compiled;
use crate::assemble::{Findings, assemble};
use crate::baseline::{self, BaselineTimes};
use crate::bench::{Bench, Ran};
use crate::compile::disassembly::CompiledCode;
use crate::inputs::run_keys;
use crate::instances::Recompiles;
use crate::opening::Opening;
use crate::outcome::{Interruption, ShapeOutcome};
use crate::timing::{self, Runner as _};
use crate::wire::{ParameterJob, ShapeJob, mailbox_bytes};
use crate::{Environment, JudgeRequest, jobs, kept_outputs};

/// Wall clock of the executor over all shapes on the emulated device.
const EMULATED_WALL: Duration = Duration::from_secs(60);
/// The same on a GPU, where each run has its own limit too.
const GPU_WALL: Duration = Duration::from_secs(300);

/// What came of a judging.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Everything it found out.
    pub report: Report,
    /// The compiled code, where there is some.
    pub listing: Option<CodeListing>,
}

/// Judges one source. Every failure, the judge's own included, is a verdict in the report.
pub fn judge(
    environment: &Environment,
    request: &JudgeRequest,
    progress: &mut dyn FnMut(Progress),
) -> Report {
    let shapes = request
        .package
        .shapes(request.mode, request.device.kind(), None);
    judge_shapes(environment, request, shapes, progress).0
}

/// [`judge`], with the code that it compiled. What is listed may be told to whoever handed the source in.
pub fn judge_listing(
    environment: &Environment,
    request: &JudgeRequest,
    progress: &mut dyn FnMut(Progress),
) -> Judged {
    let shapes = request
        .package
        .shapes(request.mode, request.device.kind(), None);
    judge_listing_over(environment, request, shapes, progress)
}

/// [`judge_listing`] over shapes that somebody else has drawn, held-out ones among them.
pub fn judge_listing_over(
    environment: &Environment,
    request: &JudgeRequest,
    shapes: Vec<Shape>,
    progress: &mut dyn FnMut(Progress),
) -> Judged {
    let (report, code) = judge_shapes(environment, request, shapes, progress);
    // The verdict is written: nothing that comes of the machine code can change it.
    let listing = code.map(|code| code.disassembled(environment));
    Judged { report, listing }
}

/// [`judge`] over shapes that somebody else has drawn, held-out ones among them.
pub fn judge_over(
    environment: &Environment,
    request: &JudgeRequest,
    shapes: Vec<Shape>,
    progress: &mut dyn FnMut(Progress),
) -> Report {
    judge_shapes(environment, request, shapes, progress).0
}

fn judge_shapes(
    environment: &Environment,
    request: &JudgeRequest,
    shapes: Vec<Shape>,
    progress: &mut dyn FnMut(Progress),
) -> (Report, Option<CompiledCode>) {
    let mut judging = Judging::begin(environment, request, shapes);
    if let Err(interruption) = judging.proceed(progress) {
        judging.findings.interruption = Some(interruption);
    }
    let code = judging.findings.code.take();
    (judging.report(), code)
}

/// A judging in the making.
struct Judging<'a> {
    environment: &'a Environment,
    request: &'a JudgeRequest,
    started_at: DateTime<Utc>,
    started: Duration,
    findings: Findings,
    /// How long the baseline takes, where that is known.
    baseline: Option<BaselineTimes>,
    /// What runs asked to be compiled besides.
    recompiles: Recompiles,
    /// Time that earlier attempts have run for.
    ran: Duration,
}

/// How far a judging with compiled code came.
enum Progression {
    /// To its end.
    Done,
    /// To a kernel instance that was not compiled; with it everything is to begin anew.
    Anew,
}

/// What came of one shape's untimed run.
enum Checked {
    Came(Box<ShapeOutcome>),
    /// See [`Progression::Anew`].
    Anew,
}

impl<'a> Judging<'a> {
    fn begin(environment: &'a Environment, request: &'a JudgeRequest, shapes: Vec<Shape>) -> Self {
        let findings = Findings {
            shapes,
            ..Findings::default()
        };
        Self {
            environment,
            request,
            started_at: environment.clock.now(),
            started: environment.clock.monotonic(),
            findings,
            baseline: None,
            recompiles: Recompiles::default(),
            ran: Duration::ZERO,
        }
    }

    fn proceed(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), Interruption> {
        let package = &self.request.package;
        let parameters = jobs::parameters(package, &self.findings.shapes)?;

        let most = parameters.iter().map(|p| mailbox_bytes(p)).max();
        let most = most.unwrap_or(0);
        while let Progression::Anew = self.attempt(&parameters, most, progress)? {}
        Ok(())
    }

    /// From the compile on, in children of its own.
    fn attempt(
        &mut self,
        parameters: &[Vec<ParameterJob>],
        mailbox_bytes: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Progression, Interruption> {
        self.findings.begin_anew();
        let cpu = EMULATED_WALL * 2;
        let opening = Opening::begin(self.environment, self.request, mailbox_bytes, cpu)?;
        let cancel = &self.environment.cancel;
        let (compiled, (pair, card)) = opening.meanwhile(cancel, || {
            let compiled = self.compile(progress)?;
            self.learn_baseline();
            Ok(compiled)
        })?;
        let began = self.environment.clock.monotonic();
        let mut bench = Bench::new(pair, card, (self.wall(), self.ran), cancel);
        let judged = self.judge_on(&mut bench, parameters, compiled, progress);
        bench.end();
        self.ran += self.environment.clock.monotonic().saturating_sub(began);
        judged
    }

    /// Everything that needs the children.
    fn judge_on(
        &mut self,
        bench: &mut Bench<'_>,
        parameters: &[Vec<ParameterJob>],
        compiled: Compiled,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Progression, Interruption> {
        self.findings.warnings.extend(bench.warning());

        let request = self.request;
        let (package, rows) = (&request.package, &self.findings.shapes);
        let limits = &scoring::device(request.device).limits;
        let program = |compiled| jobs::program(package, rows, parameters, compiled, limits);
        let calls = jobs::arguments(package, rows)?;
        let submission = program((compiled.submission, calls));
        let calls = jobs::reference_arguments(package, rows)?;
        let reference = program((compiled.reference, calls));
        let shapes = submission.shapes.clone();
        let bounds = jobs::bounds(
            &request.package,
            request.device.kind(),
            request.mode,
            &reference,
        );
        if let Some(blame) = bench.load((submission, bounds.0), (reference, bounds.1))? {
            self.findings.outcomes.push(blame.into());
            return Ok(Progression::Done);
        }
        if let Progression::Anew = self.check(bench, &shapes, progress)? {
            return Ok(Progression::Anew);
        }
        self.time(bench, &shapes, progress)?;
        Ok(Progression::Done)
    }

    /// The baseline is judged like any submission, once for a card.
    fn learn_baseline(&mut self) {
        if self.baseline.is_some() {
            return;
        }
        let (environment, request) = (self.environment, self.request);
        self.baseline = baseline::times(environment, request, |baseline| {
            let environment = Environment {
                keep_code: None, // the submission's was asked for
                keep_outputs: None,
                ..environment.clone()
            };
            judge(&environment, baseline, &mut |_| {})
        });
    }

    /// Wall clock of the executor. The emulated device is bounded by instructions, and slow.
    fn wall(&self) -> Duration {
        match self.request.device.kind() {
            DeviceKind::Emulated => EMULATED_WALL,
            DeviceKind::Gpu => GPU_WALL,
        }
    }

    /// Every shape once: run, then compare.
    fn check(
        &mut self,
        bench: &mut Bench<'_>,
        shapes: &[ShapeJob],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Progression, Interruption> {
        let total = u32::try_from(shapes.len()).unwrap_or(u32::MAX);
        let mut report = |done: usize| {
            progress(Progress {
                phase: Phase::Checking,
                done: u32::try_from(done).unwrap_or(total),
                total,
            });
        };
        report(0);
        for (index, shape) in shapes.iter().enumerate() {
            let is_held_out = self.findings.shapes[index].role == ShapeRole::HeldOut;
            let outcome = match self.check_shape(bench, index, shape) {
                Ok(Checked::Came(outcome)) => *outcome,
                Ok(Checked::Anew) => return Ok(Progression::Anew),
                // Which limit a held-out shape breaks would tell of it.
                Err(interruption) if is_held_out && interruption.is_the_submissions() => {
                    self.findings.outcomes.push(interruption.into());
                    return Ok(Progression::Done);
                }
                Err(interruption) => return Err(interruption),
            };
            // A GPU's context is lost with the first fault.
            let lost = self.request.device.kind() == DeviceKind::Gpu
                && outcome.verdict == Verdict::RuntimeError;
            let ends = outcome.ends_judging() || lost;
            self.findings.outcomes.push(outcome);
            report(index + 1);
            if ends {
                break;
            }
        }
        Ok(Progression::Done)
    }

    /// Times every weighted shape of a submission that was right on all.
    fn time(
        &mut self,
        bench: &mut Bench<'_>,
        shapes: &[ShapeJob],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Interruption> {
        let findings = &mut self.findings;
        let all_right = findings.outcomes.len() == shapes.len()
            && findings
                .outcomes
                .iter()
                .all(|o| o.verdict == Verdict::Accepted);
        if self.request.device.kind() == DeviceKind::Emulated || !all_right {
            return Ok(());
        }
        let weighted = findings.shapes.iter().enumerate();
        let weighted = weighted.filter(|(_, shape)| shape.weight.is_some());
        let plan = timing::Plan {
            shapes,
            weighted: weighted.map(|(index, _)| index).collect(),
            mode: self.request.mode,
            master_seed: &self.request.master_seed,
            baseline: self.baseline.as_ref(),
        };
        let started = self.environment.clock.monotonic();
        let timed = timing::time(bench, &plan, progress)?;
        findings.time_s = Some((self.environment.clock.monotonic() - started).as_secs_f64());
        let Some(timed) = timed else {
            return Ok(());
        };
        if let Some((index, outcome)) = timed.failed {
            findings.outcomes[index].overrule(outcome);
        }
        for (outcome, timing) in findings.outcomes.iter_mut().zip(timed.timings) {
            outcome.timing = timing;
        }
        let outcomes = findings.outcomes.iter_mut();
        for (outcome, per_operation_s) in outcomes.zip(timed.per_operation_s) {
            outcome.per_operation_s = per_operation_s;
        }
        findings.measurement = Some(Measurement {
            ceilings: self.environment.ceilings(),
            ..timed.measurement
        });
        Ok(())
    }

    fn check_shape(
        &mut self,
        bench: &mut Bench<'_>,
        index: usize,
        shape: &ShapeJob,
    ) -> Result<Checked, Interruption> {
        let came = |outcome| Ok(Checked::Came(Box::new(outcome)));
        if self.findings.unplanned.contains(&index) {
            return came(ShapeOutcome::unplanned());
        }
        let started = self.environment.clock.monotonic();
        let keys = run_keys(shape, &self.request.master_seed, 0);
        let run = match bench.run(index, &keys)? {
            Ran::Well(run) => *run,
            Ran::Failed(blame) => return came(blame.into()),
            Ran::Uncompiled(instance) => {
                let role = self.findings.shapes[index].role;
                return match self.recompiles.take(&instance, role) {
                    Ok(()) => Ok(Checked::Anew),
                    Err(blame) => came(blame.into()),
                };
            }
        };
        if let Some(folder) = &self.environment.keep_outputs {
            let failures = kept_outputs::write(folder, shape, bench.outputs());
            self.findings.warnings.extend(failures);
        }
        let mut outcome = ShapeOutcome::compared(bench.compare(index, &keys)?);
        let elapsed = self.environment.clock.monotonic() - started;
        outcome.check_s = (elapsed.as_secs_f64() - run.execute_s).max(0.0);
        outcome.execute_s = run.execute_s;
        outcome.counters = run.counters;
        outcome.modelled = run.modelled;
        outcome.leaked = run.leaked;
        outcome.live = run.live;
        outcome.printed = run.printed;
        came(outcome)
    }

    fn report(self) -> Report {
        let total_s = (self.environment.clock.monotonic() - self.started).as_secs_f64();
        let mut report = assemble(self.request, self.findings, total_s);
        report.started_at = self.started_at;
        report.finished_at = self.environment.clock.now();
        report
    }
}
