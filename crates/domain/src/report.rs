//! The report of one judging: `lightspeed.report/1`.
//!
//! Units are in the names. A number nobody measured is `null`, never 0. Readers must ignore fields
//! they do not know. Held-out rows appear without axes or values.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    Axes, DeviceKind, DeviceName, Diagnostic, MachineState, Mode, TimerRef, Verdict, VerdictKind,
};

/// The `schema` field of every report this code writes.
pub const REPORT_SCHEMA: &str = "lightspeed.report/1";

/// Everything a judging found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Report {
    /// Always [`REPORT_SCHEMA`].
    pub schema: String,
    /// Which problem, at which version.
    pub problem: ProblemRef,
    /// Which device.
    pub device: DeviceRef,
    /// Practice or ranked.
    pub mode: Mode,
    /// SHA-256 of the submitted bytes.
    pub source_sha256: String,
    /// What compiled it.
    pub toolchain: ToolchainRef,
    /// The final word.
    pub verdict: Verdict,
    /// What exactly happened.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: String,
    /// Messages at places in the source.
    pub diagnostics: Vec<Diagnostic>,
    /// How the host function ran.
    pub execution: Execution,
    /// Compiled kernels.
    pub kernels: Vec<KernelResources>,
    /// One row a shape, in judging order.
    pub shapes: Vec<ShapeReport>,
    /// The score, where one was earned.
    pub score: Option<Score>,
    /// Where the time went.
    pub phases_s: PhaseTimes,
    /// The machine during the timed phase; `null` where nothing was timed.
    #[serde(default)]
    pub measurement: Option<Measurement>,
    /// What kernels printed; practice runs only, at most 64 KiB.
    #[serde(default)]
    pub printed: Option<String>,
    /// What a careful reader should know.
    pub warnings: Vec<String>,
    /// When the judging began.
    pub started_at: DateTime<Utc>,
    /// When the verdict was known.
    pub finished_at: DateTime<Utc>,
}

/// A problem at a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemRef {
    /// Slug.
    pub slug: String,
    /// Version of the package.
    pub version: u32,
}

/// The device as it was at the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeviceRef {
    /// Model.
    pub name: DeviceName,
    /// Measured or counted.
    pub kind: DeviceKind,
    /// The architecture compiled for, e.g. `sm_90a`.
    pub arch: String,
    /// Measurement profile: timer, clock mode, driver; `null` on the emulated device.
    pub profile: Option<String>,
}

/// The compiler, by version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolchainRef {
    /// NVRTC's version, e.g. `13.5.37`.
    pub nvrtc: String,
    /// CUPTI's version, where it timed.
    pub cupti: Option<String>,
    /// Options handed to NVRTC.
    pub options: Vec<String>,
}

/// How the host function ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Execution {
    /// Interpreted ahead into a launch plan.
    Planned,
    /// Interpreted while the device ran.
    Live,
}

/// What the compiler made of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelResources {
    /// Name as written in the source, with template arguments.
    pub name: String,
    /// Registers a thread.
    pub registers: Option<u32>,
    /// Local memory for spilled registers, a thread.
    pub spill_bytes: Option<u32>,
    /// Static shared memory a block.
    pub static_smem_bytes: Option<u32>,
    /// Dynamic shared memory a block, at its largest launch.
    #[serde(default)]
    pub dynamic_smem_bytes: Option<u32>,
    /// `__constant__` variables of the file, which every kernel can read.
    #[serde(default)]
    pub constant_bytes: Option<u32>,
    /// Local memory a thread: arrays that registers cannot hold, and spills.
    #[serde(default)]
    pub local_bytes: Option<u32>,
    /// Hardware barriers a block.
    #[serde(default)]
    pub barriers: Option<u32>,
    /// Threads a block at its largest launch: that with the most threads a block, of those the one with
    /// the most dynamic shared memory.
    #[serde(default)]
    pub block_threads: Option<u32>,
    /// Theoretical occupancy (0 to 1) at that launch.
    pub occupancy: Option<f64>,
    /// What keeps the occupancy from being higher; `null` where nothing does.
    #[serde(default)]
    pub occupancy_limiter: Option<OccupancyLimiter>,
}

