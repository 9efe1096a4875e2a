//! Inside the `__compile` child: parse, interpret the host function over all shapes, compile once.

use std::collections::BTreeSet;
use std::time::Instant;

use domain::{Verdict, VerdictKind};
use launch_plan::{EncodingError, Operation, Plan, PlanFailure, Program};
use toolchain::{CompileFailure, CompileRequest, Toolchain};

use super::wire::{
    CompileJob, CompileRefusal, CompileReply, CompileTask, CompileTimes, CompiledSource,
    KernelsJob, KernelsReply, symbol_expression,
};
use crate::host_code::HostCode;
use crate::wire::Code;

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
        CompileTask::Kernels(job) => serde_json::to_vec(&compile_kernels(&job)),
    };
    answer.map_err(|e| e.to_string())
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
    let started = Instant::now();
    let parsed = Program::parse(&job.source, &job.signature);
    let planned = parsed.map(|program| {
        let plans = plan(&program, job);
        (program, plans)
    });
    times.plan_s = started.elapsed().as_secs_f64();
    let (program, plans) = planned.map_err(refuse_plan)?;

    let started = Instant::now();
    // A syntax error can hide a kernel from the plan; the compiler explains it better, so it is asked
    // even where there is no plan.
    let expressions = plans
        .as_ref()
        .map(|plans| plans.iter().flat_map(name_expressions).collect());
    let compiled = compile(job, &program, expressions.unwrap_or_default());
    times.compile_s = started.elapsed().as_secs_f64();
    let (plans, compiled) = match (plans, compiled) {
        (Ok(plans), Ok(compiled)) => (plans, compiled),
        (_, Err(failure @ CompileFailure::Errors(_))) | (Ok(_), Err(failure)) => {
            return Err(refuse_compile(failure));
        }
        (Err(failure), _) => return Err(refuse_plan(failure)),
    };

    let host = match plans.iter().any(|plan| plan.live.is_some()) {
        true => Some(host_code(&program)?),
        false => None,
    };
    let mut warnings = Vec::new();
    let shapes: Vec<_> = job.shapes.iter().map(Vec::as_slice).zip(&plans).collect();
    let overall = program.warnings(&job.signature, &shapes);
    let planned = plans.iter().flat_map(|plan| &plan.warnings);
    for warning in planned.chain(&overall).chain(&compiled.diagnostics) {
        // Shapes mostly say the same.
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    Ok(CompiledSource {
        plans,
        host,
        ptx: compiled.ptx,
        cubin: compiled.cubin.unwrap_or_default(),
        lowered_names: compiled.lowered_names,
        usage: compiled.kernels,
        warnings,
        options: compiled.options,
        nvrtc_version: compiled.nvrtc_version,
    })
}

fn plan(program: &Program, job: &CompileJob) -> Result<Vec<Plan>, PlanFailure> {
    job.shapes
        .iter()
        .map(|arguments| program.plan(arguments, &job.limits))
        .collect()
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

/// Everything whose lowered name the executor will need.
fn name_expressions(plan: &Plan) -> impl Iterator<Item = String> {
    let kernels = plan.instantiations().into_iter().map(|instance| instance.0);
    let symbols = plan
        .operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::UploadSymbol { symbol, .. } | Operation::CopyToSymbol { symbol, .. } => {
                Some(symbol_expression(symbol))
            }
            _ => None,
        });
    let live = plan.live.iter().flat_map(|live| &live.symbols);
    let live = live.map(|symbol| symbol_expression(symbol));
    kernels.chain(symbols).chain(live)
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

fn first_message(diagnostics: &[domain::Diagnostic], otherwise: &str) -> String {
    let first = diagnostics
        .iter()
        .find(|d| d.severity == domain::Severity::Error);
    match first {
        Some(diagnostic) => match diagnostic.line {
            Some(line) => format!("line {line}: {}", diagnostic.message),
            None => diagnostic.message.clone(),
        },
        None => otherwise.to_owned(),
    }
}
