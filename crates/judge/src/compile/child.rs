//! Inside the `__compile` child: parse, interpret the host function over all shapes, compile once.

use std::collections::BTreeSet;
use std::time::Instant;

use domain::{Diagnostic, Severity, Stage, Verdict, VerdictKind};
use launch_plan::{EncodingError, NoFacts, PlanFailure, Program};
use toolchain::{CompileFailure, CompileRequest, Toolchain};

use super::facts::CompiledFacts;
use super::listing;
use super::planning::Plans;
use super::wire::{
    CompileJob, CompileRefusal, CompileReply, CompileTask, CompileTimes, CompiledSource,
    KernelsJob, KernelsReply, SyntaxReply, ToldCode,
};
use crate::host_code::HostCode;
use crate::instances::MAX_RECOMPILES;
use crate::wire::Code;

/// Kernel instantiations of one submission. Reports have a row for each.
const MAX_INSTANCES: usize = 512;

/// Answers one request of the parent.
pub(crate) fn answer(request: &[u8]) -> Result<Vec<u8>, String> {
    let task: CompileTask = serde_json::from_slice(request).map_err(|e| e.to_string())?;
    let answer = match task {
        CompileTask::Source(job) => {
            let mut times = CompileTimes::default();
            let outcome = plan_and_compile(&job, &mut times);
            serde_json::to_vec(&CompileReply {
                outcome,
                times,
                confinement_warning: None,
            })
        }
        CompileTask::Syntax(job) => serde_json::to_vec(&check_syntax(&job)),
        CompileTask::Kernels(job) => serde_json::to_vec(&compile_kernels(&job)),
        CompileTask::MachineCode(job) => {
            serde_json::to_vec(&listing::of_sass(&job.text, &job.lowered_names))
        }
    };
    answer.map_err(|e| e.to_string())
}

/// Instantiates nothing and makes no code, which is what brings the compiler down.
fn check_syntax(job: &CompileJob) -> SyntaxReply {
    let Ok(program) = Program::parse(&job.source, &job.signature) else {
        return Vec::new(); // what does not parse never reached the compiler
    };
    let checked = Toolchain::open(&job.toolchain)
        .map_err(|e| CompileFailure::Internal(e.to_string()))
        .and_then(|toolchain| {
            toolchain::check_syntax(&toolchain, program.device_source(), &job.limits.arch)
        });
    match checked {
        Err(CompileFailure::Errors(diagnostics)) => diagnostics,
        Ok(()) | Err(_) => Vec::new(),
    }
}

fn compile_kernels(job: &KernelsJob) -> KernelsReply {
    let toolchain = Toolchain::open(&job.toolchain).map_err(|e| e.to_string())?;
    let request = CompileRequest {
        source: job.set.source().to_owned(),
        name_expressions: Vec::new(),
        arch: job.arch.clone(),
        want_cubin: true,
    };
    let compiled = toolchain::compile(&toolchain, &request).map_err(|failure| match failure {
        CompileFailure::Errors(diagnostics) => first_message(&diagnostics, "does not compile"),
        other => other.to_string(),
    })?;
    Ok(Code {
        ptx: compiled.ptx,
        cubin: compiled.cubin.unwrap_or_default(),
        lowered_names: compiled.lowered_names,
    })
}