/// What a multiprocessor runs out of first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum OccupancyLimiter {
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
    /// Room for blocks: small blocks leave threads unused.
    Blocks,
    /// Room for threads: one more block of this size does not fit.
    Threads,
}

/// Why a shape is in the judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ShapeRole {
    /// Correctness only.
    Edge,
    /// A stratum's public draw.
    Public,
    /// A stratum's secret draw of this epoch.
    HeldOut,
    /// A small stand-in on the emulated device.
    Emulated,
}

/// Which side of the roofline holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Bound {
    /// T_SOL is the compute time.
    Compute,
    /// T_SOL is the memory time.
    Memory,
}

/// One shape's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShapeReport {
    /// Stable name within the judging.
    pub id: String,
    /// The stratum it stands for; `null` for edge shapes.
    pub stratum: Option<String>,
    /// Why it is here.
    pub role: ShapeRole,
    /// Axis values; `null` on held-out rows.
    pub axes: Option<Axes>,
    /// Score weight; `null` for edge shapes.
    pub w: Option<f64>,
    /// This shape's verdict; `null` when the judging ended before it ran.
    pub verdict: Option<Verdict>,
    /// What exactly happened.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person, where there is something to say.
    pub message: Option<String>,
    /// What differs, in practice detail.
    pub mismatches: Vec<OutputMismatch>,
    /// Launches the plan makes; of a host function that was interpreted live, those of the untimed run.
    pub launches: Option<u32>,
    /// Times that the host function read device memory in the untimed run; `null` where it was planned.
    #[serde(default)]
    pub read_backs: Option<u32>,
    /// Operations the problem prices, in FLOP.
    pub flop: Option<f64>,
    /// Bytes that must move.
    pub fused_bytes: Option<u64>,
    /// Measured time; `null` on the emulated device.
    pub t_s: Option<f64>,
    /// What the hardware allows. On the emulated device: for the GPU it stands in for.
    pub t_sol_s: Option<f64>,
    /// Which side of the roofline holds.
    pub bound: Option<Bound>,
    /// T_SOL / T; `null` where the shape is not right.
    pub sol: Option<f64>,
    /// `fused_bytes / (32 * global sectors)`, emulated device only; `null` where the shape is not right.
    pub traffic_efficiency: Option<f64>,
    /// What the emulated device counted.
    pub counters: Option<Counters>,
    /// What a model makes of the counters, emulated device only.
    #[serde(default)]
    pub modelled: Option<Modelled>,
    /// How `t_s` was measured.
    #[serde(default)]
    pub timing: Option<Timing>,
}

/// How one shape was timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Timing {
    /// Median over the trials.
    pub t_s: f64,
    /// Half of the 95 % interval of the interquartile mean over all samples.
    pub half_width_s: f64,
    /// For short runs: time of one run among many back to back, by CUDA events. Caches are warm and
    /// the gap between two nodes of a graph is inside, so that it is not `t_s`.
    pub slope_s: Option<f64>,
    /// The same by the timer that measured `t_s`.
    pub slope_by_timer_s: Option<f64>,
    /// Whether the two slopes are within 10 % plus 0.1 us.
    pub timers_agree: Option<bool>,
    /// Median, over all samples, of the time that passed on the host meanwhile. No sample is longer than
    /// what passed during it.
    #[serde(default)]
    pub host_wall_s: Option<f64>,
    /// Runs that the timer missed something of, and that were done again.
    #[serde(default)]
    pub missed_samples: u32,
    /// Timed samples whose outputs were compared with the reference.
    pub verified_samples: u32,
    /// Each trial.
    pub trials: Vec<Trial>,
}

/// One trial of one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trial {
    /// Interquartile mean of the samples.
    pub t_s: f64,
    /// Each sample, in order.
    pub samples_s: Vec<f64>,
}

