//! A report for a person. The same text for `judge`, `submit` and `watch`.

mod kernels;
mod mismatches;
mod modelled;
mod printed;

use domain::report::{Execution, PhaseTimes, Score, ScoreMetric, ShapeReport, ShapeRole};
use domain::{Diagnostic, Report, Severity, Verdict, printable};

use crate::table::Table;
use crate::terminal::{bold, dim, verdict};

/// Shapes that are told of one by one; the table has them all.
const SHOWN_SHAPES: usize = 3;

/// The whole report. `file` names the source in diagnostics.
pub(crate) fn render(report: &Report, file: &str) -> String {
    let mut text = headline(report);
    for diagnostic in &report.diagnostics {
        text.push_str(&diagnostic_text(diagnostic, file));
    }
    text.push_str(&execution(report));
    text.push_str(&shapes(&report.shapes));
    text.push_str(&details(&report.shapes));
    text.push_str(&kernels::table(report));
    text.push_str(&printed::text(
        report.printed.as_deref().unwrap_or_default(),
    ));
    for warning in &report.warnings {
        text.push_str(&format!("  {} {warning}\n", dim("warning:")));
    }
    if let Some(score) = &report.score {
        text.push_str(&score_text(score));
        text.push_str(&modelled::note(report, score));
    }
    text.push_str(&ceilings(report));
    text.push_str(&times(&report.phases_s));
    text
}

/// The verdict, what was judged, and the one sentence.
fn headline(report: &Report) -> String {
    let kind = report.kind.map(|k| format!(" ({k})")).unwrap_or_default();
    let what = format!(
        "{} v{} on {}, {}",
        report.problem.slug, report.problem.version, report.device.name, report.mode
    );
    let message = match report.message.as_str() {
        "" => String::new(),
        message => format!("  {}\n", printable(message)),
    };
    format!(
        "{}{kind}  {}\n{message}",
        verdict(report.verdict),
        dim(what)
    )
}

/// How the host function ran, where that is not as a plan.
fn execution(report: &Report) -> String {
    if report.execution == Execution::Planned {
        return String::new();
    }
    let read_backs = report.shapes.iter().filter_map(|shape| shape.read_backs);
    let times = match (read_backs.clone().min(), read_backs.max()) {
        (Some(least), Some(most)) if least == most => format!(", {most} read-backs a run"),
        (Some(least), Some(most)) => format!(", {least} to {most} read-backs a run"),
        _ => String::new(),
    };
    format!("  live: the host function was interpreted while the device ran{times}\n")
}

fn diagnostic_text(diagnostic: &Diagnostic, file: &str) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut place = file.to_owned();
    for number in [diagnostic.line, diagnostic.column].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    let hint = diagnostic.hint.as_ref();
    let hint = hint.map(|hint| format!("    hint: {}\n", printable(hint)));
    let hint = hint.unwrap_or_default();
    format!(
        "  {}: {severity}: {}\n{hint}",
        bold(place),
        printable(&diagnostic.message)
    )
}

fn shapes(shapes: &[ShapeReport]) -> String {
    if shapes.iter().all(|shape| shape.verdict.is_none()) {
        return String::new();
    }
    let mut table = Table::new(&[
        "shape",
        "role",
        "axes",
        "verdict",
        ">launches",
        ">time",
        ">SOL",
        "limited by",
        ">traffic eff.",
    ]);
    // A shape that did not run, or was wrong, has a dash where the others have a number.
    let cells = |value: fn(&ShapeReport) -> Option<String>| -> Vec<String> {
        let values: Vec<_> = shapes.iter().map(value).collect();
        let absent = |shape: &ShapeReport| match shape.verdict {
            Some(Verdict::Accepted) => String::new(),
            _ if values.iter().any(Option::is_some) => "-".to_owned(),
            _ => String::new(),
        };
        let cell = |(shape, value): (&ShapeReport, &Option<String>)| {
            value.clone().unwrap_or_else(|| absent(shape))
        };
        shapes.iter().zip(&values).map(cell).collect()
    };
    let launches = cells(|shape| shape.launches.map(|n| n.to_string()));
    let times = cells(|shape| shape.t_s.map(duration).or_else(|| modelled::time(shape)));
    let sols = cells(|shape| shape.sol.map(ratio).or_else(|| modelled::sol(shape)));
    let limits = cells(modelled::limit);
    let traffic = cells(|shape| shape.traffic_efficiency.map(ratio));
    for (index, shape) in shapes.iter().enumerate() {
        let axes = shape.axes.as_ref().map(|axes| {
            let pairs: Vec<String> = axes.iter().map(|(k, v)| format!("{k}={v}")).collect();
            pairs.join(" ")
        });
        let verdict = shape
            .verdict
            .map_or_else(|| dim("-").to_string(), |v| verdict(v).to_string());
        table.row(vec![
            shape.id.clone(),
            role(shape.role).to_owned(),
            axes.unwrap_or_default(),
            verdict,
            launches[index].clone(),
            times[index].clone(),
            sols[index].clone(),
            limits[index].clone(),
            traffic[index].clone(),
        ]);
    }
    table.render()
}

