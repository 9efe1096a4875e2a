//! A submission, split into device source and a host program that can be planned.

use domain::{Diagnostic, Signature, TargetLimits};

use crate::duplicates::refuse_duplicates;
use crate::facts::{KernelFacts, NoFacts};
use crate::failure::{Fallible, Fault, PlanFailure};
use crate::hints;
use crate::host_program::HostProgram;
use crate::plan::{Argument, Plan};
use crate::signature::find_entry;
use crate::source::preprocess::Preprocessed;
use crate::source::text::SourceText;
use crate::split::device_source;
use crate::syntax::items::items;
use crate::syntax::lower::Lowerer;
use crate::syntax::parse::parse;
use crate::tables::Tables;
use crate::warnings::Planned;

/// A parsed submission whose entry function fits the problem.
#[derive(Debug)]
pub struct Program {
    source: SourceText,
    device_source: String,
    host: HostProgram,
}

impl Program {
    /// Reads `source`, finds `solve` (or `solution`), compares its parameters with `signature` by
    /// position, and splits device code from host code.
    pub fn parse(source: &str, signature: &Signature) -> Result<Self, PlanFailure> {
        let source = SourceText::new(source);
        match Self::read(&source, signature) {
            Ok((device_source, tables, entry)) => Ok(Self {
                device_source,
                host: HostProgram::new(tables, source.lines().clone(), entry),
                source,
            }),
            Err(fault) => {
                let failure = fault.into_failure(source.lines());
                Err(hints::complete(failure, Some(&source)))
            }
        }
    }

    fn read(source: &SourceText, signature: &Signature) -> Fallible<(String, Tables, usize)> {
        let preprocessed = Preprocessed::new(source)?;
        let tree = parse(preprocessed.text())?;
        let mut items = items(tree.root_node(), &mut Lowerer::new(&preprocessed));
        let pieces = std::mem::take(&mut items.pieces);
        let first_error = items.first_error.take();
        let defined = std::mem::take(&mut items.defined);
        let tables = Tables::new(items);
        refuse_duplicates(&tables, &defined, source)?;
        let entry = find_entry(&tables, signature, source).map_err(|fault| {
            // A file that does not parse may hide its entry from the reader.
            match first_error {
                Some((at, message)) if names_entry(source) && tables_lack_entry(&tables) => {
                    Fault::syntax(at, message)
                }
                _ => fault,
            }
        })?;
        let path = &tables.function(entry).path;
        let name = path.rsplit("::").next().unwrap_or(path);
        let device_source = device_source(source, &preprocessed, tree.root_node(), &pieces, name);
        Ok((device_source, tables, entry))
    }

    /// What NVRTC compiles: the submitted text without a byte-order mark, in which host-only
    /// functions and variables are overwritten by spaces. Lines and columns are unchanged.
    #[must_use]
    pub fn device_source(&self) -> &str {
        &self.device_source
    }

    /// Interprets the entry function for one shape, given in the signature's order, before the
    /// compile. The same arguments give the same plan.
    pub fn plan(&self, arguments: &[Argument], limits: &TargetLimits) -> Result<Plan, PlanFailure> {
        self.plan_with(arguments, limits, &NoFacts)
    }

    /// As [`Program::plan`], with what the compiler said of the kernels.
    pub fn plan_with(
        &self,
        arguments: &[Argument],
        limits: &TargetLimits,
        facts: &dyn KernelFacts,
    ) -> Result<Plan, PlanFailure> {
        let planned = self.host.plan(arguments, limits, facts);
        planned.map_err(|failure| hints::complete(failure, Some(&self.source)))
    }

    /// The host functions, for running those whose plan is [`Plan::live`].
    #[must_use]
    pub fn host(&self) -> &HostProgram {
        &self.host
    }
}

impl Program {
    /// What is legal and probably not meant, over the arguments and plans of all shapes that may be told of.
    #[must_use]
    pub fn warnings(
        &self,
        signature: &Signature,
        shapes: &[(&[Argument], &Plan)],
    ) -> Vec<Diagnostic> {
        let planned = Planned {
            source: &self.source,
            tables: self.host.tables(),
            signature,
            shapes,
        };
        planned.warnings()
    }
}

fn names_entry(source: &SourceText) -> bool {
    source
        .as_str()
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| word == "solve" || word == "solution")
}

fn tables_lack_entry(tables: &Tables) -> bool {
    ["solve", "solution"].iter().all(|name| {
        tables
            .functions_named(name)
            .iter()
            .all(|&index| tables.function(index).body.is_none())
    })
}
