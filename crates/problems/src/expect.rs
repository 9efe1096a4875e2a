//! The first line of a solution: what judging it must come to.
//!
//! `// expect: wrong_answer [kind=...] [device=emulated] [min.h200=0.40]`

use std::collections::BTreeMap;

use domain::{DeviceName, Verdict, VerdictKind};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};

/// What judging a solution must come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: Verdict,
    /// The kind within the verdict; any, if absent.
    pub kind: Option<VerdictKind>,
    /// Only judged there, if given: some faults show on one device alone.
    pub device: Option<DeviceName>,
    /// The least score per device, 0 to 1. On the emulated device it is traffic efficiency.
    pub min_score: BTreeMap<DeviceName, f64>,
}

/// Why a line is not an expectation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpectationError {
    /// The line does not begin as it must.
    #[error(
        "the first line must read `// expect: <verdict> [kind=...] [device=...] [min.<device>=0.40]`"
    )]
    Form,
    /// A word the contract does not know.
    #[error("`{word}` is not a {what}")]
    Word {
        /// What stood there.
        word: String,
        /// What should have.
        what: &'static str,
    },
    /// A floor for a verdict that earns no score.
    #[error("a floor `min.<device>` only goes with `accepted`")]
    Floor,
}

impl Expectation {
    /// Reads the first line of `source`.
    pub fn parse(source: &str) -> Result<Self, ExpectationError> {
        let line = source.trim_start_matches('\u{feff}').lines().next();
        let words = line
            .and_then(|l| l.strip_prefix("//"))
            .and_then(|l| l.trim_start().strip_prefix("expect:"))
            .ok_or(ExpectationError::Form)?;
        let mut words = words.split_whitespace();
        let verdict = words.next().ok_or(ExpectationError::Form)?;
        let mut expectation = Self {
            verdict: verdict.parse().map_err(|_| wrong(verdict, "verdict"))?,
            kind: None,
            device: None,
            min_score: BTreeMap::new(),
        };
        for word in words {
            expectation.take(word)?;
        }
        if expectation.verdict != Verdict::Accepted && !expectation.min_score.is_empty() {
            return Err(ExpectationError::Floor);
        }
        Ok(expectation)
    }

    /// Whether it says anything about `device`.
    #[must_use]
    pub fn applies_to(&self, device: DeviceName) -> bool {
        self.device.is_none_or(|only| only == device)
    }

    fn take(&mut self, word: &str) -> Result<(), ExpectationError> {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| wrong(word, "key=value pair"))?;
        match key {
            "kind" => self.kind = Some(kind(value)?),
            "device" => self.device = Some(device(value)?),
            _ => {
                let name = key
                    .strip_prefix("min.")
                    .ok_or_else(|| wrong(key, "known key (`kind`, `device`, `min.<device>`)"))?;
                let floor: f64 = value.parse().map_err(|_| wrong(value, "number"))?;
                if !(0.0..=1.0).contains(&floor) {
                    return Err(wrong(value, "score from 0 to 1"));
                }
                self.min_score.insert(device(name)?, floor);
            }
        }
        Ok(())
    }
}

fn kind(word: &str) -> Result<VerdictKind, ExpectationError> {
    let deserializer: StrDeserializer<'_, WordError> = word.into_deserializer();
    VerdictKind::deserialize(deserializer).map_err(|_| wrong(word, "verdict kind"))
}

fn device(word: &str) -> Result<DeviceName, ExpectationError> {
    word.parse().map_err(|_| wrong(word, "device"))
}

fn wrong(word: &str, what: &'static str) -> ExpectationError {
    ExpectationError::Word {
        word: word.to_owned(),
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_line_is_read() {
        let read = Expectation::parse("// expect: accepted min.h200=0.40 min.emulated=0.9\r\nvoid");
        let read = read.unwrap();
        assert_eq!(read.verdict, Verdict::Accepted);
        assert_eq!(read.min_score[&DeviceName::H200], 0.40);
        assert_eq!(read.min_score[&DeviceName::Emulated], 0.9);
        let read =
            Expectation::parse("// expect: runtime_error kind=out_of_bounds device=emulated")
                .unwrap();
        assert_eq!(read.kind, Some(VerdictKind::OutOfBounds));
        assert!(read.applies_to(DeviceName::Emulated) && !read.applies_to(DeviceName::H200));
    }

    #[test]
    fn a_wrong_line_says_what_is_wrong() {
        for (line, part) in [
            ("", "first line must read"),
            ("#include <x>", "first line must read"),
            ("// expect:", "first line must read"),
            ("// expect: fine", "`fine` is not a verdict"),
            ("// expect: accepted kind", "`kind` is not a key=value pair"),
            (
                "// expect: accepted kind=bad",
                "`bad` is not a verdict kind",
            ),
            (
                "// expect: accepted min.gtx480=0.1",
                "`gtx480` is not a device",
            ),
            (
                "// expect: accepted min.h200=1.5",
                "`1.5` is not a score from 0 to 1",
            ),
            (
                "// expect: accepted max.h200=1",
                "`max.h200` is not a known key",
            ),
            (
                "// expect: wrong_answer min.h200=0.1",
                "only goes with `accepted`",
            ),
        ] {
            let error = Expectation::parse(line).unwrap_err().to_string();
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