fn plan_and_compile(
    job: &CompileJob,
    times: &mut CompileTimes,
) -> Result<CompiledSource, CompileRefusal> {
    let mut work = Work { job, times };
    let program = work
        .planning(|job| Program::parse(&job.source, &job.signature))
        .map_err(refuse_plan)?;
    let mut plans = match work.planning(|job| Plans::make(&program, job, &NoFacts)) {
        Ok(plans) => plans,
        Err(failure) => return Err(work.explain(&program, failure)),
    };
    let mut built = work.build(&program, &mut plans, Names::default())?;
    let mut recompiles = 0;
    while plans.asked() {
        let facts = CompiledFacts::new(&built.compiled, &job.limits);
        plans = work
            .planning(|job| Plans::make(&program, job, &facts))
            .map_err(refuse_plan)?;
        if built.names.hold(&plans) {
            break;
        }
        if recompiles == MAX_RECOMPILES {
            if !plans.open_names().is_subset(&built.names.all) {
                return Err(refuse_plan(unsettled()));
            }
            plans.keep_within(&built.names.all);
            break;
        }
        recompiles += 1;
        built = work.build(&program, &mut plans, built.names)?;
    }
    let facts = CompiledFacts::new(&built.compiled, &job.limits);
    plans.check(&facts).map_err(refuse_plan)?;

    let host = match plans.run_live() {
        true => Some(host_code(&program)?),
        false => None,
    };
    let mut warnings = plans.warnings();
    let overall = program.warnings(&job.signature, &plans.open(job));
    let compilers = &built.told.as_ref().unwrap_or(&built.compiled).diagnostics;
    for warning in overall.iter().chain(compilers) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let (plans, held_out, unplanned) = plans.into_parts();
    let compiled = built.compiled;
    let told = built.told.as_ref().unwrap_or(&compiled);
    let listing = listing::of_ptx(&job.limits.arch, &told.ptx, &told.lowered_names);
    let told = built.told.map(|told| ToldCode {
        cubin: told.cubin.unwrap_or_default(),
        lowered_names: told.lowered_names,
    });
    Ok(CompiledSource {
        plans,
        held_out,
        unplanned,
        host,
        listing,
        told,
        ptx: compiled.ptx,
        cubin: compiled.cubin.unwrap_or_default(),
        lowered_names: compiled.lowered_names,
        asked: job.asked.open.clone(),
        usage: compiled.kernels,
        warnings,
        options: compiled.options,
        nvrtc_version: compiled.nvrtc_version,
    })
}

/// Code for all plans.
struct Built {
    compiled: toolchain::Compiled,
    /// The same for what may be told alone, where that is less.
    told: Option<toolchain::Compiled>,
    /// What it was compiled for.
    names: Names,
}

/// Instantiations.
#[derive(Default)]
struct Names {
    all: BTreeSet<String>,
    /// Those that some shape which may be spoken of has had.
    open: BTreeSet<String>,
}

impl Names {
    /// Whether nothing new is needed. What an open shape launches must be among what may be told, too: that a
    /// held-out shape had it before is no reason to keep it from its author.
    fn hold(&self, plans: &Plans) -> bool {
        plans.names().is_subset(&self.all) && plans.open_names().is_subset(&self.open)
    }
}

/// A job on its way, and where its time goes.
struct Work<'a> {
    job: &'a CompileJob,
    times: &'a mut CompileTimes,
}

impl Work<'_> {
    fn planning<T>(&mut self, step: impl FnOnce(&CompileJob) -> T) -> T {
        let started = Instant::now();
        let result = step(self.job);
        self.times.plan_s += started.elapsed().as_secs_f64();
        result
    }

    fn compile(
        &mut self,
        program: &Program,
        names: &BTreeSet<String>,
    ) -> Result<toolchain::Compiled, CompileFailure> {
        let started = Instant::now();
        let result = compile(self.job, program, names.clone());
        self.times.compile_s += started.elapsed().as_secs_f64();
        result
    }

    /// A syntax error can hide a kernel from the plan; the compiler explains it better, so it is asked
    /// even where there is no plan.
    fn explain(&mut self, program: &Program, failure: PlanFailure) -> CompileRefusal {
        match self.compile(program, &BTreeSet::new()) {
            Err(errors @ CompileFailure::Errors(_)) => refuse_compile(errors),
            _ => refuse_plan(failure),
        }
    }

    /// Compiles for all plans, for what runs asked for, and for what `before` was compiled for. What only held-out shapes
    /// instantiate is compiled in silence: its errors and warnings would tell those shapes.
    fn build(
        &mut self,
        program: &Program,
        plans: &mut Plans,
        before: Names,
    ) -> Result<Built, CompileRefusal> {
        let asked = &self.job.asked;
        let mut names = before;
        names.open.extend(plans.open_names());
        names.open.extend(asked.open.iter().cloned());
        names.all.extend(plans.names());
        names.all.extend(asked.open.union(&asked.held_out).cloned());
        if names.open.len() > MAX_INSTANCES {
            return Err(refuse_compile(CompileFailure::Limit(format!(
                "{} kernel instantiations are launched; the limit is {MAX_INSTANCES}",
                names.open.len()
            ))));
        }
        if names.all.len() > MAX_INSTANCES {
            plans.keep_within(&names.open);
            names.all.clone_from(&names.open);
        }
        let told = self.compile(program, &names.open).map_err(refuse_compile)?;
        let alone = |told, open: BTreeSet<String>| Built {
            compiled: told,
            told: None,
            names: Names {
                all: open.clone(),
                open,
            },
        };
        if names.all == names.open {
            return Ok(alone(told, names.open));
        }
        match self.compile(program, &names.all) {
            Ok(compiled) => Ok(Built {
                compiled,
                told: Some(told),
                names,
            }),
            Err(failure @ CompileFailure::Internal(_)) => Err(refuse_compile(failure)),
            Err(_) => {
                plans.keep_within(&names.open);
                Ok(alone(told, names.open))
            }
        }
    }
}

