//! `shapes.toml` as written -> strata, edges and emulated shapes, each proven to work.

use std::collections::BTreeSet;
use std::ops::Range;

use domain::{Axes, ElementType};
use toml::Spanned;

use crate::call::{Argument, ScalarSpec, ScalarValue};
use crate::element;
use crate::error::{EvaluationError, PackageError, Text};
use crate::manifest;
use crate::package::{AxisKind, Package, Provenance};
use crate::shapes::{Drawn, Edge, Emulated, Stratum};

/// How far a rounded table may be from 1.
const WEIGHT_SLACK: f64 = 1e-4;

/// Puts the shapes into `package`, which has everything of `problem.toml`.
pub fn fill(package: &mut Package, text: &Text, raw: manifest::Shapes) -> Result<(), PackageError> {
    for (field, value) in [("provenance", &raw.provenance), ("licence", &raw.licence)] {
        if value.as_ref().trim().is_empty() {
            return Err(text.at(
                &value.span(),
                field,
                "is empty",
                "say where the shapes come from",
            ));
        }
    }
    package.provenance = Provenance {
        text: raw.provenance.into_inner(),
        licence: raw.licence.into_inner(),
    };
    let mut ids = Ids::default();
    for (i, row) in raw.strata.iter().enumerate() {
        let field = format!("strata[{i}]");
        ids.add(text, &field, &row.id)?;
        let stratum = stratum(package, text, &field, row)?;
        package.strata.push(stratum);
    }
    let first = raw.strata.first().map_or(0..0, |row| row.w.span());
    check_sums(package, text, &first)?;
    for (i, row) in raw.edge.iter().enumerate() {
        let field = format!("edge[{i}]");
        ids.add(text, &field, &row.id)?;
        let axes = shape(package, text, &field, &row.axes)?;
        package.edge.push(Edge {
            id: row.id.as_ref().clone(),
            axes,
        });
    }
    for (i, row) in raw.emulated.iter().enumerate() {
        let field = format!("emulated[{i}]");
        ids.add(text, &field, &row.id)?;
        if !package.strata.iter().any(|s| s.id == *row.stratum.as_ref()) {
            let message = format!("there is no stratum `{}`", row.stratum.as_ref());
            let field = format!("{field}.stratum");
            return Err(text.at(&row.stratum.span(), field, message, "name one of `strata`"));
        }
        let axes = shape(package, text, &field, &row.axes)?;
        package.emulated.push(Emulated {
            id: row.id.as_ref().clone(),
            stratum: row.stratum.as_ref().clone(),
            axes,
        });
    }
    match uncovered(package, &raw.strata) {
        Some((span, id)) => {
            let message = format!("stratum `{id}` has no shape for the emulated device");
            Err(text.at(&span, "emulated", message, "add a row that names it"))
        }
        None => Ok(()),
    }
}

/// Ids met so far: they share one name space, as they meet in reports.
#[derive(Default)]
struct Ids(BTreeSet<String>);

impl Ids {
    fn add(&mut self, text: &Text, field: &str, id: &Spanned<String>) -> Result<(), PackageError> {
        let word = id.as_ref();
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        let field = format!("{field}.id");
        if word.is_empty() || !word.chars().all(legal) {
            let hint = "use lower-case letters, digits, `_` and `-`";
            return Err(text.at(&id.span(), field, format!("`{word}` is no id"), hint));
        }
        if !self.0.insert(word.clone()) {
            let message = format!("`{word}` is there already");
            return Err(text.at(&id.span(), field, message, "every row needs its own id"));
        }
        Ok(())
    }
}

fn stratum(
    package: &Package,
    text: &Text,
    field: &str,
    row: &manifest::Stratum,
) -> Result<Stratum, PackageError> {
    let mut stratum = Stratum {
        id: row.id.as_ref().clone(),
        label: row.label.clone(),
        fixed: Axes::new(),
        drawn: std::collections::BTreeMap::new(),
        calls: row.calls,
        time: row.time,
        weight: *row.w.as_ref(),
        basis: row.basis,
        source: row.source.clone(),
    };
    for (name, value) in &row.fixed {
        stratum.fixed.insert(name.clone(), *value.as_ref());
    }
    for (name, spanned) in &row.drawn {
        let manifest::Drawn {
            public,
            lo,
            hi,
            align,
        } = *spanned.as_ref();
        let drawn = Drawn {
            public,
            lo,
            hi,
            align,
        };
        let field = format!("{field}.drawn.{name}");
        if align < 1 || lo < 0 || lo > hi || drawn.count() == 0 {
            let message = format!("lo = {lo}, hi = {hi}, align = {align} leave no value");
            let hint = "0 <= lo <= hi, align >= 1, and a multiple of align between them";
            return Err(text.at(&spanned.span(), field, message, hint));
        }
        check_drawn_axis(package, text, &field, name, spanned)?;
        if stratum.fixed.contains_key(name) {
            let message = "is fixed and drawn";
            return Err(text.at(&spanned.span(), field, message, "choose one"));
        }
        stratum.drawn.insert(name.clone(), drawn);
    }
    let span = row.w.span();
    let shares = [stratum.calls, stratum.time, stratum.weight];
    let mean = (stratum.calls + stratum.time) / 2.0;
    let legal = shares.iter().all(|s| (0.0..=1.0).contains(s)) && stratum.weight > 0.0;
    if !legal || (mean - stratum.weight).abs() > WEIGHT_SLACK {
        let message = format!("is {}, but (calls + time) / 2 is {mean}", stratum.weight);
        let hint = "shares lie between 0 and 1, and w is the mean of calls and time";
        return Err(text.at(&span, format!("{field}.w"), message, hint));
    }
    // The corners of the ranges stand for all draws.
    let corners = [
        stratum.public_axes(),
        stratum.with(|d| d.lo),
        stratum.with(|d| d.hi),
    ];
    for (which, given) in ["public", "lo", "hi"].into_iter().zip(corners) {
        // A constraint may cut a corner off a joint range: such draws are repeated.
        let joint = which != "public" && stratum.drawn.len() > 1;
        if let Err(e) = prove(package, &given)
            && !(joint && e.field == "constraints")
        {
            return Err(fault(
                text,
                &row.id.span(),
                &format!("{field} ({which})"),
                &e,
            ));
        }
    }
    Ok(stratum)
}