/// The machine during the timed phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Measurement {
    /// What measured.
    pub timer: TimerRef,
    /// Whether the operator holds the clocks.
    pub clock_mode: ClockMode,
    /// Device time spent until the clock was steady.
    pub warm_up_s: f64,
    /// Time of a kernel that depends on the clock alone: before the trials and after each.
    pub canary_s: Vec<f64>,
    /// Whether those around the trials that count are within 2 %.
    pub steady: bool,
    /// How often all trials started anew because the clock had moved by more than 2 % during one.
    #[serde(default)]
    pub restarts: u32,
    /// Sensors before the trials.
    pub before: Option<MachineState>,
    /// Sensors after them.
    pub after: Option<MachineState>,
    /// What this very card reaches at best; `null` where it was never calibrated.
    #[serde(default)]
    pub ceilings: Option<Ceilings>,
}

/// What a card reached when it was calibrated. A figure that could not be measured is absent; so is
/// the rate of a pipe that the card lacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Ceilings {
    /// When.
    pub calibrated_at: DateTime<Utc>,
    /// Device memory, read and written in equal parts, both counted.
    pub copy_bytes_per_s: Option<f64>,
    /// Device memory, read only.
    pub read_bytes_per_s: Option<f64>,
    /// L2 cache, read only.
    pub l2_read_bytes_per_s: Option<f64>,
    /// Shared memory of all multiprocessors, read only.
    pub shared_read_bytes_per_s: Option<f64>,
    /// Time of an empty kernel.
    pub launch_floor_s: Option<f64>,
    /// By pipe, spelt as in packages; a multiply-add counts two.
    pub flop_per_s: BTreeMap<String, f64>,
}

/// Who decides on the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ClockMode {
    /// The card, from moment to moment.
    Unlocked,
    /// The operator.
    Locked,
}

/// One output that differs from the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutputMismatch {
    /// The parameter's name in the problem.
    pub output: String,
    /// Elements outside their tolerance.
    pub count: u64,
    /// Elements in all.
    pub elements: u64,
    /// NaN where the reference has none.
    pub nan: u64,
    /// Infinity where the reference has none.
    pub inf: u64,
    /// Elements that still hold the poison pattern: never written.
    pub unwritten: u64,
    /// What all wrong elements look like the work of, where they do.
    #[serde(default)]
    pub likely_cause: Option<LikelyCause>,
    /// Largest absolute error; `null` when no finite one exists.
    pub max_abs_error: Option<f64>,
    /// Largest relative error; `null` when no finite one exists.
    pub max_rel_error: Option<f64>,
    /// The first few.
    pub first: Vec<ElementMismatch>,
}

/// A mistake that shows in the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LikelyCause {
    /// The output was added to before it was set: what it held before the call is part of the result.
    OutputNotSet,
}

/// One element that differs. Non-finite values are spelt `NaN`, `inf`, `-inf`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ElementMismatch {
    /// Index along each dimension of the tensor.
    pub index: Vec<u64>,
    /// What the reference has.
    pub expected: String,
    /// What the submission wrote.
    pub actual: String,
    /// The difference that would have been admitted.
    pub tolerance: String,
}

/// What the emulated device counted over all launches of a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Counters {
    /// Instructions issued, one a warp.
    pub warp_instructions: u64,
    /// Instructions executed, one an active lane.
    pub thread_instructions: u64,
    /// Warp-level global loads and stores.
    pub global_requests: u64,
    /// 32-byte sectors touched by global loads.
    pub global_load_sectors: u64,
    /// 32-byte sectors touched by global stores and atomics.
    pub global_store_sectors: u64,
    /// Warp-level shared-memory accesses.
    pub shared_requests: u64,
    /// Passes the shared memory needs for them; more than requests means bank conflicts.
    pub shared_wavefronts: u64,
    /// Barriers, one a warp.
    pub barriers: u64,
    /// Atomic operations, one an active lane.
    pub atomics: u64,
    /// Conditional branches on which lanes of a warp disagree.
    pub divergent_branches: u64,
    /// Floating-point operations by type (`f32`, `f64`, ...); a fused multiply-add counts two.
    pub flop: BTreeMap<String, u64>,
}