fn compile(
    job: &CompileJob,
    program: &Program,
    name_expressions: BTreeSet<String>,
) -> Result<toolchain::Compiled, CompileFailure> {
    let toolchain =
        Toolchain::open(&job.toolchain).map_err(|e| CompileFailure::Internal(e.to_string()))?;
    let request = CompileRequest {
        source: program.device_source().to_owned(),
        name_expressions: name_expressions.into_iter().collect(),
        arch: job.limits.arch.clone(),
        want_cubin: true, // for GPUs; and its resource usage tells registers, spills and occupancy
    };
    toolchain::compile(&toolchain, &request)
}

/// Compiles that change what is launched, which changes what is compiled.
fn unsettled() -> PlanFailure {
    PlanFailure {
        kind: VerdictKind::UnsupportedConstruct,
        diagnostics: vec![Diagnostic {
            stage: Stage::Plan,
            severity: Severity::Error,
            line: None,
            column: None,
            message: format!(
                "which kernels are launched depends on what the compiler says of them, and has not \
                 settled after {MAX_RECOMPILES} more compiles"
            ),
            hint: Some("choose the kernel by the sizes, not by its occupancy".to_owned()),
        }],
    }
}

/// The host functions for the executor.
fn host_code(program: &Program) -> Result<HostCode, CompileRefusal> {
    let bytes = program.host().to_bytes();
    bytes.map(HostCode).map_err(|error| {
        let (verdict, kind) = match &error {
            EncodingError::TooLarge { .. } => {
                (Verdict::CompileError, Some(VerdictKind::CompileLimit))
            }
            EncodingError::Malformed(_) => (Verdict::JudgeError, None),
        };
        CompileRefusal {
            verdict,
            kind,
            message: error.to_string(),
            diagnostics: Vec::new(),
        }
    })
}

fn refuse_plan(failure: PlanFailure) -> CompileRefusal {
    let message = first_message(&failure.diagnostics, "the host function cannot be planned");
    CompileRefusal {
        verdict: failure.verdict(),
        kind: Some(failure.kind),
        message,
        diagnostics: failure.diagnostics,
    }
}

fn refuse_compile(failure: CompileFailure) -> CompileRefusal {
    match failure {
        CompileFailure::Errors(diagnostics) => CompileRefusal {
            verdict: Verdict::CompileError,
            kind: Some(VerdictKind::Diagnostics),
            message: first_message(&diagnostics, "the compiler refused the source"),
            diagnostics,
        },
        CompileFailure::Limit(what) => CompileRefusal {
            verdict: Verdict::CompileError,
            kind: Some(VerdictKind::CompileLimit),
            message: what.to_string(),
            diagnostics: Vec::new(),
        },
        CompileFailure::Internal(message) => CompileRefusal {
            verdict: Verdict::JudgeError,
            kind: None,
            message,
            diagnostics: Vec::new(),
        },
    }
}

fn first_message(diagnostics: &[Diagnostic], otherwise: &str) -> String {
    let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
    match first {
        Some(diagnostic) => match diagnostic.line {
            Some(line) => format!("line {line}: {}", diagnostic.message),
            None => diagnostic.message.clone(),
        },
        None => otherwise.to_owned(),
    }
}

#[cfg(test)]
mod tests;