/// What the first shapes have to say, and how many more there are.
fn details(shapes: &[ShapeReport]) -> String {
    let told: Vec<String> = shapes
        .iter()
        .map(shape_detail)
        .filter(|t| !t.is_empty())
        .collect();
    let mut text = told
        .iter()
        .take(SHOWN_SHAPES)
        .map(String::as_str)
        .collect::<String>();
    if told.len() > SHOWN_SHAPES {
        let more = format!(
            "and {} more shapes (--json has them all)",
            told.len() - SHOWN_SHAPES
        );
        text.push_str(&format!("  {}\n", dim(more)));
    }
    text
}

/// Where values differ, the values say it better than the shape's sentence.
fn shape_detail(shape: &ShapeReport) -> String {
    if !shape.mismatches.is_empty() {
        let texts = shape
            .mismatches
            .iter()
            .map(|m| mismatches::text(&shape.id, m));
        return texts.collect();
    }
    match shape.message.as_deref().unwrap_or_default() {
        "" => String::new(),
        message => format!("  {}: {}\n", bold(&shape.id), printable(message)),
    }
}

fn score_text(score: &Score) -> String {
    let Some(value) = score.value else {
        return String::new();
    };
    let worst = score.worst_shape.as_ref();
    let worst = worst
        .map(|w| format!(", lowest on {w}"))
        .unwrap_or_default();
    format!(
        "  score {} {}{worst}\n",
        bold(match score.metric {
            ScoreMetric::ModelledSol => approximate(&ratio(value)),
            ScoreMetric::Sol | ScoreMetric::TrafficEfficiency => ratio(value),
        }),
        metric(score.metric)
    )
}

/// What the card reached when it was calibrated, beside the datasheet that the score is made with.
fn ceilings(report: &Report) -> String {
    let measurement = report.measurement.as_ref();
    let Some(ceilings) = measurement.and_then(|m| m.ceilings.as_ref()) else {
        return String::new();
    };
    let line = judge::calibration::in_one_line(ceilings, report.device.name);
    format!("  {} {line}\n", dim("ceilings:"))
}

fn times(times: &PhaseTimes) -> String {
    let named = [
        ("queue", times.queue),
        ("plan", times.plan),
        ("compile", times.compile),
        ("execute", times.execute),
        ("check", times.check),
        ("time", times.time),
        ("overhead", times.overhead),
        ("total", times.total),
    ];
    let parts: Vec<String> = named
        .into_iter()
        .filter_map(|(name, t_s)| Some(format!("{name} {}", duration(t_s?))))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("  {}\n", dim(parts.join(" · ")))
}

/// What the board ranks, in words.
fn metric(metric: ScoreMetric) -> &'static str {
    match metric {
        ScoreMetric::Sol => "of the speed of light",
        ScoreMetric::ModelledSol => "of the speed of light (modelled)",
        ScoreMetric::TrafficEfficiency => "traffic efficiency",
    }
}

fn role(role: ShapeRole) -> &'static str {
    match role {
        ShapeRole::Edge => "edge",
        ShapeRole::Public => "public",
        ShapeRole::HeldOut => "held out",
        ShapeRole::Emulated => "emulated",
    }
}

/// A ratio of 0 to 1 to three places.
pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

