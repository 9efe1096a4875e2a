//! A problem package, loaded and checked. Everything a judge or a page asks of a problem.
//!
//! A value of this type has passed every check of the loader: for each of its own shapes, all
//! sizes, scalars, costs and tolerances have values, and buffers fit the memory limit.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Direction, ElementType, Source};
use scoring::Pipe;
use serde::{Deserialize, Serialize};

use crate::element;
use crate::expect::Expectation;
use crate::expression::Expression;
use crate::generate::Generator;
use crate::shapes::{Edge, Emulated, Stratum};

/// A problem.
#[derive(Clone, Debug)]
pub struct Package {
    /// Name in URLs and commands, `[a-z][a-z0-9_]*`; the directory's name.
    pub slug: String,
    /// Version of the problem and of its distribution. Results of two versions never mix.
    pub version: u32,
    /// Lesson or workload.
    pub kind: Kind,
    /// Title.
    pub title: Bilingual,
    /// How hard.
    pub difficulty: Difficulty,
    /// Free words for search.
    pub tags: Vec<String>,
    /// Place in a course.
    pub lesson: Option<Lesson>,
    /// Axes in order; derived ones use earlier ones.
    pub axes: Vec<Axis>,
    /// Conditions every shape satisfies.
    pub constraints: Vec<Expression>,
    /// Parameters of the entry point in order.
    pub parameters: Vec<ParameterSpec>,
    /// What one call costs.
    pub cost: CostSpec,
    /// What a submission may use.
    pub limits: Limits,
    /// What a submission must not do.
    pub rules: Rules,
    /// Statement in English, Markdown with KaTeX.
    pub statement_en: String,
    /// Statement in Chinese, Markdown with KaTeX.
    pub statement_zh: String,
    /// How to get from the starter to the limit; shown after solving.
    pub editorial: Option<Bilingual>,
    /// Hints in order.
    pub hints: Vec<Bilingual>,
    /// The reference, in double precision: [`Package::reference_signature`].
    pub reference_source: Source,
    /// The honest first optimisation, a legal submission.
    pub baseline_source: Source,
    /// What the editor opens with.
    pub starter_source: Source,
    /// Solutions with what judging them must come to, in order of their names.
    pub solutions: Vec<Solution>,
    /// Classes of real calls with their weights.
    pub strata: Vec<Stratum>,
    /// Shapes for correctness only.
    pub edge: Vec<Edge>,
    /// Small shapes for the emulated device.
    pub emulated: Vec<Emulated>,
    /// Where the shapes come from, and under which licence.
    pub provenance: Provenance,
    /// SHA-256 over all files, lower-case hexadecimal: changes with any of them.
    pub digest: String,
}

/// A text in both languages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bilingual {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// What a problem is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Teaches one thing.
    Lesson,
    /// A real operator with its real distribution.
    Workload,
}

/// How hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the names are the definition
pub enum Difficulty {
    Easy,
    Medium,
    Hard,
}

/// Place in a course.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// Name of the course.
    pub track: String,
    /// Place in it, from 1.
    pub order: u32,
}

/// A size that varies between shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name in expressions.
    pub name: String,
    /// One line for the parameter table.
    pub about: Option<Bilingual>,
    /// How it gets its value.
    pub kind: AxisKind,
}

/// How an axis gets its value.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisKind {
    /// The same everywhere.
    Constant(i64),
    /// Given by each shape, within these bounds.
    Variable {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
        /// Every value is a multiple of it.
        align: i64,
    },
    /// Computed from earlier axes.
    Derived(Expression),
}

/// A parameter of the entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Name in the problem; submissions may use another.
    pub name: String,
    /// One line for the parameter table.
    pub about: Option<Bilingual>,
    /// Tensor or scalar.
    pub role: ParameterRole,
}

