//! From a source to plans and code, in a `__compile` child.

pub(crate) mod cache;
pub(crate) mod child;
pub(crate) mod disassembly;
mod facts;
mod listing;
#[cfg(test)]
mod messages_tests;
mod planning;
pub(crate) mod wire;

use std::time::Duration;

use domain::{Severity, Verdict, VerdictKind};
use sandbox::{ChildCommand, ChildFailure, Policy};

use serde::de::DeserializeOwned;

use self::wire::{
    CompileJob, CompileRefusal, CompileReply, CompileTask, CompileTimes, CompiledSource,
    KernelsJob, KernelsReply, SyntaxReply,
};
use crate::Environment;
use crate::child::COMPILE_ROLE;
use crate::outcome::Interruption;
use crate::wire::Code;

/// Memory of one compile.
const MEMORY_BYTES: u64 = 4 << 30;
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Wall clock of a compile of the judge's own kernels.
pub(crate) const KERNELS_WALL: Duration = Duration::from_secs(60);

/// Sent by the host (its operator, or the kernel out of memory), never by a source.
const SIGKILL: i32 = 9;

/// Plans and compiles an untrusted source. The result is kept: whoever submits the same text for the
/// same shapes and target gets the same answer. Limits are not kept, since they depend on the host and
/// its load; nor is a crash, nor what went wrong on our side.
pub(crate) fn compile(environment: &Environment, job: &CompileJob, wall: Duration) -> CompileReply {
    kept(environment, job, wall, |outcome| match outcome {
        Ok(_) => true,
        Err(refusal) => {
            refusal.verdict == Verdict::PlanError || refusal.kind == Some(VerdictKind::Diagnostics)
        }
    })
}

/// Plans and compiles a package's own source. Only success is kept.
pub(crate) fn compile_cached(
    environment: &Environment,
    job: &CompileJob,
    wall: Duration,
) -> CompileReply {
    kept(environment, job, wall, Result::is_ok)
}

fn kept(
    environment: &Environment,
    job: &CompileJob,
    wall: Duration,
    is_lasting: impl FnOnce(&Result<CompiledSource, CompileRefusal>) -> bool,
) -> CompileReply {
    let Some(directory) = &environment.cache else {
        return compile_now(environment, job, wall);
    };
    if let Some(reply) = cache::load::<CompileReply>(directory, job) {
        cache::touch(directory, job, environment.clock.now().into());
        return CompileReply {
            // What it took was another judging's time, and can be more than this one takes in all.
            times: CompileTimes::default(),
            ..reply
        };
    }
    let reply = compile_now(environment, job, wall);
    if is_lasting(&reply.outcome) {
        cache::store(directory, job, &reply);
        cache::prune(directory, environment.cache_bytes);
    }
    reply
}

fn compile_now(environment: &Environment, job: &CompileJob, wall: Duration) -> CompileReply {
    let task = CompileTask::Source(job.clone());
    let refusal = match ask::<CompileReply>(environment, &task, wall) {
        Ok((mut reply, confinement_warning)) => {
            if let Ok(compiled) = &mut reply.outcome {
                listing::leave_out_unsound(&mut compiled.listing, &mut compiled.warnings);
            }
            return CompileReply {
                confinement_warning,
                ..reply
            };
        }
        Err(failure) => {
            let refusal = refuse(&failure, wall);
            match refusal.kind {
                Some(VerdictKind::CompilerCrash) => explain_crash(environment, job, wall, refusal),
                _ => refusal,
            }
        }
    };
    CompileReply {
        outcome: Err(refusal),
        times: CompileTimes::default(),
        confinement_warning: None,
    }
}

/// Adds what a second child learns that only looks for errors: as a rule it is an erroneous template
/// that a launch instantiates which brings the compiler down.
fn explain_crash(
    environment: &Environment,
    job: &CompileJob,
    wall: Duration,
    crash: CompileRefusal,
) -> CompileRefusal {
    let task = CompileTask::Syntax(job.clone());
    let Ok((diagnostics, _)) = ask::<SyntaxReply>(environment, &task, wall) else {
        return crash; // it crashes there, too
    };
    let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
    let message = match first {
        Some(error) => {
            let line = error
                .line
                .map_or(String::new(), |line| format!("line {line}: "));
            format!(
                "{}, which has errors: {line}{}",
                crash.message, error.message
            )
        }
        None => crash.message,
    };
    CompileRefusal {
        message,
        diagnostics,
        ..crash
    }
}

