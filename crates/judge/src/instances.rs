//! Kernel instances that only a run asks for, because of what it read back: the source is compiled again with
//! them and the judging's runs begin anew, so that all of them are of the same code. That happens a few times
//! at most, and never for a timed run.

use std::collections::BTreeSet;

use domain::report::ShapeRole;
use domain::{Verdict, VerdictKind, told};
use serde::{Deserialize, Serialize};

use crate::wire::Blame;

/// Compiles after the first for one reason: a plan with the compiler's numbers needs another kernel, or a run
/// does.
pub(crate) const MAX_RECOMPILES: u32 = 3;

/// A name expression is not longer than this. It comes from a process that the submission's kernels run in.
const MAX_NAME_BYTES: usize = 4096;
/// Of a name that a message quotes.
const QUOTED_CHARS: usize = 200;

/// A kernel instance that a run came to and that was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uncompiled {
    /// Its name expression.
    pub kernel: String,
    /// Where it is launched or asked about.
    pub line: u32,
}

/// Instances that earlier runs of a judging asked for, by name expression.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// By runs that may be spoken of.
    pub open: BTreeSet<String>,
    /// By others: whether they compile is not told.
    pub held_out: BTreeSet<String>,
}

/// A judging's compiles after the first.
#[derive(Debug, Default)]
pub(crate) struct Recompiles {
    asked: Asked,
    done: u32,
}

impl Recompiles {
    /// What to compile besides what the plans name.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// Takes an instance among those that are compiled; the judging is to begin anew.
    ///
    /// # Errors
    /// What a run of the shape is blamed for where there is to be no other compile.
    pub fn take(&mut self, instance: &Uncompiled, role: ShapeRole) -> Result<(), Blame> {
        let of_role = match role {
            ShapeRole::HeldOut => &mut self.asked.held_out,
            _ => &mut self.asked.open,
        };
        if instance.kernel.len() > MAX_NAME_BYTES || of_role.contains(&instance.kernel) {
            // The second: what a held-out shape asks for did not compile, in silence.
            return Err(instance.refused("it cannot be compiled"));
        }
        if self.done == MAX_RECOMPILES {
            let most = format!(
                "the judge has compiled {MAX_RECOMPILES} times for such instances, as often as it does"
            );
            return Err(instance.refused(&most));
        }
        of_role.insert(instance.kernel.clone());
        self.done += 1;
        Ok(())
    }
}

impl Uncompiled {
    /// A timed run asked for it first.
    pub fn first_asked_while_timed(&self) -> Blame {
        self.refused("no run before asked for it, and nothing is compiled while time is taken")
    }

    fn refused(&self, why: &str) -> Blame {
        Blame {
            verdict: Verdict::PlanError,
            kind: Some(VerdictKind::UnsupportedConstruct),
            message: format!(
                "`{}` is needed because of a value that was read back, and was not compiled: {why}. Choose \
                 template arguments by values that are known before anything runs, launch each instance \
                 that may be needed in a `switch` over them, or pass the value as an argument",
                told(&self.kernel, QUOTED_CHARS)
            ),
            line: Some(self.line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(kernel: &str) -> Uncompiled {
        Uncompiled {
            kernel: kernel.to_owned(),
            line: 7,
        }
    }

    #[test]
    fn three_instances_are_compiled_for_and_the_fourth_is_named() {
        let mut recompiles = Recompiles::default();
        for kernel in ["k<1>", "k<2>", "k<3>"] {
            recompiles
                .take(&instance(kernel), ShapeRole::Public)
                .unwrap();
        }
        let blame = recompiles
            .take(&instance("k<4>"), ShapeRole::Public)
            .unwrap_err();
        assert_eq!(blame.verdict, Verdict::PlanError);
        assert_eq!(blame.line, Some(7));
        assert!(
            blame.message.starts_with("`k<4>` is needed") && blame.message.contains("3 times"),
            "{}",
            blame.message
        );
        let asked = ["k<1>", "k<2>", "k<3>"].map(str::to_owned);
        assert_eq!(recompiles.asked().open, asked.into());
    }

    #[test]
    fn what_only_held_out_shapes_ask_for_is_kept_apart_and_tried_once() {
        let mut recompiles = Recompiles::default();
        recompiles
            .take(&instance("k<1>"), ShapeRole::HeldOut)
            .unwrap();
        assert!(recompiles.asked().open.is_empty());
        let again = recompiles.take(&instance("k<1>"), ShapeRole::HeldOut);
        assert!(again.is_err(), "it did not compile");
        // An open shape is told why.
        recompiles
            .take(&instance("k<1>"), ShapeRole::Public)
            .unwrap();
        assert_eq!(recompiles.asked().open, ["k<1>".to_owned()].into());
    }

    #[test]
    fn a_name_of_any_length_is_not_compiled() {
        let long = instance(&"k".repeat(MAX_NAME_BYTES + 1));
        let blame = Recompiles::default()
            .take(&long, ShapeRole::Public)
            .unwrap_err();
        assert!(blame.message.len() < 1000, "{}", blame.message);
    }
}
