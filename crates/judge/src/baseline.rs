//! How long a package's baseline takes on this card, measured once and kept.
//!
//! A submission far slower than the baseline would hold the card for minutes to learn a score of nothing.

use std::collections::BTreeMap;
use std::path::Path;

use domain::{DeviceKind, Mode, Report, Verdict};
use problems::Package;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::compile::cache;
use crate::{Environment, JudgeRequest};

/// Time of each timed shape, s, by the shape's id.
pub(crate) type BaselineTimes = BTreeMap<String, f64>;

/// What the times depend on; a change of any of it measures anew.
#[derive(Debug, Serialize)]
struct Measured<'a> {
    problem: &'a str,
    version: u32,
    source_sha256: String,
    card: &'a str,
    /// Ids and axes of the shapes.
    shapes: Vec<(String, String)>,
}

/// The times, from an earlier judging or measured now. `None` where there is no place to keep them, where
/// nothing is measured, or where the baseline itself is not accepted.
pub(crate) fn times(
    environment: &Environment,
    request: &JudgeRequest,
    judge: impl FnOnce(&JudgeRequest) -> Report,
) -> Option<BaselineTimes> {
    let package = &request.package;
    let is_baseline = request.source.sha256() == package.baseline_source.sha256();
    let is_timed = request.mode == Mode::Ranked && request.device.kind() == DeviceKind::Gpu;
    if !is_timed || is_baseline {
        return None;
    }
    let (cache, lane) = (environment.cache.as_ref()?, environment.lane.as_ref()?);
    let job = job(package, request, &lane.gpu().uuid);
    kept(cache, &job, || {
        let report = judge(&JudgeRequest {
            source: package.baseline_source.clone(),
            ..request.clone()
        });
        (report.verdict, taken(&report))
    })
}

/// What is kept for a job, or was measured now.
fn kept(
    folder: &Path,
    job: &str,
    measure: impl FnOnce() -> (Verdict, BaselineTimes),
) -> Option<BaselineTimes> {
    if let Some(known) = cache::load(folder, &job) {
        return known;
    }
    let (verdict, times) = measure();
    let is_good = matches!(verdict, Verdict::Accepted | Verdict::Held);
    let times = is_good.then_some(times);
    // A baseline that is not accepted will not be the next time either, unless the judge failed.
    if !matches!(verdict, Verdict::JudgeError | Verdict::Cancelled) {
        cache::store(folder, &job, &times);
    }
    times
}

fn job(package: &Package, request: &JudgeRequest, card: &str) -> String {
    let shapes = package.shapes(request.mode, request.device.kind(), None);
    let measured = Measured {
        problem: &package.slug,
        version: package.version,
        source_sha256: package.baseline_source.sha256(),
        card,
        shapes: shapes
            .iter()
            .map(|shape| (shape.id.clone(), format!("{:?}", shape.axes)))
            .collect(),
    };
    let text = serde_json::to_vec(&measured).expect("plain data");
    format!("baseline {}", hex::encode(Sha256::digest(text)))
}

fn taken(report: &Report) -> BaselineTimes {
    let rows = report.shapes.iter();
    rows.filter_map(|row| Some((row.id.clone(), row.t_s?)))
        .collect()
}

/// The time that cuts a submission off, s: so many times the baseline's, and long enough for the judging to
/// be long.
pub(crate) fn cut_off_s(baseline_s: f64) -> f64 {
    (FAR_SLOWER * baseline_s).max(WORTH_CUTTING_S)
}

const FAR_SLOWER: f64 = 20.0;
const WORTH_CUTTING_S: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> BaselineTimes {
        BaselineTimes::from([("small".to_owned(), 1e-5), ("large".to_owned(), 2e-3)])
    }

    fn again() -> (Verdict, BaselineTimes) {
        panic!("it is measured once")
    }

    #[test]
    fn a_card_measures_a_baseline_once() {
        let folder = tempfile::tempdir().unwrap();
        let once = || (Verdict::Accepted, measured());
        assert_eq!(kept(folder.path(), "job", once), Some(measured()));
        assert_eq!(kept(folder.path(), "job", again), Some(measured()));
        let other = || (Verdict::Accepted, BaselineTimes::new());
        assert_eq!(
            kept(folder.path(), "another card", other),
            Some(BaselineTimes::new())
        );
    }

    #[test]
    fn a_baseline_that_is_wrong_cuts_nobody_off_and_is_not_judged_again() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = || (Verdict::WrongAnswer, measured());
        assert_eq!(kept(folder.path(), "job", wrong), None);
        assert_eq!(kept(folder.path(), "job", again), None);
    }

    #[test]
    fn what_the_judge_failed_to_measure_is_measured_the_next_time() {
        for verdict in [Verdict::JudgeError, Verdict::Cancelled] {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(kept(folder.path(), "job", || (verdict, measured())), None);
            let next = || (Verdict::Accepted, measured());
            assert_eq!(kept(folder.path(), "job", next), Some(measured()));
        }
    }

    #[test]
    fn only_long_runs_far_slower_than_the_baseline_are_cut_off() {
        assert_eq!(
            cut_off_s(10e-6),
            0.05,
            "a millisecond costs nobody anything"
        );
        assert_eq!(cut_off_s(0.01), 0.2);
    }
}
