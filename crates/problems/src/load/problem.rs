//! `problem.toml` as written -> the parts of a [`Package`].

use std::collections::BTreeSet;
use std::ops::Range;

use domain::Source;
use scoring::Pipe;
use toml::Spanned;

use super::parameters;
use crate::error::{PackageError, Text};
use crate::expression::Expression;
use crate::manifest;
use crate::package::{Axis, AxisKind, CostSpec, Limits, Package, Provenance, Rules};

/// The only version of the format that this code reads.
const SCHEMA: u32 = 1;

/// Compiles expressions that may use the axes met so far.
pub struct Names<'a> {
    pub text: &'a Text,
    pub axes: Vec<String>,
}

impl Names<'_> {
    pub fn compile(
        &self,
        expression: &Spanned<String>,
        field: &str,
    ) -> Result<Expression, PackageError> {
        let names = self.axes.iter().map(String::as_str);
        Expression::compile(expression.as_ref(), names).map_err(|e| {
            let hint = if self.axes.is_empty() {
                "expressions are integer arithmetic; no axis is known here".to_owned()
            } else {
                format!("known here: {}", self.axes.join(", "))
            };
            let span = self.inside(&expression.span(), e.line, e.column);
            self.text.at(&span, field, e.message, hint)
        })
    }

    /// The place of a line and column of an expression in the file, if the string is plain.
    fn inside(&self, span: &Range<usize>, line: usize, column: usize) -> Range<usize> {
        let written = self.text.content.get(span.clone()).unwrap_or_default();
        let plain = !written.starts_with("\"\"\"") && !written.starts_with("'''");
        if line == 1 && plain {
            let start = span.start + column;
            return start..start;
        }
        span.clone()
    }
}

/// Everything but texts, sources and shapes, which are left empty.
pub fn package(text: &Text, raw: manifest::Problem) -> Result<Package, PackageError> {
    if *raw.schema.as_ref() != SCHEMA {
        let message = format!("is {}", raw.schema.as_ref());
        let hint = format!("this version reads schema = {SCHEMA}");
        return Err(text.at(&raw.schema.span(), "schema", message, hint));
    }
    if *raw.version.as_ref() == 0 {
        let span = raw.version.span();
        return Err(text.at(&span, "version", "is 0", "versions count from 1"));
    }
    check_slug(text, &raw.slug)?;
    for (language, title) in [("en", &raw.title.en), ("zh", &raw.title.zh)] {
        if title.trim().is_empty() {
            let field = format!("title.{language}");
            return Err(text.of_field(field, "is empty", "write it"));
        }
    }
    let mut names = Names {
        text,
        axes: Vec::new(),
    };
    let axes = axes(&mut names, raw.axes)?;
    let constraints = raw
        .constraints
        .iter()
        .enumerate()
        .map(|(i, c)| names.compile(c, &format!("constraints[{i}]")))
        .collect::<Result<_, _>>()?;
    let parameters = parameters::parameters(&names, raw.parameters)?;
    let rules = rules(text, &raw.rules)?;
    let cost = cost(&names, &raw.cost, &rules)?;
    Ok(Package {
        slug: raw.slug.into_inner(),
        version: raw.version.into_inner(),
        kind: raw.kind,
        title: raw.title,
        difficulty: raw.difficulty,
        tags: raw.tags.into_iter().map(Spanned::into_inner).collect(),
        lesson: raw.lesson,
        axes,
        constraints,
        parameters,
        cost,
        limits: limits(text, &raw.limits)?,
        rules,
        statement_en: String::new(),
        statement_zh: String::new(),
        editorial: None,
        hints: Vec::new(),
        reference_source: placeholder(),
        baseline_source: placeholder(),
        starter_source: placeholder(),
        solutions: Vec::new(),
        strata: Vec::new(),
        edge: Vec::new(),
        emulated: Vec::new(),
        provenance: Provenance {
            text: String::new(),
            licence: String::new(),
        },
        digest: String::new(),
    })
}

/// Stands where the loader puts the file's text a moment later.
fn placeholder() -> Source {
    Source::from_bytes(b"// not loaded".to_vec()).expect("a comment is a source")
}

fn check_slug(text: &Text, slug: &Spanned<String>) -> Result<(), PackageError> {
    let word = slug.as_ref();
    let first = word.chars().next().is_some_and(|c| c.is_ascii_lowercase());
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if first && word.chars().all(rest) && word.len() <= 64 {
        return Ok(());
    }
    let message = format!("`{word}` is no slug");
    let hint = "a slug is [a-z][a-z0-9_]*, at most 64 characters";
    Err(text.at(&slug.span(), "slug", message, hint))
}

