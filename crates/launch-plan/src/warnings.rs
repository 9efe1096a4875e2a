//! What is legal and probably not meant, seen over the plans of all shapes.
//!
//! A warning that is wrong teaches to overlook warnings: each is given only where nothing else can be.

use std::collections::BTreeSet;

use domain::{Diagnostic, Direction, ParameterKind, Severity, Signature, Stage};

use crate::hints::{blanked_comments, words};
use crate::plan::{Argument, Buffer, KernelInstance, Launch, LaunchArgument, Operation, Plan};
use crate::source::text::SourceText;
use crate::syntax::ast::{Function, Space};
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
        let code = blanked_comments(self.source.as_str());
        let mut warnings = self.unused_kernels(&code);
        warnings.extend(self.small_grids(&code));
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
        let launched: BTreeSet<&str> = launched.iter().map(|kernel| path(&kernel.0)).collect();
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
                warning(line, column, &message, "launch it in `solve`, or remove it")
            })
            .collect()
    }

    /// Launches whose threads write at most one element each of an output that has more elements.
    fn small_grids(&self, code: &str) -> Option<Diagnostic> {
        // What a live run launches is known when it is over.
        let mut shapes = self.shapes.iter().filter(|(_, plan)| plan.live.is_none());
        shapes.find_map(|(arguments, plan)| {
            let outputs = self.signature.0.iter().zip(*arguments).enumerate();
            outputs
                .filter_map(|(position, (parameter, argument))| {
                    let ParameterKind::Tensor { element, direction } = parameter.kind else {
                        return None;
                    };
                    let Argument::Buffer { bytes } = *argument else {
                        return None;
                    };
                    let buffer = Buffer::Parameter(u32::try_from(position).ok()?);
                    let elements = bytes / element.size_bytes();
                    (direction == Direction::Out)
                        .then(|| self.small_grid(code, plan, buffer, elements))?
                })
                .next()
        })
    }

    fn small_grid(
        &self,
        code: &str,
        plan: &Plan,
        output: Buffer,
        elements: u64,
    ) -> Option<Diagnostic> {
        let writers = writers(plan, output)?;
        let first = writers.first()?;
        let all_write_once = writers.iter().all(|launch| {
            let function = self.kernel(launch);
            function.is_some_and(|function| self.writes_once(code, function))
        });
        let threads = writers.iter().map(|launch| threads(launch));
        let threads = threads.fold(0, u64::saturating_add);
        if !all_write_once || threads >= elements {
            return None;
        }
        let message = format!(
            "{threads} threads write at most one element each, and the output has {elements}: the grid is too \
             small"
        );
        let hint = "launch a thread for each element, as in `(n + block - 1) / block` blocks, or let each \
                    thread loop over several";
        Some(warning(first.line, first.column, &message, hint))
    }

    /// The one kernel that a launch can mean.
    fn kernel(&self, launch: &Launch) -> Option<&Function> {
        let path = path(&launch.kernel.0);
        match self.tables.functions_named(path)[..] {
            [only] => Some(self.tables.function(only)),
            _ => None,
        }
    }

    /// Whether a thread of the kernel stores one element at most: no loop, one store, nothing that moves
    /// more than one element, no function of the file that might do any of it.
    fn writes_once(&self, code: &str, kernel: &Function) -> bool {
        let Some(body) = body(code, kernel) else {
            return false;
        };
        let stores = body
            .match_indices(']')
            .filter(|(at, _)| is_store(&body[at + 1..]))
            .count();
        let macros = macros(code);
        let harmless = words(body).all(|word| {
            !MANY_ELEMENTS.contains(&word)
                && !word.starts_with("atomic")
                && !word.ends_with(['2', '3', '4', '8'])
                && !macros.contains(word)
                && self.tables.functions_named(word).is_empty()
        });
        stores == 1 && harmless && !body.contains("*(") && !body.contains('#')
    }
}

/// Words of a kernel's body after which a thread may write more than one element.
const MANY_ELEMENTS: &[&str] = &[
    "for",
    "while",
    "do",
    "goto",
    "asm",
    "__asm__",
    "wmma",
    "cub",
    "memcpy",
    "memcpy_async",
    "reinterpret_cast",
    "static_cast",
    "const_cast",
    "auto",
];

/// Macros of the file, which may stand for anything.
fn macros(code: &str) -> BTreeSet<&str> {
    let defined = code.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        words(rest.strip_prefix("define")?).next()
    });
    defined.collect()
}

/// What follows a subscript that is stored to.
fn is_store(after: &str) -> bool {
    let after = after.trim_start();
    let assigns = after.starts_with('=') && !after.starts_with("==");
    let updates = [
        "+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--", ".", "[",
    ];
    assigns || updates.iter().any(|operator| after.starts_with(operator))
}

/// The launches that are handed the output, unless something else may write it too.
fn writers(plan: &Plan, output: Buffer) -> Option<Vec<&Launch>> {
    let mut writers = Vec::new();
    for operation in &plan.operations {
        match operation {
            Operation::Launch(launch) => {
                let mut takes = false;
                for argument in &launch.arguments {
                    match argument {
                        LaunchArgument::Pointer(place) => takes |= place.buffer == output,
                        LaunchArgument::Value(_) => {}
                        // Whole boxes are written through it.
                        LaunchArgument::TensorMap(_) => return None,
                    }
                }
                if takes {
                    writers.push(launch);
                }
            }
            Operation::Memset { destination, .. }
            | Operation::Copy { destination, .. }
            | Operation::Upload { destination, .. }
                if destination.buffer == output =>
            {
                return None;
            }
            // An address of the output could lie in a variable of the device.
            Operation::UploadSymbol { .. } | Operation::CopyToSymbol { .. } => return None,
            _ => {}
        }
    }
    Some(writers)
}

fn threads(launch: &Launch) -> u64 {
    let extents = launch.grid.iter().chain(&launch.block);
    extents.fold(1, |product, extent| {
        product.saturating_mul(u64::from(*extent))
    })
}

/// `k`, `ns::k<4>` and `static_cast<void (*)(int)>(k<4>)` without arguments and casts.
fn path(instance: &str) -> &str {
    let named = match instance.strip_prefix("static_cast<") {
        Some(cast) => cast.rsplit_once(">(").map_or(cast, |(_, named)| named),
        None => instance,
    };
    let named = named.trim_end_matches(')');
    named.split('<').next().unwrap_or(named)
}

fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// The text between a kernel's braces; `None` where a macro makes it.
fn body<'c>(code: &'c str, kernel: &Function) -> Option<&'c str> {
    let rest = code.get(kernel.at as usize..)?;
    let open = rest.find('{')?;
    if !words(&rest[..open]).any(|word| word == last_part(&kernel.path)) {
        return None;
    }
    let mut depth = 0_u32;
    let close = rest[open..].char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    rest.get(open + 1..open + close)
}

fn warning(line: u32, column: u32, message: &str, hint: &str) -> Diagnostic {
    Diagnostic {
        stage: Stage::Plan,
        severity: Severity::Warning,
        line: Some(line),
        column: Some(column),
        message: domain::printable(message),
        hint: Some(hint.to_owned()),
    }
}
