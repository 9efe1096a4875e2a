//! What is legal and probably not meant, seen over the plans of all shapes.
//!
//! A warning that is wrong teaches to overlook warnings: each is given only where nothing else can be.

use std::collections::BTreeSet;

mod device_calls;
mod grids;
mod text;
mod transfers;

use domain::slips::words;
use domain::{Diagnostic, Severity, Signature, Stage, plain_name};

use crate::hints::code_alone;
use crate::plan::{Argument, KernelInstance, Plan};
use crate::source::text::SourceText;
use crate::syntax::ast::Space;
use crate::tables::Tables;

/// A file and what it was planned for.
pub(crate) struct Planned<'a> {
    pub(crate) source: &'a SourceText,
    pub(crate) tables: &'a Tables,
    pub(crate) signature: &'a Signature,
    /// Arguments of the entry function and its plan, one pair a shape.
    pub(crate) shapes: &'a [(&'a [Argument], &'a Plan)],
}

impl Planned<'_> {
    /// Warnings in order of lines.
    pub(crate) fn warnings(&self) -> Vec<Diagnostic> {
        let code = code_alone(self.source.as_str());
        let mut warnings = self.unused_kernels(&code);
        warnings.extend(self.small_grids(&code));
        warnings.extend(self.odd_transfers());
        warnings.extend(self.host_functions_on_the_device(&code));
        warnings.extend(text::warnings(&code));
        warnings.sort_by_key(|warning| (warning.line, warning.column));
        warnings
    }

    /// Kernels that nothing but their own declarations names. One that host code names may be for other
    /// shapes than these.
    fn unused_kernels(&self, code: &str) -> Vec<Diagnostic> {
        let launched: BTreeSet<KernelInstance> = self
            .shapes
            .iter()
            .flat_map(|(_, plan)| plan.instantiations())
            .collect();
        let launched: BTreeSet<&str> = launched
            .iter()
            .map(|kernel| plain_name(&kernel.0))
            .collect();
        let kernels = self.tables.functions().iter();
        let unused = kernels.filter(|function| {
            let name = last_part(&function.path);
            let declared = self.tables.functions_named(name).len();
            function.space == Space::Kernel
                && function.body.is_some()
                && !launched.contains(function.path.as_str())
                && words(code).filter(|word| *word == name).count() <= declared
        });
        unused
            .map(|function| {
                let (line, column) = self.source.lines().position(function.at);
                let message = format!("the kernel `{}` is never launched", function.path);
                warning(
                    line,
                    Some(column),
                    &message,
                    "launch it in `solve`, or remove it",
                )
            })
            .collect()
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn warning(line: u32, column: Option<u32>, message: &str, hint: &str) -> Diagnostic {
    Diagnostic {
        stage: Stage::Plan,
        severity: Severity::Warning,
        line: Some(line),
        column,
        message: domain::printable(message),
        hint: Some(hint.to_owned()),
    }
}
