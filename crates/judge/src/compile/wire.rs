//! What goes into a compile child and what comes out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use domain::{CodeListing, DeviceName, Diagnostic, Signature, TargetLimits, Verdict, VerdictKind};
use launch_plan::{Argument, Plan};
use serde::{Deserialize, Serialize};
use toolchain::Toolchain;

use crate::host_code::HostCode;
use crate::instances::Asked;
use crate::wire::Code;

/// What a compile child is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum CompileTask {
    /// A source with a host function; the answer is a [`CompileReply`].
    Source(CompileJob),
    /// The same source, only looked through for errors; the answer is a [`SyntaxReply`].
    Syntax(CompileJob),
    /// The judge's own kernels; the answer is a [`KernelsReply`].
    Kernels(KernelsJob),
    /// What a disassembler wrote, for people; the answer is a [`domain::CodeText`].
    MachineCode(MachineCodeJob),
}

/// Sources of our own, each compiled by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum KernelSet {
    /// What every judging on a GPU needs.
    Judging,
    /// Bandwidths of a card.
    Memory,
    /// Rates of its vector units.
    Vector,
    /// Rates of its tensor cores.
    Mma,
    /// The same by Hopper's own instructions.
    Wgmma,
    /// What the experiments time.
    Experiments,
}

impl KernelSet {
    /// The source.
    pub fn source(self) -> &'static str {
        match self {
            Self::Judging => crate::kernels::SOURCE,
            Self::Memory => include_str!("../calibration/memory.cu"),
            Self::Vector => include_str!("../calibration/vector.cu"),
            Self::Mma => include_str!("../calibration/mma.cu"),
            Self::Wgmma => include_str!("../calibration/wgmma.cu"),
            Self::Experiments => include_str!("../experiments/kernels.cu"),
        }
    }
}

/// Which of our kernels are compiled, and for what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KernelsJob {
    /// The source.
    pub set: KernelSet,
    /// NVRTC's name of the architecture.
    pub arch: String,
    /// The pinned toolchain.
    pub toolchain: PathBuf,
}

impl KernelsJob {
    /// One set for a model.
    pub fn of(set: KernelSet, device: DeviceName, toolchain: &Toolchain) -> Self {
        Self {
            set,
            arch: scoring::device(device).limits.arch.clone(),
            toolchain: toolchain.root().to_owned(),
        }
    }
}

/// Machine code as text. A disassembler wrote it from what a submission had a hand in, and it is read
/// where that can do no harm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MachineCodeJob {
    /// The text.
    pub text: String,
    /// Mangled kernel names by instantiation.
    pub lowered_names: BTreeMap<String, String>,
}

/// What is wrong with a source as far as the compiler's front end can tell.
pub(crate) type SyntaxReply = Vec<Diagnostic>;

/// The judge's kernels, or why there are none.
pub(crate) type KernelsReply = Result<Code, String>;

/// One source to plan over all its shapes and to compile once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CompileJob {
    /// The text as submitted.
    pub source: String,
    /// What the entry point must look like.
    pub signature: Signature,
    /// What the entry point is called with.
    pub shapes: Vec<ShapeCall>,
    /// The device compiled for.
    pub limits: TargetLimits,
    /// The pinned toolchain.
    pub toolchain: PathBuf,
    /// Kernel instances that no plan names and runs asked for.
    pub asked: Asked,
}

/// One call of the entry point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShapeCall {
    /// Its arguments, in the signature's order.
    pub arguments: Vec<Argument>,
    /// Whether nothing may be told of it but that it failed.
    pub held_out: bool,
}

/// A source that can run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CompiledSource {
    /// One plan a shape, in the job's order; empty where there is none.
    pub plans: Vec<Plan>,
    /// Held-out shapes, by their index in the plans.
    #[serde(default)]
    pub held_out: BTreeSet<usize>,
    /// Held-out shapes that have no plan, or none that the device would take. They fail when their turn
    /// comes: a submission must not be able to tell them by when it fails.
    #[serde(default)]
    pub unplanned: BTreeSet<usize>,
    /// The host functions, where a plan is [`Plan::live`].
    #[serde(default)]
    pub host: Option<HostCode>,
    /// The code, for the emulated device.
    pub ptx: String,
    /// The code, for a GPU of exactly the target's architecture.
    #[serde(with = "hex::serde")]
    pub cubin: Vec<u8>,
    /// The code for people, without what only held-out shapes instantiate.
    pub listing: CodeListing,
    /// The binary without what only held-out shapes instantiate, where that is another than `cubin`.
    #[serde(default)]
    pub told: Option<ToldCode>,
    /// Mangled kernel name by instantiation as the plans spell it.
    pub lowered_names: BTreeMap<String, String>,
    /// Those of the job's [`CompileJob::asked`] that may be spoken of.
    pub asked: BTreeSet<String>,
    /// What the compiler made of each kernel.
    pub usage: Vec<toolchain::KernelUsage>,
    /// Warnings of both stages.
    pub warnings: Vec<Diagnostic>,
    /// Options handed to NVRTC.
    pub options: Vec<String>,
    /// NVRTC's version.
    pub nvrtc_version: String,
}

/// A binary that may be told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ToldCode {
    /// The binary.
    #[serde(with = "hex::serde")]
    pub cubin: Vec<u8>,
    /// Mangled kernel name by instantiation.
    pub lowered_names: BTreeMap<String, String>,
}

impl CompiledSource {
    /// The binary as it may be told.
    pub fn told(&self) -> ToldCode {
        self.told.clone().unwrap_or_else(|| ToldCode {
            cubin: self.cubin.clone(),
            lowered_names: self.lowered_names.clone(),
        })
    }

    /// The plans that may be spoken of.
    pub fn open_plans(&self) -> impl Iterator<Item = &Plan> {
        let plans = self.plans.iter().enumerate();
        plans
            .filter(|(index, _)| !self.held_out.contains(index))
            .map(|(_, plan)| plan)
    }
}

/// A source that cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CompileRefusal {
    /// `plan_error`, `compile_error` or `judge_error`.
    pub verdict: Verdict,
    /// What exactly.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: String,
    /// Messages at places in the source.
    pub diagnostics: Vec<Diagnostic>,
}

/// Seconds spent inside the child.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CompileTimes {
    /// Parsing and interpreting the host function over all shapes.
    pub plan_s: f64,
    /// NVRTC.
    pub compile_s: f64,
}

impl std::ops::AddAssign for CompileTimes {
    fn add_assign(&mut self, other: Self) {
        self.plan_s += other.plan_s;
        self.compile_s += other.compile_s;
    }
}

/// The child's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CompileReply {
    /// What came of it.
    pub outcome: Result<CompiledSource, CompileRefusal>,
    /// Where the time went.
    pub times: CompileTimes,
    /// Set by the parent: how the child's confinement fell short.
    #[serde(skip)]
    pub confinement_warning: Option<String>,
}

/// How NVRTC is asked for the lowered name of a `__constant__` or `__device__` variable.
pub(crate) fn symbol_expression(symbol: &str) -> String {
    format!("&{symbol}")
}
