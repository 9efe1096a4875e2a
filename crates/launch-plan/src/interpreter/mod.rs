//! Interprets the entry function and writes down what it does to the device.
//!
//! Invariants: every step costs fuel and every level of nesting is counted, so that any input ends
//! within a bounded time and stack; nothing outside the interpreter's own memory is touched.

mod arithmetic;
mod calls;
mod classes;
mod closures;
mod constants;
mod containers;
mod convert;
mod copies;
mod declare;
mod entry;
mod expressions;
mod globals;
mod iteration;
mod language;
mod launch;
mod library;
mod math;
mod memory;
mod methods;
mod overloads;
mod packs;
mod parameters;
mod places;
mod pointers;
mod queries;
mod resolve;
mod runtime;
mod scope;
mod scratch;
mod statements;
mod templates;
mod value;

use std::collections::HashMap;

use domain::{Diagnostic, Severity, Stage, TargetLimits, printable};

use self::language::Language;
use self::memory::Memory;
use self::packs::Expansions;
use self::scope::Frame;
use self::scratch::Scratch;
use self::value::HostRef;
use crate::failure::{Fallible, Fault};
use crate::plan::{Argument, Operation, Plan};
use crate::source::text::{At, SourceText};
use crate::syntax::ast::Function;
use crate::tables::Tables;
use crate::types::Type;

/// Expressions and statements evaluated in one plan.
const MAX_STEPS: u64 = 1_000_000;
/// Kernel launches in one plan.
const MAX_LAUNCHES: usize = 4096;
/// Operations of any kind in one plan.
const MAX_OPERATIONS: usize = 65_536;
/// Levels of evaluation within evaluation, calls included.
const MAX_DEPTH: u32 = 400;
/// Bytes that a plan may carry for uploads.
const MAX_UPLOAD_BYTES: u64 = 16 << 20;

/// Runs `entry` on one shape's arguments.
pub(crate) fn interpret(
    tables: &Tables,
    source: &SourceText,
    entry: &Function,
    arguments: &[Argument],
    limits: &TargetLimits,
) -> Fallible<Plan> {
    let expansions = Expansions::default();
    let mut interpreter = Interpreter {
        language: Language::new(&expansions),
        tables,
        source,
        limits,
        parameter_bytes: Vec::new(),
        parameter_names: Vec::new(),
        returning: Vec::new(),
        memory: Memory::default(),
        frames: Vec::new(),
        globals: HashMap::new(),
        scratch: Scratch::default(),
        dynamic_shared_limits: HashMap::new(),
        plan: Plan::default(),
        launches: 0,
        upload_bytes: 0,
        steps: 0,
        depth: 0,
    };
    interpreter.run_entry(entry, arguments)?;
    interpreter.warn_about_leaks();
    Ok(interpreter.plan)
}

struct Interpreter<'p> {
    language: Language<'p>,
    tables: &'p Tables,
    source: &'p SourceText,
    limits: &'p TargetLimits,
    /// Size of the buffer behind each entry parameter; 0 for scalars.
    parameter_bytes: Vec<u64>,
    parameter_names: Vec<String>,
    /// What the functions being run return; `None` for `auto`.
    returning: Vec<Option<Type>>,
    memory: Memory,
    frames: Vec<Frame>,
    /// Constants at file scope that were read; `None` while one is being computed.
    globals: HashMap<usize, Option<(HostRef, Type)>>,
    scratch: Scratch,
    /// What `cudaFuncSetAttribute` allowed, by kernel instance.
    dynamic_shared_limits: HashMap<String, u64>,
    plan: Plan,
    launches: usize,
    upload_bytes: u64,
    steps: u64,
    depth: u32,
}

impl Interpreter<'_> {
    /// Pays for `cost` steps.
    fn spend(&mut self, cost: u64, at: At) -> Fallible<()> {
        self.steps = self.steps.saturating_add(cost);
        if self.steps > MAX_STEPS {
            return Err(Fault::fuel(
                at,
                format!("the host function takes more than {MAX_STEPS} steps"),
            )
            .hint("is there a loop without an end? Work on data belongs in a kernel"));
        }
        Ok(())
    }

    /// Runs `inner` one level deeper, for one step.
    fn deeper<T>(&mut self, at: At, inner: impl FnOnce(&mut Self) -> Fallible<T>) -> Fallible<T> {
        self.spend(1, at)?;
        if self.depth >= MAX_DEPTH {
            return Err(Fault::fuel(
                at,
                format!("host code nests more than {MAX_DEPTH} levels deep"),
            )
            .hint("is there a recursion without an end?"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn emit(&mut self, operation: Operation, at: At) -> Fallible<()> {
        if self.plan.operations.len() >= MAX_OPERATIONS {
            return Err(Fault::fuel(
                at,
                format!("the plan has more than {MAX_OPERATIONS} operations"),
            ));
        }
        self.plan.operations.push(operation);
        Ok(())
    }

    /// Says something once per place.
    fn warn(&mut self, at: At, message: &str, hint: &str) {
        let (line, column) = self.source.position(at);
        let warning = Diagnostic {
            stage: Stage::Plan,
            severity: Severity::Warning,
            line: Some(line),
            column: Some(column),
            message: printable(message),
            hint: Some(printable(hint)),
        };
        if !self.plan.warnings.contains(&warning) && self.plan.warnings.len() < 100 {
            self.plan.warnings.push(warning);
        }
    }

    fn line(&self, at: At) -> u32 {
        self.source.line(at)
    }
}
