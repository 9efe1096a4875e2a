//! Modelled numbers, told apart from measured ones: each has a `~`, and what is left out stands beside them.

use domain::Report;
use domain::report::{Modelled, Score, ScoreMetric, ShapeReport};

use super::{approximate, duration, ratio};
use crate::terminal::dim;

pub(super) fn time(shape: &ShapeReport) -> Option<String> {
    Some(approximate(&duration(shape.modelled.as_ref()?.t_s?)))
}

pub(super) fn sol(shape: &ShapeReport) -> Option<String> {
    Some(approximate(&ratio(shape.modelled.as_ref()?.sol?)))
}

pub(super) fn limit(shape: &ShapeReport) -> Option<String> {
    let limit = shape.modelled.as_ref()?.limit?;
    Some(limit.in_words().to_owned())
}

/// The terms of the lowest shape, and what the model knows nothing of.
pub(super) fn note(report: &Report, score: &Score) -> String {
    if score.metric != ScoreMetric::ModelledSol {
        return String::new();
    }
    let mut shapes = report.shapes.iter();
    let worst = shapes.find(|shape| score.worst_shape.as_ref() == Some(&shape.id));
    let terms = worst.and_then(|shape| Some((shape, shape.modelled.as_ref()?)));
    let terms = terms.map(|(shape, modelled)| {
        let line = format!(
            "{}, each unit by itself: {}",
            shape.id,
            terms_text(modelled)
        );
        format!("  {}\n", dim(line))
    });
    let left_out = format!(
        "estimated for an H200 from what was counted on the emulated shapes, not measured; left out: {}",
        judge::MODEL_LEAVES_OUT
    );
    format!("{}  {}\n", terms.unwrap_or_default(), dim(left_out))
}

fn terms_text(modelled: &Modelled) -> String {
    let term = |term: &domain::report::ModelledTerm| {
        format!("{} {}", term.term.in_words(), duration(term.t_s))
    };
    let terms: Vec<String> = modelled.terms.iter().map(term).collect();
    terms.join(" · ")
}