/// A number that was not measured.
pub(crate) fn approximate(text: &str) -> String {
    format!("~{text}")
}

/// Seconds in the unit that suits them.
pub(crate) fn duration(t_s: f64) -> String {
    match t_s {
        t if t >= 1.0 => format!("{t:.2} s"),
        t if t >= 1e-3 => format!("{:.1} ms", t * 1e3),
        t => format!("{:.1} us", t * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong_answer() -> Report {
        let shape = json!({
            "id": "n_3", "stratum": null, "role": "edge", "axes": {"N": 3}, "w": null,
            "verdict": "wrong_answer", "kind": null, "message": "1 element differs",
            "mismatches": [{
                "output": "C", "count": 1, "elements": 3, "nan": 0, "inf": 0, "unwritten": 1,
                "max_abs_error": 2.5, "max_rel_error": null,
                "first": [{"index": [2], "expected": "3", "actual": "0.5", "tolerance": "1e-6"}]
            }],
            "launches": 1, "flop": 3.0, "fused_bytes": 36, "t_s": null, "t_sol_s": null,
            "bound": "memory", "sol": null, "traffic_efficiency": 0.5, "counters": null
        });
        serde_json::from_value(json!({
            "schema": "lightspeed.report/1",
            "problem": {"slug": "vector_add", "version": 1},
            "device": {"name": "emulated", "kind": "emulated", "arch": "sm_90a", "profile": null},
            "mode": "practice", "source_sha256": "", "verdict": "wrong_answer", "kind": null,
            "toolchain": {"nvrtc": "13.5.37", "cupti": null, "options": []},
            "message": "wrong values on n_3", "execution": "planned",
            "diagnostics": [{
                "stage": "compile", "severity": "warning", "line": 4, "column": 9,
                "message": "unused\u{1b}[2J variable", "hint": "remove it"
            }],
            "kernels": [{
                "name": "add", "registers": 40, "spill_bytes": 0, "static_smem_bytes": 0,
                "dynamic_smem_bytes": 1024, "constant_bytes": 64, "local_bytes": 16, "barriers": 1,
                "block_threads": 1024, "occupancy": 0.5, "occupancy_limiter": "registers"
            }],
            "shapes": [shape], "score": null,
            "phases_s": {
                "queue": null, "plan": 0.002, "compile": 0.31, "execute": 0.01, "check": null,
                "overhead": 0.02, "total": 1.25
            },
            "printed": "i = 2\n", "warnings": [],
            "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:01Z"
        }))
        .unwrap()
    }

    #[test]
    fn a_wrong_answer_says_what_where_and_why() {
        console::set_colors_enabled(false);
        insta::assert_snapshot!(render(&wrong_answer(), "add.cu"));
    }

    #[test]
    fn a_shape_that_did_not_run_has_dashes() {
        console::set_colors_enabled(false);
        let mut report = wrong_answer();
        let mut unrun = report.shapes[0].clone();
        unrun.id = "n_1025".into();
        unrun.verdict = None;
        unrun.mismatches.clear();
        unrun.message = None;
        (unrun.launches, unrun.traffic_efficiency) = (None, None);
        report.shapes.push(unrun);
        assert_eq!(
            shapes(&report.shapes),
            "  shape   role  axes  verdict       launches  traffic eff.\n\
             \x20 n_3     edge  N=3   wrong_answer         1         0.500\n\
             \x20 n_1025  edge  N=3   -                    -             -\n"
        );
    }

    #[test]
    fn a_live_run_is_told_as_such() {
        let mut report = wrong_answer();
        assert_eq!(execution(&report), "");
        report.execution = Execution::Live;
        report.shapes.push(report.shapes[0].clone());
        report.shapes[0].read_backs = Some(3);
        report.shapes[1].read_backs = Some(12);
        assert_eq!(
            execution(&report),
            "  live: the host function was interpreted while the device ran, 3 to 12 read-backs a run\n"
        );
    }

    #[test]
    fn seconds_take_the_unit_that_suits_them() {
        assert_eq!(duration(2.0), "2.00 s");
        assert_eq!(duration(0.0123), "12.3 ms");
        assert_eq!(duration(4.5e-6), "4.5 us");
    }
}
