//! What flags take, parsed with sentences of our own: what was given, and what belongs there.

use std::ops::RangeInclusive;
use std::time::Duration;

use domain::{Mode, SubmissionId};

use crate::suggest::did_you_mean;

/// The id of a submission.
pub(crate) fn submission(text: &str) -> Result<SubmissionId, String> {
    text.parse().map_err(|_| {
        format!(
            "`{text}` is no id of a submission: give the one that `submit` printed, \
             as 0190b5a0-0000-7000-8000-000000000001; `lightspeed submissions` lists yours"
        )
    })
}

/// `ranked` or `practice`.
pub(crate) fn mode(text: &str) -> Result<Mode, String> {
    text.parse().map_err(|_| {
        let question = did_you_mean(text, ["ranked", "practice"]);
        format!("`{text}` is no mode: {question}write ranked or practice")
    })
}

/// A time to wait, in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok();
    let parsed = parsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.ok_or_else(|| {
        format!("`{text}` is no time to wait: give seconds, 0 or more, such as 2 or 0.5")
    })
}

/// A whole number of a range.
pub(crate) fn whole(
    range: RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let parsed = text.parse().ok().filter(|number| range.contains(number));
        parsed.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            match *most {
                u32::MAX => format!("`{text}` does not fit: give a whole number, {least} or more"),
                _ => format!("`{text}` does not fit: give a whole number from {least} to {most}"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_what_does() {
        let no_id = submission("foo").unwrap_err();
        assert!(
            no_id.starts_with("`foo` is no id of a submission: give the one"),
            "{no_id}"
        );
        assert!(submission("0190b5a0-0000-7000-8000-000000000001").is_ok());
        assert_eq!(
            mode("rank").unwrap_err(),
            "`rank` is no mode: did you mean `ranked`? write ranked or practice"
        );
        assert_eq!(mode("practice"), Ok(Mode::Practice));
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for nonsense in ["x", "-1", "NaN", "1e99"] {
            assert_eq!(
                seconds(nonsense).unwrap_err(),
                format!(
                    "`{nonsense}` is no time to wait: give seconds, 0 or more, such as 2 or 0.5"
                )
            );
        }
        assert_eq!(whole(1..=100)("100"), Ok(100));
        assert_eq!(
            whole(1..=100)("101").unwrap_err(),
            "`101` does not fit: give a whole number from 1 to 100"
        );
        assert_eq!(
            whole(1..=u32::MAX)("0").unwrap_err(),
            "`0` does not fit: give a whole number, 1 or more"
        );
    }
}
