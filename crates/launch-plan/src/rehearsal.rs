//! A dry run of the entry function: what it does to the device as far as that is certain, and what it may do
//! where its course depends on values that only kernels make.

use std::collections::BTreeSet;

use crate::device_side::{Answer, DeviceSide, Refused};
use crate::failure::Fallible;
use crate::interpreter::{Course, Ended, Guess, interpret};
use crate::plan::{KernelInstance, Live, Operation, Place, Plan, kernels_of};
use crate::syntax::ast::Space;

/// Operations that a live plan shows of what a run may come to.
const MAX_SHOWN: usize = 1000;

/// Writes down what it is asked for.
#[derive(Default)]
struct Recorder {
    operations: Vec<Operation>,
    symbols: BTreeSet<String>,
}

impl DeviceSide for Recorder {
    fn submit(&mut self, operation: Operation, symbols: &[String]) -> Result<(), Refused> {
        self.symbols.extend(symbols.iter().cloned());
        if let Operation::UploadSymbol { symbol, .. } | Operation::CopyToSymbol { symbol, .. } =
            &operation
        {
            self.symbols.insert(symbol.clone());
        }
        self.operations.push(operation);
        Ok(())
    }

    fn read(
        &mut self,
        _source: Place,
        symbols: &[String],
        _into: &mut [u8],
    ) -> Result<Answer, Refused> {
        self.symbols.extend(symbols.iter().cloned());
        Ok(Answer::Unknown)
    }

    /// The compile that follows makes them.
    fn lacks(&mut self, _kernel: &KernelInstance, _line: u32) -> Result<(), Refused> {
        Ok(())
    }
}

/// One dry run.
struct Rehearsal {
    recorder: Recorder,
    ended: Ended,
}

/// The plan of one call of the entry function. `course` guesses nothing but zeros.
pub(crate) fn rehearse(course: &Course<'_>) -> Fallible<Plan> {
    let first = Rehearsal::of(course);
    let Some(line) = first.ended.needs_device else {
        first.ended.outcome.clone()?;
        return Ok(first.plan(None));
    };
    let guessed = [Guess::One, Guess::Large].map(|guess| {
        Rehearsal::of(&Course {
            guess,
            ..course.clone()
        })
    });
    let all: Vec<Rehearsal> = std::iter::once(first).chain(guessed).collect();
    // What no guess gets around, no value will.
    let same = |rehearsal: &Rehearsal| rehearsal.ended.outcome == all[0].ended.outcome;
    if let Err(fault) = &all[0].ended.outcome
        && fault.is_beyond_the_subset()
        && all.iter().all(same)
    {
        return Err(fault.clone());
    }
    let live = Live {
        line,
        kernels: all
            .iter()
            .flat_map(|rehearsal| kernels_of(&rehearsal.recorder.operations))
            .chain(plain_kernels(course))
            .collect(),
        symbols: all
            .iter()
            .flat_map(|rehearsal| rehearsal.recorder.symbols.iter().cloned())
            .collect(),
    };
    let is_whole = |rehearsal: &Rehearsal| rehearsal.ended.outcome.is_ok();
    let typical = all.iter().position(is_whole).unwrap_or(0);
    let typical = all.into_iter().nth(typical);
    let mut plan = typical.map_or_else(Plan::default, |rehearsal| rehearsal.plan(Some(live)));
    plan.operations.truncate(MAX_SHOWN);
    Ok(plan)
}

impl Rehearsal {
    fn of(course: &Course<'_>) -> Self {
        let mut recorder = Recorder::default();
        let ended = interpret(course, &mut recorder);
        Self { recorder, ended }
    }

    fn plan(self, live: Option<Live>) -> Plan {
        Plan {
            operations: self.recorder.operations,
            live,
            ..self.ended.plan
        }
    }
}

/// Kernels that have one instance and one name: asking for them costs nothing, and a run may launch them for
/// a reason that no guess meets.
fn plain_kernels(course: &Course<'_>) -> impl Iterator<Item = KernelInstance> {
    let functions = course.tables.functions().iter();
    functions
        .filter(|function| {
            function.space == Space::Kernel
                && function.template.is_none()
                && !function.specialisation
                && function.body.is_some()
                && course.tables.functions_named(&function.path).len() == 1
        })
        .map(|function| KernelInstance(function.path.clone()))
}
