//! What a GPU's kernels print, run by run. Another device says so itself.

use std::io;

use domain::Verdict;
use sandbox::CaughtOutput;

use super::run::RunFailure;
use crate::wire::Blame;

/// What kernels may print in one run.
const PRINTED_BYTES: usize = 64 << 10;

/// Where it arrives.
pub(super) trait Catch {
    /// What was printed since the last call, cut after `limit` bytes, and whether that was all.
    fn take(&mut self, limit: usize) -> io::Result<(String, bool)>;
}

impl Catch for CaughtOutput {
    fn take(&mut self, limit: usize) -> io::Result<(String, bool)> {
        Self::take(self, limit)
    }
}

/// What is printed between two runs' ends.
pub(super) struct Printed(Option<Box<dyn Catch>>);

impl Printed {
    /// Of a device that says itself what kernels print.
    pub fn by_device() -> Self {
        Self(None)
    }

    /// Takes this process's standard output over, where the driver prints.
    pub fn caught() -> io::Result<Self> {
        Ok(Self::by(CaughtOutput::start()?))
    }

    pub fn by(catch: impl Catch + 'static) -> Self {
        Self(Some(Box::new(catch)))
    }

    /// What came of one run, with what it printed. It must not have printed too much; but what else went
    /// wrong counts first, so that a flood hides neither a fault nor what the judge did wrong.
    pub fn judge<T>(
        &mut self,
        run: Result<T, RunFailure>,
    ) -> Result<(T, Option<String>), RunFailure> {
        // Taken in any case: the next run's must not follow it.
        let printed = self.take();
        let run = run?;
        Ok((run, printed?))
    }

    /// Forgets what was printed by repeats of runs that were judged one by one.
    pub fn forget(&mut self) {
        let _ = self.take();
    }

    fn take(&mut self) -> Result<Option<String>, RunFailure> {
        let Some(catch) = &mut self.0 else {
            return Ok(None);
        };
        match catch.take(PRINTED_BYTES) {
            Ok((text, true)) => Ok(Some(text)),
            Ok((_, false)) => Err(RunFailure::Blamed(Blame {
                verdict: Verdict::OutputLimit,
                kind: None,
                message: format!("the kernels printed more than {PRINTED_BYTES} bytes"),
                line: None,
            })),
            Err(error) => Err(RunFailure::Ours(format!("what kernels print: {error}"))),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// What a driver is to have printed.
    #[derive(Clone, Default)]
    pub(in crate::execute) struct Pretended(pub Rc<RefCell<String>>);

    impl Catch for Pretended {
        fn take(&mut self, limit: usize) -> io::Result<(String, bool)> {
            let mut text = self.0.take();
            let is_all = text.len() <= limit;
            text.truncate(limit);
            Ok((text, is_all))
        }
    }

    pub(in crate::execute) fn flood() -> String {
        "x".repeat(PRINTED_BYTES + 1)
    }

    fn verdict<T>(outcome: &Result<T, RunFailure>) -> Option<Verdict> {
        match outcome {
            Err(RunFailure::Blamed(blame)) => Some(blame.verdict),
            _ => None,
        }
    }

    #[test]
    fn a_run_has_what_it_printed_and_the_next_one_has_not() {
        let driver = Pretended::default();
        let mut printed = Printed::by(driver.clone());
        driver.0.replace("hello".to_owned());
        let run = printed.judge(Ok(1));
        assert!(matches!(run, Ok((1, Some(text))) if text == "hello"));
        assert!(matches!(printed.judge(Ok(2)), Ok((2, Some(text))) if text.is_empty()));
    }

    #[test]
    fn a_flood_ends_a_run_that_succeeded_and_hides_no_failure() {
        let driver = Pretended::default();
        let mut printed = Printed::by(driver.clone());
        driver.0.replace(flood());
        assert_eq!(verdict(&printed.judge(Ok(()))), Some(Verdict::OutputLimit));
        driver.0.replace(flood());
        let fault = Blame {
            verdict: Verdict::RuntimeError,
            kind: None,
            message: String::new(),
            line: None,
        };
        let run = printed.judge::<()>(Err(RunFailure::Blamed(fault)));
        assert_eq!(verdict(&run), Some(Verdict::RuntimeError));
        driver.0.replace(flood());
        let run = printed.judge::<()>(Err(RunFailure::Ours("the judge".to_owned())));
        assert!(matches!(run, Err(RunFailure::Ours(_))));
        assert!(
            printed.judge(Ok(())).is_ok(),
            "what a failed run printed went with it"
        );
    }
}
