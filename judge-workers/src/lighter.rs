//! A report that the API found too large, without what is largest in it. Its verdict and its score stay: a
//! submission that was judged is not to be judged again because it printed much.

use protocol::worker::AttemptOutcome;

/// Diagnostics that a light report keeps.
const KEPT_DIAGNOSTICS: usize = 20;

const SHORTENED: &str = "the report was too large: printed text, values of wrong elements and further messages \
                         are left out";

/// Takes something out, the compiled code before anything else. Whether there was anything to take.
pub(crate) fn lighten(outcome: &mut AttemptOutcome) -> bool {
    let AttemptOutcome::Report { report, code } = outcome else {
        return false;
    };
    if code.take().is_some() {
        let left_out = "the report was too large: the compiled code is left out";
        report.warnings.push(left_out.to_owned());
        return true;
    }
    if report.warnings.iter().any(|warning| warning == SHORTENED) {
        return false;
    }
    report.printed = None;
    report.diagnostics.truncate(KEPT_DIAGNOSTICS);
    for shape in &mut report.shapes {
        shape.mismatches.clear();
    }
    report.warnings.push(SHORTENED.to_owned());
    true
}

#[cfg(test)]
mod tests {
    use domain::{CodeListing, Report};
    use serde_json::json;

    use super::*;

    fn report() -> Report {
        serde_json::from_value(json!({
            "schema": "lightspeed.report/1",
            "problem": {"slug": "vector_add", "version": 1},
            "device": {"name": "emulated", "kind": "emulated", "arch": "sm_90a", "profile": null},
            "mode": "practice", "source_sha256": "", "verdict": "accepted", "kind": null,
            "toolchain": {"nvrtc": "13.5.37", "cupti": null, "options": []},
            "message": "all 12 shapes are correct", "execution": "planned",
            "diagnostics": [], "kernels": [], "shapes": [], "score": null,
            "phases_s": {
                "queue": null, "plan": null, "compile": null, "execute": null, "check": null,
                "overhead": null, "total": null
            },
            "printed": "x = 1\n", "warnings": [],
            "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:01Z"
        }))
        .expect("it is a report")
    }

    #[test]
    fn the_code_goes_first_then_the_texts_and_the_verdict_stays() {
        let mut outcome = AttemptOutcome::Report {
            report: Box::new(report()),
            code: Some(Box::new(CodeListing::default())),
        };
        let left = |outcome: &AttemptOutcome| match outcome {
            AttemptOutcome::Report { report, code } => (
                report.verdict.to_string(),
                code.is_some(),
                report.printed.clone(),
            ),
            other => panic!("{other:?}"),
        };
        let accepted = || "accepted".to_owned();
        assert!(lighten(&mut outcome));
        assert_eq!(left(&outcome), (accepted(), false, Some("x = 1\n".into())));
        assert!(lighten(&mut outcome));
        assert_eq!(left(&outcome), (accepted(), false, None));
        assert!(!lighten(&mut outcome), "nothing is left to take");
        let mut retry = AttemptOutcome::Retry {
            reason: "lost the card".to_owned(),
        };
        assert!(!lighten(&mut retry));
    }
}
