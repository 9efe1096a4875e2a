//! Grids that cannot reach every element of an output.

use std::collections::BTreeSet;

use domain::slips::words;
use domain::{Diagnostic, Direction, ParameterKind, plain_name};

use super::{Planned, last_part, warning};
use crate::plan::{Argument, Buffer, Launch, LaunchArgument, Operation, Plan};
use crate::syntax::ast::Function;

impl Planned<'_> {
    /// Launches whose threads write at most one element each of an output that has more elements.
    pub(super) fn small_grids(&self, code: &str) -> Option<Diagnostic> {
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
        Some(warning(first.line, Some(first.column), &message, hint))
    }

    /// The one kernel that a launch can mean.
    fn kernel(&self, launch: &Launch) -> Option<&Function> {
        let name = plain_name(&launch.kernel.0);
        match self.tables.functions_named(name)[..] {
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
                        LaunchArgument::Record { pointers, .. } => {
                            takes |= pointers.iter().any(|(_, place)| place.buffer == output);
                        }
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
