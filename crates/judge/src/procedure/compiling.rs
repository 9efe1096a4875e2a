//! Both sources of a judging, planned and compiled.

use std::time::Duration;

use domain::report::ShapeRole;
use domain::{Phase, Progress, Signature, Verdict};

use super::Judging;
use crate::compile::wire::{CompileJob, CompileRefusal, CompileReply, CompiledSource, ShapeCall};
use crate::compile::{compile, compile_cached};
use crate::instances::Asked;
use crate::outcome::Interruption;
use crate::{jobs, kept_code};

/// Wall clock of a reference's compile; a package's own code, proven before it was published.
const REFERENCE_COMPILE_WALL: Duration = Duration::from_secs(60);

/// All code of a judging.
pub(super) struct Compiled {
    pub(super) submission: CompiledSource,
    pub(super) reference: CompiledSource,
}

impl Judging<'_> {
    pub(super) fn compile(
        &mut self,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Compiled, Interruption> {
        let mut report = |done| {
            progress(Progress {
                phase: Phase::Compiling,
                done,
                total: 1,
            });
        };
        report(0);
        let compiled = Compiled {
            submission: self.compile_submission()?,
            reference: self.compile_reference()?,
        };
        report(1);
        Ok(compiled)
    }

    fn compile_submission(&mut self) -> Result<CompiledSource, Interruption> {
        let package = &self.request.package;
        let arguments = jobs::arguments(package, &self.findings.shapes)?;
        let shapes = arguments.into_iter().zip(&self.findings.shapes);
        let shapes = shapes.map(|(arguments, shape)| ShapeCall {
            arguments,
            held_out: shape.role == ShapeRole::HeldOut,
        });
        let job = CompileJob {
            asked: self.recompiles.asked().clone(),
            ..self.compile_job(
                self.request.source.as_str(),
                package.signature(),
                shapes.collect(),
            )
        };
        let CompileReply {
            outcome,
            times,
            confinement_warning,
        } = compile(
            self.environment,
            &job,
            jobs::seconds(package.limits.compile_s),
        );
        self.findings.compile_times += times;
        self.findings.warnings.extend(confinement_warning);
        match outcome {
            Ok(mut compiled) => {
                self.findings.keep_compiled(&compiled, &job.limits);
                if let Some(folder) = &self.environment.keep_code {
                    let failures =
                        kept_code::write(self.environment, folder, &job.source, &compiled);
                    self.findings.warnings.extend(failures);
                }
                jobs::check_scratch(package, &mut compiled)?;
                self.findings.unplanned.clone_from(&compiled.unplanned);
                Ok(compiled)
            }
            Err(refusal) => {
                self.findings.diagnostics.clone_from(&refusal.diagnostics);
                Err(refusal.into())
            }
        }
    }

    fn compile_reference(&self) -> Result<CompiledSource, Interruption> {
        let package = &self.request.package;
        let arguments = jobs::reference_arguments(package, &self.findings.shapes)?;
        // What our own source does may be told.
        let shapes = arguments.into_iter().map(|arguments| ShapeCall {
            arguments,
            held_out: false,
        });
        let source = package.reference_source.as_str();
        let job = self.compile_job(source, package.reference_signature(), shapes.collect());
        let compiled = compile_cached(self.environment, &job, REFERENCE_COMPILE_WALL)
            .outcome
            .map_err(|refusal| match refusal.verdict {
                Verdict::Cancelled => refusal.into(),
                _ => Interruption::ours(format!("the problem's reference: {}", refusal.message)),
            })?;
        match compiled.plans.iter().find_map(|plan| plan.live.as_ref()) {
            None => Ok(compiled),
            Some(live) => Err(Interruption::ours(format!(
                "the problem's reference decides by values that it reads back (line {}), which only \
                 submissions may",
                live.line
            ))),
        }
    }

    fn compile_job(
        &self,
        source: &str,
        signature: Signature,
        shapes: Vec<ShapeCall>,
    ) -> CompileJob {
        CompileJob {
            source: source.to_owned(),
            signature,
            shapes,
            limits: scoring::device(self.request.device).limits.clone(),
            toolchain: self.environment.toolchain.root().to_owned(),
            asked: Asked::default(),
        }
    }
}

impl From<CompileRefusal> for Interruption {
    fn from(refusal: CompileRefusal) -> Self {
        Self {
            verdict: refusal.verdict,
            kind: refusal.kind,
            message: refusal.message,
        }
    }
}