fn axes(names: &mut Names<'_>, raw: Vec<manifest::Axis>) -> Result<Vec<Axis>, PackageError> {
    let mut axes = Vec::new();
    for (i, axis) in raw.into_iter().enumerate() {
        let field = format!("axes[{i}]");
        let span = axis.name.span();
        let kind = match (axis.constant, axis.var, &axis.expr) {
            (Some(value), None, None) => AxisKind::Constant(value),
            (None, Some(var), None) => variable(names.text, &field, &var)?,
            (None, None, Some(expr)) => {
                AxisKind::Derived(names.compile(expr, &format!("{field}.expr"))?)
            }
            _ => {
                let message = "needs exactly one of `const`, `var` and `expr`";
                let hint = "e.g. var = { min = 1, max = 1024 }";
                return Err(names.text.at(&span, field, message, hint));
            }
        };
        let name = axis.name.into_inner();
        identifier(names.text, &span, &format!("{field}.name"), &name)?;
        if names.axes.contains(&name) {
            let message = format!("`{name}` is there already");
            return Err(names
                .text
                .at(&span, field, message, "give each axis its own name"));
        }
        names.axes.push(name.clone());
        axes.push(Axis {
            name,
            about: axis.about,
            kind,
        });
    }
    Ok(axes)
}

fn variable(
    text: &Text,
    field: &str,
    var: &Spanned<manifest::Variable>,
) -> Result<AxisKind, PackageError> {
    let manifest::Variable { min, max, align } = *var.as_ref();
    if align < 1 || min < 0 || min > max {
        let message = format!("min = {min}, max = {max}, align = {align} leave no value");
        let hint = "0 <= min <= max and align >= 1";
        return Err(text.at(&var.span(), format!("{field}.var"), message, hint));
    }
    Ok(AxisKind::Variable { min, max, align })
}

/// Names of axes and parameters are C identifiers that expressions can hold.
pub fn identifier(
    text: &Text,
    span: &Range<usize>,
    field: &str,
    name: &str,
) -> Result<(), PackageError> {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    if first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(());
    }
    let message = format!("`{name}` is no identifier");
    Err(text.at(span, field, message, "use letters, digits and `_`"))
}

fn rules(text: &Text, raw: &manifest::Rules) -> Result<Rules, PackageError> {
    let pipes: BTreeSet<Pipe> = raw.forbidden_pipes.iter().map(|p| *p.as_ref()).collect();
    if pipes.contains(&Pipe::Tf32) != pipes.contains(&Pipe::Bf16) {
        let span = raw.forbidden_pipes[0].span();
        let message = "forbids one of `tf32` and `bf16` only";
        let hint = "products of FP32 accuracy can be made of either: forbid both or neither";
        return Err(text.at(&span, "rules.forbidden_pipes", message, hint));
    }
    Ok(Rules {
        forbidden_pipes: pipes,
        scratch_bytes: raw.scratch_bytes.unwrap_or(256 << 20),
    })
}

fn cost(names: &Names<'_>, raw: &manifest::Cost, rules: &Rules) -> Result<CostSpec, PackageError> {
    let compile = |expression: &Option<Spanned<String>>, field: &str| {
        expression
            .as_ref()
            .map(|e| names.compile(e, field))
            .transpose()
    };
    let mut flop = std::collections::BTreeMap::new();
    for (pipe, expression) in &raw.flop {
        let field = format!("cost.flop.{pipe}");
        if rules.forbidden_pipes.contains(pipe) {
            let message = "is priced, but `rules.forbidden_pipes` forbids it";
            let hint = "price the work on a pipe that may be used";
            return Err(names.text.at(&expression.span(), field, message, hint));
        }
        flop.insert(*pipe, names.compile(expression, &field)?);
    }
    Ok(CostSpec {
        flop,
        fp32_product: compile(&raw.fp32_product, "cost.fp32_product")?,
        bytes: compile(&raw.bytes, "cost.bytes")?,
        algorithm: raw.algorithm,
    })
}

fn limits(text: &Text, raw: &manifest::Limits) -> Result<Limits, PackageError> {
    for (field, value) in [("compile_s", &raw.compile_s), ("run_s", &raw.run_s)] {
        if let Some(value) = value
            && !(*value.as_ref() > 0.0 && *value.as_ref() <= 600.0)
        {
            let message = format!("is {}", value.as_ref());
            let hint = "seconds, above 0 and at most 600";
            return Err(text.at(&value.span(), format!("limits.{field}"), message, hint));
        }
    }
    let seconds = |value: &Option<Spanned<f64>>| value.as_ref().map(|v| *v.as_ref());
    Ok(Limits {
        compile_s: seconds(&raw.compile_s).unwrap_or(30.0),
        run_s: seconds(&raw.run_s).unwrap_or(10.0),
        memory_bytes: raw.memory_bytes.unwrap_or(4 << 30),
        emulated_instructions: raw.emulated_instructions.unwrap_or(4_000_000_000),
    })
}