/// A drawn axis must exist, vary, and hold the whole range.
fn check_drawn_axis(
    package: &Package,
    text: &Text,
    field: &str,
    name: &str,
    drawn: &Spanned<manifest::Drawn>,
) -> Result<(), PackageError> {
    let kind = package
        .axes
        .iter()
        .find(|a| a.name == name)
        .map(|a| &a.kind);
    let manifest::Drawn { lo, hi, align, .. } = *drawn.as_ref();
    match kind {
        Some(AxisKind::Variable {
            min,
            max,
            align: own,
        }) if lo >= *min && hi <= *max && align % own == 0 && lo % own == 0 && hi % own == 0 => {
            Ok(())
        }
        Some(AxisKind::Variable {
            min,
            max,
            align: own,
        }) => {
            let message = format!("goes from {lo} to {hi} in steps of {align}");
            let hint = format!("the axis goes from {min} to {max} in steps of {own}");
            Err(text.at(&drawn.span(), field, message, hint))
        }
        _ => {
            let hint = "draw axes that `problem.toml` declares with `var`";
            Err(text.at(
                &drawn.span(),
                field,
                format!("`{name}` does not vary"),
                hint,
            ))
        }
    }
}

fn check_sums(package: &Package, text: &Text, span: &Range<usize>) -> Result<(), PackageError> {
    type Share = fn(&Stratum) -> f64;
    let shares: [(&str, Share); 3] = [
        ("calls", |s| s.calls),
        ("time", |s| s.time),
        ("w", |s| s.weight),
    ];
    for (name, share) in shares {
        let sum: f64 = package.strata.iter().map(share).sum();
        if (sum - 1.0).abs() > WEIGHT_SLACK {
            let message = format!("`{name}` of all strata sums to {sum}");
            let hint = "it must be 1 within 0.0001";
            return Err(text.at(span, format!("strata[].{name}"), message, hint));
        }
    }
    Ok(())
}

fn shape(
    package: &Package,
    text: &Text,
    field: &str,
    given: &Spanned<std::collections::BTreeMap<String, i64>>,
) -> Result<Axes, PackageError> {
    prove(package, given.as_ref())
        .map_err(|e| fault(text, &given.span(), &format!("{field}.axes"), &e))
}

/// Evaluates everything that depends on the axes.
fn prove(package: &Package, given: &Axes) -> Result<Axes, EvaluationError> {
    let axes = package.resolve(given)?;
    let mut bytes = 0_u64;
    for argument in package.arguments(&axes)? {
        match argument {
            Argument::Tensor(tensor) => bytes = bytes.saturating_add(tensor.bytes),
            Argument::Scalar(scalar) => check_range(&scalar)?,
        }
    }
    if bytes > package.limits.memory_bytes {
        let message = format!("the tensors take {bytes} bytes");
        return Err(EvaluationError::new("limits.memory_bytes", message));
    }
    package.cost(&axes)?;
    for parameter in &package.parameters {
        if let Some(tolerance) = package.tolerance(&parameter.name) {
            tolerance.slack(&axes)?;
        }
    }
    Ok(axes)
}

/// An integer scalar must fit its type: `int` holds less than an axis may.
fn check_range(scalar: &ScalarSpec) -> Result<(), EvaluationError> {
    let ScalarValue::Integer(value) = scalar.value else {
        return Ok(());
    };
    let wide = scalar.element == ElementType::U64 && value >= 0;
    let bytes = scalar.value.to_bytes(scalar.element);
    if wide || element::decode(&bytes, scalar.element) == value as f64 {
        return Ok(());
    }
    let message = format!("{value} does not fit `{}`", scalar.element.c_name());
    Err(EvaluationError::new(&scalar.name, message))
}

fn fault(text: &Text, span: &Range<usize>, field: &str, error: &EvaluationError) -> PackageError {
    let hint = "change the shape, or what `problem.toml` says about it";
    text.at(span, field, error.to_string(), hint)
}

fn uncovered(package: &Package, rows: &[manifest::Stratum]) -> Option<(Range<usize>, String)> {
    rows.iter()
        .find(|row| {
            package
                .emulated
                .iter()
                .all(|e| e.stratum != *row.id.as_ref())
        })
        .map(|row| (row.id.span(), row.id.as_ref().clone()))
}