/// Tensor or scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterRole {
    /// A pointer to device memory.
    Tensor {
        /// Type of each element.
        element: ElementType,
        /// How it is used.
        direction: Direction,
        /// Extents over the axes; row-major.
        dims: Vec<Expression>,
        /// The buffer's address is a multiple of it.
        align_bytes: u64,
        /// What it holds at first; `None` for outputs, which are poisoned.
        generator: Option<Generator>,
        /// How exact it must be; outputs only.
        tolerance: Option<Tolerance>,
    },
    /// A value.
    Scalar {
        /// Type.
        element: ElementType,
        /// Where the value comes from.
        value: ScalarSource,
    },
}

/// Where a scalar's value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarSource {
    /// Computed from the axes.
    Expression(Expression),
    /// A fixed number.
    Number(f64),
}

/// How exact an output must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Tolerance {
    /// Equal bytes.
    Exact,
    /// `|x - r| <= factor * sqrt(length) * eps * S + ulp / 2`.
    Sum {
        /// Calibrated against legal implementations; no unit.
        factor: f64,
        /// Terms of the sum behind one element.
        length: Expression,
        /// The admitted accumulation, whose unit roundoff is `eps`.
        accumulation: Accumulation,
    },
}

/// The precision in which sums may be accumulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the names are the definition
pub enum Accumulation {
    F64,
    F32,
    Tf32,
    F16,
    Bf16,
}

/// Which algorithms the FLOP count stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// The count is that of the definition.
    #[default]
    Direct,
    /// The count is that of the cheapest algorithm admitted.
    Any,
}

/// What one call costs, over the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct CostSpec {
    /// FLOP per pipe.
    pub flop: BTreeMap<Pipe, Expression>,
    /// FLOP of products of FP32 accuracy, made in whichever way is fastest.
    pub fp32_product: Option<Expression>,
    /// Bytes, where the sum over the tensors is not what must move.
    pub bytes: Option<Expression>,
    /// Which algorithms the count stands for.
    pub algorithm: Algorithm,
}

/// What a submission may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Wall clock of one compile.
    pub compile_s: f64,
    /// Wall clock of one shape's run.
    pub run_s: f64,
    /// Device memory: parameters and scratch.
    pub memory_bytes: u64,
    /// Thread instructions of one shape on the emulated device.
    pub emulated_instructions: u64,
}

/// Packages grant thread instructions; the device counts warp instructions. Granting one for every 8
/// lets code that keeps a quarter of its lanes busy use all that was granted.
const LANES_EXPECTED: u64 = 8;

impl Limits {
    /// What the emulated device counts down: warp instructions that all launches of one shape may issue
    /// together. An instruction counts once for a warp, however many of its threads take part.
    #[must_use]
    pub fn emulated_warp_instructions(&self) -> u64 {
        self.emulated_instructions / LANES_EXPECTED
    }
}

/// What a submission must not do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Pipes that must stay idle.
    pub forbidden_pipes: BTreeSet<Pipe>,
    /// Device memory that `solve` may allocate.
    pub scratch_bytes: u64,
}

/// A solution with its expected outcome.
#[derive(Clone, Debug)]
pub struct Solution {
    /// File name without `.cu`.
    pub name: String,
    /// The text.
    pub source: Source,
    /// What judging it must come to.
    pub expect: Expectation,
}

/// Where the shapes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Sources, in words.
    pub text: String,
    /// SPDX expression.
    pub licence: String,
}

impl Accumulation {
    /// Half the distance from 1 to the next value.
    #[must_use]
    pub fn unit_roundoff(self) -> f64 {
        match self {
            Self::F64 => element::unit_roundoff(ElementType::F64),
            Self::F32 => element::unit_roundoff(ElementType::F32),
            // TF32 keeps the 10 fraction bits of f16.
            Self::Tf32 | Self::F16 => element::unit_roundoff(ElementType::F16),
            Self::Bf16 => element::unit_roundoff(ElementType::Bf16),
        }
    }
}