/// Compiles the judge's own kernels, which are kept between judgings too.
pub(crate) fn kernels(
    environment: &Environment,
    job: &KernelsJob,
    wall: Duration,
) -> Result<Code, Interruption> {
    let directory = environment.cache.as_ref();
    if let Some(code) = directory.and_then(|directory| cache::load(directory, job)) {
        return Ok(code);
    }
    let task = CompileTask::Kernels(job.clone());
    let (reply, _) = ask::<KernelsReply>(environment, &task, wall).map_err(|failure| {
        Interruption::from(CompileRefusal {
            // Whatever happens to our own source is not the submission's doing.
            verdict: match failure {
                ChildFailure::Cancelled => Verdict::Cancelled,
                _ => Verdict::JudgeError,
            },
            ..refuse(&failure, wall)
        })
    })?;
    let code = reply.map_err(|e| Interruption::ours(format!("the judge's kernels: {e}")))?;
    if let Some(directory) = directory {
        cache::store(directory, job, &code);
    }
    Ok(code)
}

/// The child's answer, and how its confinement fell short.
fn ask<Reply: DeserializeOwned>(
    environment: &Environment,
    task: &CompileTask,
    wall: Duration,
) -> Result<(Reply, Option<String>), ChildFailure> {
    let request = serde_json::to_vec(task).expect("a task is plain data");
    let command = ChildCommand {
        program: environment.program.clone(),
        role: COMPILE_ROLE.to_owned(),
        policy: policy(environment, wall),
    };
    let answer = command.run(&request, &mut |_| {}, Some(&environment.cancel))?;
    let reply = serde_json::from_slice(&answer.response)
        .map_err(|e| ChildFailure::Protocol(e.to_string()))?;
    Ok((reply, answer.confinement.warning()))
}

fn policy(environment: &Environment, wall: Duration) -> Policy {
    let toolchain = &environment.toolchain;
    Policy {
        readable: toolchain.readable_paths(),
        loadable: toolchain.loadable_paths(),
        writable: Vec::new(),
        program: None,
        local_listener: false,
        environment: Vec::new(),
        cpu_s: cpu_s(wall),
        wall,
        memory_bytes: Some(MEMORY_BYTES),
        max_response_bytes: MAX_RESPONSE_BYTES,
        allow_unconfined: environment.allow_unconfined,
    }
}

/// Processor time within a wall clock: a compile has one busy thread, and a source that keeps it busy
/// to the end should be told so rather than that the clock ran out.
fn cpu_s(wall: Duration) -> u64 {
    (wall.as_secs() * 2 / 3).max(1)
}

fn refuse(failure: &ChildFailure, wall: Duration) -> CompileRefusal {
    let (verdict, kind, message) = match failure {
        ChildFailure::WallClock { .. } => limit(format!(
            "compiling took longer than {} s, the limit",
            wall.as_secs()
        )),
        ChildFailure::CpuLimit => limit(format!(
            "compiling took more than {} s of processor time, the limit",
            cpu_s(wall)
        )),
        ChildFailure::MemoryLimit => limit(format!(
            "compiling needed more than {} GiB of memory, the limit",
            MEMORY_BYTES >> 30
        )),
        ChildFailure::ResponseTooLarge => limit(format!(
            "the compiled code is larger than {} MiB, the limit",
            MAX_RESPONSE_BYTES >> 20
        )),
        // NVRTC crashes on some malformed sources, and aborts when memory runs out.
        ChildFailure::Signal { signal, .. } if *signal != SIGKILL => (
            Verdict::CompileError,
            Some(VerdictKind::CompilerCrash),
            format!("the compiler crashed on this source (signal {signal})"),
        ),
        ChildFailure::Cancelled => (Verdict::Cancelled, None, "cancelled while compiling".into()),
        other => (Verdict::JudgeError, None, format!("compile child: {other}")),
    };
    CompileRefusal {
        verdict,
        kind,
        message,
        diagnostics: Vec::new(),
    }
}

fn limit(message: String) -> (Verdict, Option<VerdictKind>, String) {
    (
        Verdict::CompileError,
        Some(VerdictKind::CompileLimit),
        message,
    )
}
