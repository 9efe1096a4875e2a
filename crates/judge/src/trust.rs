//! What a result's times may be trusted with: whether they rank, and whether a person should look at them.

use domain::report::ShapeRole;

use crate::JudgeRequest;
use crate::assemble::Findings;

/// Why nothing that was measured counts, where that is so.
pub(crate) fn unranked(findings: &Findings) -> Option<&str> {
    findings.measurement.as_ref()?.timer.unranked.as_deref()
}

/// Why a measured result should not be believed without looking.
pub(crate) fn doubt(request: &JudgeRequest, findings: &Findings) -> Option<String> {
    if unranked(findings).is_some() {
        return None; // it is not used
    }
    let device = scoring::device(request.device);
    let rows = findings.shapes.iter().zip(&findings.outcomes);
    rows.filter_map(|(shape, outcome)| Some((shape, outcome, outcome.timing.as_ref()?)))
        .find_map(|(shape, outcome, timing)| {
            let cost = request.package.cost(&shape.axes).ok()?;
            let plausible = scoring::plausibility(timing.t_s, &cost, device);
            // One stray sample is the machine's doing: on an H200 one in some thousands is. What a
            // submission gains by slow runs it must do again and again.
            let trials: Vec<&[f64]> = match &outcome.per_operation_s {
                // More rounds may take longer; each must take as long.
                Some(trials) => trials.iter().map(Vec::as_slice).collect(),
                None => timing
                    .trials
                    .iter()
                    .map(|t| t.samples_s.as_slice())
                    .collect(),
            };
            let spikes: Vec<_> = trials
                .into_iter()
                .filter_map(|samples_s| scoring::steadiness(samples_s).err())
                .collect();
            let recurs = spikes.len() == timing.trials.len();
            let reason = match plausible {
                Err(reason) => reason.to_string(),
                Ok(()) => spikes.first().filter(|_| recurs)?.to_string(),
            };
            // A figure would tell its size.
            Some(match shape.role {
                ShapeRole::HeldOut => "a held-out shape".to_owned(),
                _ => format!("shape {}: {reason}", shape.id),
            })
        })
}

/// What a reader of the times should know.
pub(crate) fn warnings(findings: &Findings) -> Vec<String> {
    let unranked = unranked(findings).map(|reason| format!("times cannot be ranked: {reason}"));
    unranked.into_iter().chain(differing(findings)).collect()
}

/// Shapes on which the second timer tells of something else. Not a reason to hold a result yet.
fn differing(findings: &Findings) -> Option<String> {
    let rows = findings.shapes.iter().zip(&findings.outcomes);
    let differ: Vec<&str> = rows
        .filter(|(shape, _)| shape.role != ShapeRole::HeldOut)
        .filter(|(_, outcome)| {
            let timing = outcome.timing.as_ref();
            timing.is_some_and(|timing| timing.timers_agree == Some(false))
        })
        .map(|(shape, _)| shape.id.as_str())
        .collect();
    (!differ.is_empty()).then(|| format!("two timers differ on: {}", differ.join(", ")))
}

#[cfg(test)]
mod tests {
    use domain::TimerRef;
    use domain::report::{ClockMode, Measurement};

    use super::*;

    fn measured(unranked: Option<&str>) -> Findings {
        Findings {
            measurement: Some(Measurement {
                timer: TimerRef {
                    name: "cupti".to_owned(),
                    cupti: Some("26".to_owned()),
                    driver: "13.0".to_owned(),
                    unranked: unranked.map(str::to_owned),
                },
                clock_mode: ClockMode::Unlocked,
                warm_up_s: 0.1,
                canary_s: Vec::new(),
                steady: true,
                restarts: 0,
                before: None,
                after: None,
                ceilings: None,
            }),
            ..Findings::default()
        }
    }

    /// The reason is the timer's own to word: it may be CUPTI that measures, and still not rank.
    #[test]
    fn times_that_do_not_rank_are_said_to_with_the_reason_alone() {
        let warned = warnings(&measured(Some("kernels can reach the host's memory")));
        assert_eq!(
            warned,
            ["times cannot be ranked: kernels can reach the host's memory"]
        );
        assert!(warnings(&measured(None)).is_empty());
        assert!(warnings(&Findings::default()).is_empty());
    }
}
