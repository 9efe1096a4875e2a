//! Problems as a reader sees them. Held-out draws are never in here.

use std::collections::BTreeMap;

use domain::report::Bound;
use domain::signature::Direction;
use domain::{Axes, DeviceName, ElementType};
use serde::{Deserialize, Serialize};

/// `GET /api/v1/problems`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemList {
    /// By slug.
    pub problems: Vec<ProblemSummary>,
}

/// What a problem is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ProblemKind {
    /// For learners.
    Lesson,
    /// From real models, with the shape distribution they have.
    Workload,
}

/// The same text in both languages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Localized {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// One row of the problem list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemSummary {
    /// Slug.
    pub slug: String,
    /// Newest version.
    pub version: u32,
    /// Lesson or workload.
    pub kind: ProblemKind,
    /// Title.
    pub title: Localized,
    /// `easy`, `medium` or `hard`.
    pub difficulty: String,
    /// Topics.
    pub tags: Vec<String>,
    /// Which side of the roofline holds on the heaviest stratum, on the reference device.
    pub bound: Option<Bound>,
    /// Devices it can be judged on.
    pub devices: Vec<DeviceName>,
    /// Users with an accepted ranked judging of this version.
    pub solvers: u64,
    /// Whether the caller is one of them; `null` to callers without an account.
    pub solved: Option<bool>,
}

/// `GET /api/v1/problems/{slug}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemDetail {
    /// What the list shows, too.
    #[serde(flatten)]
    pub summary: ProblemSummary,
    /// Markdown with KaTeX. Whoever renders it sanitises it.
    pub statement: Localized,
    /// The entry point as C++ text: `void solve(const float* A, int N)`.
    pub declaration: String,
    /// The parameter table, in the entry point's order.
    pub parameters: Vec<ParameterView>,
    /// Axes, in the package's order.
    pub axes: Vec<AxisView>,
    /// Weighted shape buckets.
    pub strata: Vec<StratumView>,
    /// Shapes checked for correctness only.
    pub edge_shapes: Vec<ShapeView>,
    /// Small stand-ins used on the emulated device.
    pub emulated_shapes: Vec<ShapeView>,
    /// What the problem prices.
    pub cost: CostView,
    /// What a submission may use up.
    pub limits: LimitsView,
    /// Conditions that every shape satisfies, over the axes.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Hints in order, from the gentlest.
    #[serde(default)]
    pub hints: Vec<Localized>,
    /// Where the shapes come from.
    #[serde(default)]
    pub provenance: ProvenanceView,
    /// Text the editor opens with.
    pub starter: String,
}

/// Where shapes and weights come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProvenanceView {
    /// Sources, in words.
    pub text: String,
    /// SPDX expression.
    pub licence: String,
}

/// One parameter of the entry point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ParameterView {
    /// The problem's name for it; a submission may use another.
    pub name: String,
    /// One line about it.
    pub about: Option<Localized>,
    /// C++ type as in the declaration, e.g. `const float*`.
    pub c_type: String,
    /// Element or scalar type.
    pub element: ElementType,
    /// How a tensor is used; `null` for scalars.
    pub direction: Option<Direction>,
    /// Extents of a tensor, outermost first, as expressions over the axes; `null` for scalars.
    pub shape: Option<Vec<String>>,
    /// What a scalar is given: an axis, an expression or a number; `null` for tensors.
    pub value: Option<String>,
    /// How contents are drawn, for inputs; `null` otherwise.
    pub generator: Option<String>,
    /// How exact an output must be; `null` otherwise.
    pub tolerance: Option<String>,
}

/// How an axis gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AxisKind {
    /// The same on every shape.
    Const,
    /// Each shape has its own.
    Var,
    /// Computed from other axes.
    Expr,
}

/// One axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AxisView {
    /// Name.
    pub name: String,
    /// One line about it.
    pub about: Option<Localized>,
    /// How it gets its value.
    pub kind: AxisKind,
    /// Of a `const`.
    pub value: Option<i64>,
    /// Least value of a `var`.
    pub min: Option<i64>,
    /// Greatest value of a `var`.
    pub max: Option<i64>,
    /// A `var` is a multiple of this.
    pub align: Option<i64>,
    /// Of an `expr`.
    pub expression: Option<String>,
}

/// One stratum. Weights are frozen data of the problem version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StratumView {
    /// Id.
    pub id: String,
    /// Model or deployment it stands for.
    pub label: String,
    /// Every axis of the public draw.
    pub axes: Axes,
    /// Ranges of the axes that are drawn; the others are fixed.
    pub drawn: BTreeMap<String, DrawnAxis>,
    /// Share of real invocations.
    pub calls: f64,
    /// Share of roofline time.
    pub time: f64,
    /// Score weight.
    pub w: f64,
    /// `trace`, `traced-model`, `config` or `spec`.
    pub basis: Option<String>,
    /// Where the numbers come from.
    pub source: Option<String>,
    /// What the public draw is limited by on the reference device.
    pub limit: Option<LimitView>,
}

/// T_SOL of one shape on one device, with what it follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LimitView {
    /// The device.
    pub device: DeviceName,
    /// Operations the problem prices.
    pub flop: f64,
    /// Bytes that must move.
    pub fused_bytes: u64,
    /// Time of the busiest unit at its peak.
    pub t_compute_s: f64,
    /// Time to move the bytes at peak bandwidth.
    pub t_memory_s: f64,
    /// The larger of the two.
    pub t_sol_s: f64,
    /// Which of the two it is.
    pub bound: Bound,
}

/// The range that a stratum's draws come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DrawnAxis {
    /// The public draw.
    pub public: i64,
    /// Least.
    pub lo: i64,
    /// Greatest.
    pub hi: i64,
    /// Draws are multiples of this.
    pub align: i64,
}

/// One shape that everybody may know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShapeView {
    /// Id.
    pub id: String,
    /// The stratum it stands for; `null` for edge shapes.
    pub stratum: Option<String>,
    /// Axis values.
    pub axes: Axes,
}

/// What the problem prices, as expressions over the axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CostView {
    /// FLOP by pipe.
    pub flop: BTreeMap<String, String>,
    /// Fused bytes; `null` when they are the sum over the tensors.
    pub fused_bytes: Option<String>,
}

/// What a submission may use up; `null` where the judge's default holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LimitsView {
    /// Wall clock of the compiler.
    pub compile_s: Option<f64>,
    /// Wall clock of one shape's run.
    pub run_s: Option<f64>,
    /// Device memory: parameters and scratch.
    pub memory_bytes: Option<u64>,
    /// Device memory that `solve` may allocate.
    pub scratch_bytes: Option<u64>,
    /// What the emulated device counts down: warp instructions that all launches of one shape may issue
    /// together. An instruction counts once for a warp, however many of its threads take part.
    #[serde(default)]
    pub emulated_warp_instructions: Option<u64>,
    /// Pipes that must stay idle.
    #[serde(default)]
    pub forbidden_pipes: Vec<String>,
}
