//! What became of one shape.

use device::Leaked;
use domain::report::{Counters, Modelled, OutputMismatch, Timing};
use domain::{Verdict, VerdictKind};

use crate::execute::wire::LiveCounts;
use crate::wire::Blame;

/// Why a judging stopped when no shape's verdict says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interruption {
    pub verdict: Verdict,
    pub kind: Option<VerdictKind>,
    pub message: String,
}

impl Interruption {
    /// The judge's own fault.
    pub fn ours(message: String) -> Self {
        Self {
            verdict: Verdict::JudgeError,
            kind: None,
            message,
        }
    }

    /// Whether the submission is to blame.
    pub fn is_the_submissions(&self) -> bool {
        !matches!(self.verdict, Verdict::JudgeError | Verdict::Cancelled)
    }

    /// Somebody called it off.
    pub fn cancelled() -> Self {
        Self {
            verdict: Verdict::Cancelled,
            kind: None,
            message: "cancelled while running".to_owned(),
        }
    }
}

/// One shape's result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShapeOutcome {
    /// This shape's verdict.
    pub verdict: Verdict,
    /// What exactly.
    pub kind: Option<VerdictKind>,
    /// One sentence for a person.
    pub message: Option<String>,
    /// Line in the submitted source that the message is about.
    pub line: Option<u32>,
    /// Outputs that differ.
    pub mismatches: Vec<OutputMismatch>,
    /// What the device counted.
    pub counters: Option<Counters>,
    /// What a model makes of that.
    pub modelled: Option<Modelled>,
    /// What kernels did not give back of the device's heap.
    pub leaked: Leaked,
    /// What kernels printed.
    pub printed: String,
    /// Seconds in the submission's kernels.
    pub execute_s: f64,
    /// Seconds in generating, the reference and the comparison.
    pub check_s: f64,
    /// How long it takes, where that was measured.
    pub timing: Option<Timing>,
    /// What the untimed run did, where the host function was interpreted.
    pub live: Option<LiveCounts>,
    /// Time of each sample by the number of its operations, trial by trial, where the host function was
    /// interpreted: other inputs take other numbers of rounds.
    pub per_operation_s: Option<Vec<Vec<f64>>>,
}

impl ShapeOutcome {
    /// Right, or wrong where outputs differ.
    pub fn compared(mismatches: Vec<OutputMismatch>) -> Self {
        let Some(worst) = mismatches.first() else {
            return Self::of(Verdict::Accepted);
        };
        Self {
            message: Some(describe(worst)),
            mismatches,
            ..Self::of(Verdict::WrongAnswer)
        }
    }

    /// A held-out shape that has no plan: it fails when its turn comes, as any other.
    pub fn unplanned() -> Self {
        Self::of(Verdict::WrongAnswer)
    }

    /// Another run of the shape failed, which decides. What was found out in this one stays.
    pub fn overrule(&mut self, by: Self) {
        let Self {
            verdict,
            kind,
            message,
            line,
            mismatches,
            counters: _,
            modelled: _,
            leaked: _,
            printed: _,
            execute_s: _,
            check_s: _,
            timing: _,
            live: _,
            per_operation_s: _,
        } = by;
        self.verdict = verdict;
        self.kind = kind;
        self.message = message;
        self.line = line;
        self.mismatches = mismatches;
    }

    /// Whether what comes after it is worth a run. A wrong answer on one shape still leaves something
    /// to learn from the next; running out of time or memory would only do so again.
    pub fn ends_judging(&self) -> bool {
        !matches!(
            self.verdict,
            Verdict::Accepted | Verdict::WrongAnswer | Verdict::RuntimeError
        )
    }

    fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            kind: None,
            message: None,
            line: None,
            mismatches: Vec::new(),
            counters: None,
            modelled: None,
            leaked: Leaked::default(),
            printed: String::new(),
            execute_s: 0.0,
            check_s: 0.0,
            timing: None,
            live: None,
            per_operation_s: None,
        }
    }
}

impl From<Interruption> for ShapeOutcome {
    fn from(interruption: Interruption) -> Self {
        Self {
            kind: interruption.kind,
            message: Some(interruption.message),
            ..Self::of(interruption.verdict)
        }
    }
}

impl From<Blame> for ShapeOutcome {
    fn from(blame: Blame) -> Self {
        Self {
            kind: blame.kind,
            message: Some(blame.message),
            line: blame.line,
            ..Self::of(blame.verdict)
        }
    }
}

fn describe(mismatch: &OutputMismatch) -> String {
    let OutputMismatch {
        output,
        count,
        elements,
        unwritten,
        ..
    } = mismatch;
    if unwritten == elements {
        return format!("`{output}` was never written");
    }
    let mut text = format!("`{output}`: {count} of {elements} elements are wrong");
    if *unwritten > 0 {
        text += &format!(", {unwritten} of them never written");
    }
    if let Some(first) = mismatch.first.first() {
        let index: Vec<String> = first.index.iter().map(|i| format!("[{i}]")).collect();
        text += &format!(
            "; first at {output}{}: expected {}, got {}",
            index.concat(),
            first.expected,
            first.actual
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_timed_run_decides_and_leaves_what_the_first_run_told() {
        let mut outcome = ShapeOutcome {
            counters: Some(Counters::default()),
            printed: "hello".to_owned(),
            execute_s: 0.25,
            check_s: 0.5,
            ..ShapeOutcome::compared(Vec::new())
        };
        outcome.overrule(ShapeOutcome::from(Blame {
            verdict: Verdict::RuntimeError,
            kind: Some(VerdictKind::InputModified),
            message: "in a timed run: the input `x` was modified".to_owned(),
            line: Some(3),
        }));
        let expected = ShapeOutcome {
            verdict: Verdict::RuntimeError,
            kind: Some(VerdictKind::InputModified),
            message: Some("in a timed run: the input `x` was modified".to_owned()),
            line: Some(3),
            mismatches: Vec::new(),
            counters: Some(Counters::default()),
            printed: "hello".to_owned(),
            execute_s: 0.25,
            check_s: 0.5,
            timing: None,
            live: None,
            per_operation_s: None,
            modelled: None,
            leaked: Leaked::default(),
        };
        assert_eq!(outcome, expected);
    }
}
