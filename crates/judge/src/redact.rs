//! What is said of held-out shapes: of one that fails, that it failed. Neither how, nor where, nor with which
//! kind, for a submission could be made to tell a shape by the way it fails.
//!
//! Outcomes are redacted before anything of a report is written, so that what is written from them needs no
//! thought of it. Axes are needed until then, and are left out here where they would be told.

use domain::Verdict;
use domain::report::{ShapeReport, ShapeRole};
use problems::Shape;

use crate::outcome::ShapeOutcome;

/// All that is ever said of a held-out shape that fails.
const FAILURE: &str = "failed on a held-out shape";

/// Takes what may not be told out of the outcomes of the first shapes.
pub(crate) fn held_out(shapes: &[Shape], outcomes: &mut [ShapeOutcome]) {
    for (shape, outcome) in shapes.iter().zip(outcomes) {
        if shape.role != ShapeRole::HeldOut {
            continue;
        }
        outcome.printed.clear();
        if outcome.verdict != Verdict::Accepted {
            outcome.verdict = Verdict::WrongAnswer;
            outcome.kind = None;
            outcome.line = None;
            outcome.message = Some(FAILURE.to_owned());
            outcome.mismatches.clear();
        }
    }
}

/// A shape as a message names it; a held-out one has no name.
pub(crate) fn name(shape: &Shape) -> Option<String> {
    let axes = shape.axes.iter();
    let axes: Vec<String> = axes
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let is_open = shape.role != ShapeRole::HeldOut;
    is_open.then(|| format!("shape {} ({})", shape.id, axes.join(", ")))
}

/// A held-out shape's row, of an empty one and a redacted outcome: neither axes nor values.
pub(crate) fn row(empty: ShapeReport, outcome: Option<&ShapeOutcome>) -> ShapeReport {
    ShapeReport {
        verdict: outcome.map(|outcome| outcome.verdict),
        message: outcome.and_then(|outcome| outcome.message.clone()),
        ..empty
    }
}

#[cfg(test)]
mod tests {
    use domain::VerdictKind;

    use super::*;
    use crate::wire::Blame;

    fn shape(role: ShapeRole) -> Shape {
        Shape {
            id: "s".to_owned(),
            stratum: None,
            role,
            axes: [("n".to_owned(), 123)].into(),
            weight: None,
            calls: None,
        }
    }

    fn failed() -> ShapeOutcome {
        ShapeOutcome {
            printed: "n is 123".to_owned(),
            ..ShapeOutcome::from(Blame {
                verdict: Verdict::RuntimeError,
                kind: Some(VerdictKind::OutOfBounds),
                message: "at offset 123".to_owned(),
                line: Some(7),
            })
        }
    }

    #[test]
    fn of_a_held_out_shape_only_its_failure_is_told() {
        let shapes = [ShapeRole::HeldOut, ShapeRole::Public, ShapeRole::HeldOut].map(shape);
        let right = ShapeOutcome {
            printed: "n is 123".to_owned(),
            ..ShapeOutcome::compared(Vec::new())
        };
        let mut outcomes = [failed(), failed(), right];
        held_out(&shapes, &mut outcomes);
        let told = format!("{:?}", outcomes[0]);
        assert!(
            !told.contains("123") && !told.contains("OutOfBounds"),
            "{told}"
        );
        assert_eq!(outcomes[0].verdict, Verdict::WrongAnswer);
        assert_eq!((outcomes[0].kind, outcomes[0].line), (None, None));
        assert_eq!(outcomes[1], failed(), "what is open stays");
        assert_eq!(outcomes[2], ShapeOutcome::compared(Vec::new()));
        assert_eq!(name(&shapes[0]), None);
        assert_eq!(name(&shapes[1]).as_deref(), Some("shape s (n=123)"));
    }
}
