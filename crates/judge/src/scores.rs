//! One number over the weighted shapes. A weighted shape without a time would silently leave the mean, so then
//! there is no score at all.

use domain::report::{Score, ScoreMetric, ShapeReport};
use scoring::Device;

use crate::JudgeRequest;
use crate::assemble::Findings;
use crate::outcome::ShapeOutcome;
use crate::trust;

/// SOL of measured times.
pub(crate) fn measured(request: &JudgeRequest, findings: &Findings) -> Option<Score> {
    if trust::unranked(findings).is_some() {
        return None;
    }
    let time = |outcome: &ShapeOutcome| Some(outcome.timing.as_ref()?.t_s);
    let rows = rows(request, findings, time)?;
    score(ScoreMetric::Sol, &rows, scoring::device(request.device))
}

/// SOL of modelled times, on the emulated shapes.
pub(crate) fn modelled(request: &JudgeRequest, findings: &Findings) -> Option<Score> {
    let time = |outcome: &ShapeOutcome| outcome.modelled.as_ref()?.t_s;
    let rows = rows(request, findings, time)?;
    score(
        ScoreMetric::ModelledSol,
        &rows,
        scoring::device(request.device),
    )
}

/// Why the model gives no score, if it gives none.
pub(crate) fn unmodelled(shapes: &[ShapeReport]) -> Option<String> {
    let weighted = shapes.iter().filter(|shape| shape.w.is_some());
    let mut reasons = weighted.filter_map(|shape| {
        let why = shape.modelled.as_ref()?.incomplete.as_ref()?;
        Some(format!("no score is modelled: {}: {why}", shape.id))
    });
    reasons.next()
}

fn rows(
    request: &JudgeRequest,
    findings: &Findings,
    time: impl Fn(&ShapeOutcome) -> Option<f64>,
) -> Option<Vec<scoring::Row>> {
    let device = scoring::device(request.device);
    let shapes = findings.shapes.iter().enumerate();
    let weighted = shapes.filter_map(|(index, shape)| Some((index, shape, shape.weight?)));
    let row = |(index, shape, weight): (usize, &problems::Shape, f64)| {
        let cost = request.package.cost(&shape.axes).ok()?;
        Some(scoring::Row {
            id: shape.id.clone(),
            weight,
            calls: shape.calls.unwrap_or(0.0),
            t_s: time(findings.outcomes.get(index)?)?,
            t_sol_s: scoring::limit(&cost, device).t_sol_s,
        })
    };
    weighted.map(row).collect()
}

fn score(metric: ScoreMetric, rows: &[scoring::Row], device: &Device) -> Option<Score> {
    let worst = scoring::worst_shape(rows, device.launch_floor_s);
    Some(Score {
        metric,
        value: Some(scoring::sol_score(rows, device.launch_floor_s)?),
        strict_sol: scoring::strict_sol_score(rows),
        worst_shape: worst.map(|(row, _)| row.id.clone()),
        scoring_version: scoring::SCORING_VERSION,
    })
}