impl std::ops::AddAssign<&Counters> for Counters {
    fn add_assign(&mut self, other: &Counters) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.global_requests += other.global_requests;
        self.global_load_sectors += other.global_load_sectors;
        self.global_store_sectors += other.global_store_sectors;
        self.shared_requests += other.shared_requests;
        self.shared_wavefronts += other.shared_wavefronts;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
        self.divergent_branches += other.divergent_branches;
        for (pipe, flop) in &other.flop {
            *self.flop.entry(pipe.clone()).or_default() += flop;
        }
    }
}

/// An estimate for the GPU that the emulated device stands in for, from what was counted. Nothing of it was
/// measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Modelled {
    /// Time; `null` where the counters do not suffice.
    pub t_s: Option<f64>,
    /// T_SOL / `t_s`; `null` where the shape is not right.
    pub sol: Option<f64>,
    /// What the greatest part of the time goes to.
    pub limit: Option<ModelTerm>,
    /// What each unit would need by itself, over all launches, the longest first.
    pub terms: Vec<ModelledTerm>,
    /// Why there is no time.
    pub incomplete: Option<String>,
}

/// One unit's part in a modelled time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelledTerm {
    /// Which.
    pub term: ModelTerm,
    /// What it would need, s.
    pub t_s: f64,
}

/// What can limit a kernel, as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ModelTerm {
    /// Launches, and the gaps between them.
    Launch,
    /// Bytes from and to device memory.
    Dram,
    /// Sectors from and to the L2 cache.
    L2,
    /// Passes over the banks of shared memory.
    Shared,
    /// Issue slots.
    Issue,
    /// The busiest pipe that is not the tensor cores.
    Pipe,
    /// The tensor cores.
    Tensor,
    /// Atomic operations on one address.
    Atomics,
    /// Chains of results that wait for one another.
    Latency,
}

impl ModelTerm {
    /// In words, for a person.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Launch => "launches",
            Self::Dram => "device memory",
            Self::L2 => "the L2 cache",
            Self::Shared => "shared memory",
            Self::Issue => "issue slots",
            Self::Pipe => "an arithmetic pipe",
            Self::Tensor => "tensor cores",
            Self::Atomics => "atomics on one address",
            Self::Latency => "latency",
        }
    }
}

/// What the board ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ScoreMetric {
    /// Measured against the limit.
    Sol,
    /// Modelled from counters against the limit.
    ModelledSol,
    /// Fused bytes over bytes moved in sectors.
    TrafficEfficiency,
}

/// A score over the distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Score {
    /// What `value` is.
    pub metric: ScoreMetric,
    /// The headline, 0 to 1.
    pub value: Option<f64>,
    /// The same with T_SOL alone, without the launch floor.
    pub strict_sol: Option<f64>,
    /// Id of the shape with the lowest ratio.
    pub worst_shape: Option<String>,
    /// Version of the formulas and device figures.
    pub scoring_version: u32,
}

/// Seconds spent in each phase; `null` where it did not happen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PhaseTimes {
    /// Waiting for a worker.
    pub queue: Option<f64>,
    /// Parsing and interpreting the host function. It and `compile` are `null` where the code was kept from
    /// an earlier judging of the same source.
    pub plan: Option<f64>,
    /// NVRTC.
    pub compile: Option<f64>,
    /// Running the submission's kernels.
    pub execute: Option<f64>,
    /// Reference and comparison.
    pub check: Option<f64>,
    /// The timed phase: all samples, with everything between them.
    #[serde(default)]
    pub time: Option<f64>,
    /// Everything else the judge did.
    pub overhead: Option<f64>,
    /// From start to verdict.
    pub total: Option<f64>,
}
