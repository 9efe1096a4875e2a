//! The plans of all shapes, and what of them may be told.
//!
//! A submission sees its errors, its warnings and its kernels. Those of held-out shapes would tell it the
//! shapes, so that here of each only this is kept: whether there is a plan.

use std::collections::BTreeSet;
use std::io::{self, Write};

use domain::{Diagnostic, Severity, Stage, VerdictKind};
use launch_plan::{Argument, KernelFacts, Operation, Plan, PlanFailure, Program};

use super::facts::CompiledFacts;
use super::wire::{CompileJob, symbol_expression};

/// Plans of all shapes together, as they go to the judge: its answer has room for code besides.
const MAX_PLAN_BYTES: u64 = 40 << 20;

/// One plan a shape; a held-out one may have none.
pub(super) struct Plans(Vec<Planned>);

struct Planned {
    plan: Option<Plan>,
    held_out: bool,
}

impl Plans {
    /// Interprets the host function for every shape.
    pub fn make(
        program: &Program,
        job: &CompileJob,
        facts: &dyn KernelFacts,
    ) -> Result<Self, PlanFailure> {
        let mut plans = Vec::new();
        for shape in &job.shapes {
            let plan = match program.plan_with(&shape.arguments, &job.limits, facts) {
                Ok(plan) => Some(plan),
                Err(_) if shape.held_out => None,
                Err(failure) => return Err(failure),
            };
            plans.push(Planned {
                plan,
                held_out: shape.held_out,
            });
        }
        let mut plans = Self(plans);
        plans.check_size()?;
        Ok(plans)
    }

    /// Whether a plan depends on what the compiler says.
    pub fn asked(&self) -> bool {
        self.plans().any(|plan| !plan.asked.is_empty())
    }

    /// Whether a host function is to be interpreted while the device runs.
    pub fn run_live(&self) -> bool {
        self.plans().any(|plan| plan.live.is_some())
    }

    /// Everything whose lowered name is needed for shapes that may be spoken of.
    pub fn open_names(&self) -> BTreeSet<String> {
        let open = self.0.iter().filter(|planned| !planned.held_out);
        open.filter_map(|planned| planned.plan.as_ref())
            .flat_map(names)
            .collect()
    }

    /// The same for all shapes.
    pub fn names(&self) -> BTreeSet<String> {
        self.plans().flat_map(names).collect()
    }

    /// Held-out shapes that need more than `names` have no plan.
    pub fn keep_within(&mut self, known: &BTreeSet<String>) {
        self.drop_held_out(|plan| names(plan).all(|name| known.contains(&name)));
    }

    /// A fault where the device would refuse a launch.
    pub fn check(&mut self, facts: &CompiledFacts<'_>) -> Result<(), PlanFailure> {
        for planned in self.0.iter().filter(|planned| !planned.held_out) {
            if let Some(plan) = &planned.plan {
                facts.check(plan)?;
            }
        }
        self.drop_held_out(|plan| facts.check(plan).is_ok());
        Ok(())
    }

    /// Warnings that may be told, each once.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for planned in self.0.iter().filter(|planned| !planned.held_out) {
            for warning in planned.plan.iter().flat_map(|plan| &plan.warnings) {
                // Shapes mostly say the same.
                if !warnings.contains(warning) {
                    warnings.push(warning.clone());
                }
            }
        }
        warnings
    }

    /// Arguments and plans of the shapes that may be spoken of.
    pub fn open<'a>(&'a self, job: &'a CompileJob) -> Vec<(&'a [Argument], &'a Plan)> {
        let planned = job.shapes.iter().zip(&self.0);
        let open = planned.filter(|(_, planned)| !planned.held_out);
        open.filter_map(|(shape, planned)| {
            Some((shape.arguments.as_slice(), planned.plan.as_ref()?))
        })
        .collect()
    }

    /// The plans in the job's order, the held-out shapes, and those of them without a plan.
    pub fn into_parts(self) -> (Vec<Plan>, BTreeSet<usize>, BTreeSet<usize>) {
        let indices = |which: &dyn Fn(&Planned) -> bool| {
            let all = self.0.iter().enumerate();
            all.filter(|(_, planned)| which(planned))
                .map(|(index, _)| index)
                .collect()
        };
        let held_out = indices(&|planned| planned.held_out);
        let unplanned = indices(&|planned| planned.plan.is_none());
        let plans = self.0.into_iter();
        let plans = plans.map(|planned| planned.plan.unwrap_or_default());
        (plans.collect(), held_out, unplanned)
    }

    fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.0.iter().filter_map(|planned| planned.plan.as_ref())
    }

    fn drop_held_out(&mut self, keep: impl Fn(&Plan) -> bool) {
        for planned in self.0.iter_mut().filter(|planned| planned.held_out) {
            planned.plan = planned.plan.take().filter(&keep);
        }
    }

    /// A fault where the plans that may be spoken of are too large; of the others, those that fit stay.
    fn check_size(&mut self) -> Result<(), PlanFailure> {
        let mut room = MAX_PLAN_BYTES;
        for planned in self.0.iter().filter(|planned| !planned.held_out) {
            let bytes = planned.plan.as_ref().map_or(0, serialised_bytes);
            room = room.checked_sub(bytes).ok_or_else(too_large)?;
        }
        for planned in self.0.iter_mut().filter(|planned| planned.held_out) {
            let bytes = planned.plan.as_ref().map_or(0, serialised_bytes);
            match room.checked_sub(bytes) {
                Some(left) => room = left,
                None => planned.plan = None,
            }
        }
        Ok(())
    }
}

/// Everything of a plan whose lowered name the executor will need or that it asked about.
fn names(plan: &Plan) -> impl Iterator<Item = String> {
    let kernels = plan.instantiations().into_iter();
    let kernels = kernels.chain(plan.asked.iter().cloned());
    let written = plan
        .operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::UploadSymbol { symbol, .. } | Operation::CopyToSymbol { symbol, .. } => {
                Some(symbol)
            }
            _ => None,
        });
    let live = plan.live.iter().flat_map(|live| &live.symbols);
    let symbols = plan.symbols.iter().chain(written).chain(live);
    kernels
        .map(|instance| instance.0)
        .chain(symbols.map(|symbol| symbol_expression(symbol)))
}

fn too_large() -> PlanFailure {
    PlanFailure {
        kind: VerdictKind::Fuel,
        diagnostics: vec![Diagnostic {
            stage: Stage::Plan,
            severity: Severity::Error,
            line: None,
            column: None,
            message: format!(
                "the operations of all shapes take more than {} MiB to write down, the limit",
                MAX_PLAN_BYTES >> 20
            ),
            hint: Some("set and copy memory in fewer, larger steps, or in a kernel".to_owned()),
        }],
    }
}

fn serialised_bytes(plan: &Plan) -> u64 {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, plan) {
        Ok(()) => count.0,
        Err(_) => u64::MAX,
    }
}

struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
