//! The files of a package as written, before anything is checked beyond types and names of keys.
//!
//! Only the loader uses these; `README.md` of this crate documents every field.

use std::collections::BTreeMap;
use std::path::Path;

use domain::ElementType;
use scoring::Pipe;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::error::{PackageError, Text};
use crate::package::{Accumulation, Algorithm, Bilingual, Difficulty, Kind, Lesson};
use crate::shapes::Basis;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    pub schema: Spanned<u32>,
    pub version: Spanned<u32>,
    pub slug: Spanned<String>,
    pub kind: Kind,
    pub difficulty: Difficulty,
    pub title: Bilingual,
    pub tags: Vec<Spanned<String>>,
    pub lesson: Option<Lesson>,
    pub axes: Vec<Axis>,
    #[serde(default)]
    pub constraints: Vec<Spanned<String>>,
    pub parameters: Vec<Parameter>,
    pub cost: Cost,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub rules: Rules,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    pub name: Spanned<String>,
    pub about: Option<Bilingual>,
    #[serde(rename = "const")]
    pub constant: Option<i64>,
    pub var: Option<Spanned<Variable>>,
    pub expr: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    pub min: i64,
    pub max: i64,
    #[serde(default = "one")]
    pub align: i64,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ParameterUse {
    In,
    Out,
    Inout,
    Scalar,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub name: Spanned<String>,
    pub about: Option<Bilingual>,
    #[serde(rename = "use")]
    pub usage: Spanned<ParameterUse>,
    pub element: ElementType,
    pub dims: Option<Vec<Spanned<String>>>,
    pub align_bytes: Option<Spanned<u64>>,
    pub generator: Option<Spanned<Generator>>,
    pub tolerance: Option<Spanned<Tolerance>>,
    pub value: Option<Spanned<String>>,
    pub number: Option<Spanned<f64>>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorKind {
    Normal,
    Uniform,
    Integers,
    Constant,
    Sequence,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    pub kind: Spanned<GeneratorKind>,
    pub mean: Option<f64>,
    pub std: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub value: Option<f64>,
    pub start: Option<f64>,
    pub step: Option<f64>,
    pub outliers: Option<Outliers>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outliers {
    pub share: f64,
    pub factor: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    pub factor: f64,
    pub length: Spanned<String>,
    pub accumulation: Accumulation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    #[serde(default)]
    pub flop: BTreeMap<Pipe, Spanned<String>>,
    pub fp32_product: Option<Spanned<String>>,
    pub bytes: Option<Spanned<String>>,
    #[serde(default)]
    pub algorithm: Algorithm,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub compile_s: Option<Spanned<f64>>,
    pub run_s: Option<Spanned<f64>>,
    pub memory_bytes: Option<u64>,
    pub emulated_instructions: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    #[serde(default)]
    pub forbidden_pipes: Vec<Spanned<Pipe>>,
    pub scratch_bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shapes {
    pub provenance: Spanned<String>,
    pub licence: Spanned<String>,
    pub strata: Vec<Stratum>,
    #[serde(default)]
    pub edge: Vec<Edge>,
    pub emulated: Vec<Emulated>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stratum {
    pub id: Spanned<String>,
    pub label: String,
    #[serde(default)]
    pub fixed: BTreeMap<String, Spanned<i64>>,
    #[serde(default)]
    pub drawn: BTreeMap<String, Spanned<Drawn>>,
    pub calls: f64,
    pub time: f64,
    pub w: Spanned<f64>,
    pub basis: Basis,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    pub public: i64,
    pub lo: i64,
    pub hi: i64,
    #[serde(default = "one")]
    pub align: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    pub id: Spanned<String>,
    pub axes: Spanned<BTreeMap<String, i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emulated {
    pub id: Spanned<String>,
    pub stratum: Spanned<String>,
    pub axes: Spanned<BTreeMap<String, i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hints {
    pub hints: Vec<Bilingual>,
}

/// Reads a TOML file; a wrong key or type is told with its place and path.
pub fn read<T: DeserializeOwned>(file: &Path) -> Result<(Text, T), PackageError> {
    let text = Text::read(file)?;
    let deserializer =
        toml::Deserializer::parse(&text.content).map_err(|e| syntax(&text, &e, String::new()))?;
    let parsed = serde_path_to_error::deserialize(deserializer).map_err(|e| {
        let path = e.path().to_string();
        let path = path
            .split('.')
            .filter(|part| !part.starts_with("$__") && *part != "?")
            .collect::<Vec<_>>()
            .join(".");
        syntax(&text, e.inner(), path)
    })?;
    Ok((text, parsed))
}

fn syntax(text: &Text, error: &toml::de::Error, field: String) -> PackageError {
    let hint = "the README of `crates/problems` lists every field";
    match error.span() {
        Some(span) => text.at(&span, field, error.message(), hint),
        None => PackageError {
            field: Some(field),
            ..PackageError::whole(&text.file, error.message(), hint)
        },
    }
}

fn one() -> i64 {
    1
}
