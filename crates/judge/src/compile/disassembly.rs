//! The machine code of a submission as text, by children that can do no harm.
//!
//! The binary comes of untrusted text, inline assembly included, and a disassembler is a large foreign
//! program: it runs as the last step of a child that reads nothing but the binary and writes nothing but its
//! output. A second child reads that. Whatever goes wrong, the verdict is written by then; there is no machine
//! code, and a few words say why.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use domain::{CodeListing, CodeText};
use sandbox::{ChildCommand, ChildFailure, PROGRAM_INPUT, Policy, Program};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::wire::{CompileTask, CompiledSource, MachineCodeJob, ToldCode};
use super::{ask, cache};
use crate::Environment;
use crate::child::DISASSEMBLE_ROLE;

/// Processor time of the disassembler: five times what half a mebibyte of sorting code takes.
const CPU_S: u64 = 3;
/// Wall clock of each of the two children, which a busy host may need.
const WALL: Duration = Duration::from_secs(6);
/// Memory of the disassembler.
const MEMORY_BYTES: u64 = 1 << 30;
/// What the disassembler may write; most of it tells where code was inlined.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// What a submission was compiled to, as far as it may be told.
#[derive(Clone, Debug)]
pub(crate) struct CompiledCode {
    listing: CodeListing,
    told: ToldCode,
}

impl CompiledCode {
    /// The code without machine code as text.
    pub fn of(compiled: &CompiledSource) -> Self {
        Self {
            listing: compiled.listing.clone(),
            told: compiled.told(),
        }
    }

    /// The code with its machine code, or why there is none.
    pub fn disassembled(self, environment: &Environment) -> CodeListing {
        let Self { mut listing, told } = self;
        if listing.ptx.parts.is_empty() {
            return listing; // it broke the contract, and will not be kept
        }
        match machine_code(environment, &told) {
            Ok(text) => listing.sass = Some(text),
            Err(reason) => listing.no_sass = Some(reason),
        }
        listing
    }
}

/// What the text is kept under. The compiler's version, which is the disassembler's, is part of every name.
#[derive(Serialize)]
struct Kept<'a> {
    machine_code_of: String,
    lowered_names: &'a BTreeMap<String, String>,
}

fn machine_code(environment: &Environment, told: &ToldCode) -> Result<CodeText, String> {
    let key = Kept {
        machine_code_of: hex::encode(Sha256::digest(&told.cubin)),
        lowered_names: &told.lowered_names,
    };
    let directory = environment.cache.as_ref();
    if let Some(directory) = directory
        && let Some(text) = cache::load(directory, &key)
    {
        cache::touch(directory, &key, environment.clock.now().into());
        return Ok(text);
    }
    let started = Instant::now();
    let text = disassemble(environment, &told.cubin)?;
    let task = CompileTask::MachineCode(MachineCodeJob {
        text: String::from_utf8_lossy(&text).into_owned(),
        lowered_names: told.lowered_names.clone(),
    });
    let read = ask::<CodeText>(environment, &task, WALL);
    let (text, _) = read.map_err(|failure| match failure {
        ChildFailure::Cancelled => CANCELLED.to_owned(),
        failure => {
            tracing::warn!(%failure, "the machine code cannot be read");
            "the machine code cannot be read".to_owned()
        }
    })?;
    tracing::debug!(bytes = told.cubin.len(), elapsed = ?started.elapsed(), "disassembled");
    if text.parts.is_empty() {
        return Err("the disassembler found no code".to_owned());
    }
    text.check()
        .map_err(|fault| format!("the machine code cannot be shown: {fault}"))?;
    if let Some(directory) = directory {
        cache::store(directory, &key, &text);
        cache::prune(directory, environment.cache_bytes);
    }
    Ok(text)
}

/// What the toolchain's disassembler writes of a binary. Untrusted.
pub(crate) fn disassemble(environment: &Environment, cubin: &[u8]) -> Result<Vec<u8>, String> {
    let tool = environment.toolchain.nvdisasm();
    let tool = tool.ok_or("the judge's CUDA toolchain has no nvdisasm")?;
    let mut arguments = tool.options;
    arguments.push(PROGRAM_INPUT.to_owned());
    let command = ChildCommand {
        program: environment.program.clone(),
        role: DISASSEMBLE_ROLE.to_owned(),
        policy: Policy {
            readable: Vec::new(),
            loadable: tool.libraries,
            writable: Vec::new(),
            program: Some(Program {
                path: tool.program,
                arguments,
                loaders: tool.loaders,
            }),
            local_listener: false,
            environment: Vec::new(),
            cpu_s: CPU_S,
            wall: WALL,
            memory_bytes: Some(MEMORY_BYTES),
            max_response_bytes: MAX_TEXT_BYTES,
            allow_unconfined: environment.allow_unconfined,
        },
    };
    let answer = command.run_program(cubin, Some(&environment.cancel));
    let answer = answer.map_err(|failure| explain(&failure))?;
    Ok(answer.response)
}

const CANCELLED: &str = "the judging was cancelled";

/// Why the disassembler failed, without any words of its own.
fn explain(failure: &ChildFailure) -> String {
    let what = "the disassembler failed";
    match failure {
        ChildFailure::WallClock { .. } => {
            format!("disassembling took longer than {} s", WALL.as_secs())
        }
        ChildFailure::CpuLimit => {
            format!("disassembling took more than {CPU_S} s of processor time")
        }
        ChildFailure::MemoryLimit => {
            let gib = MEMORY_BYTES >> 30;
            format!("disassembling took more than {gib} GiB of memory")
        }
        ChildFailure::ResponseTooLarge => {
            let mib = MAX_TEXT_BYTES >> 20;
            format!("the machine code is longer than {mib} MiB as text")
        }
        ChildFailure::Cancelled => CANCELLED.to_owned(),
        ChildFailure::Signal { .. } | ChildFailure::ExitCode { .. } => {
            tracing::warn!(%failure, "{what}");
            format!("{what} on this code ({})", failure.in_own_words())
        }
        ChildFailure::Spawn(_) | ChildFailure::Protocol(_) | ChildFailure::Unconfined(_) => {
            tracing::warn!(%failure, "{what}");
            what.to_owned()
        }
    }
}
