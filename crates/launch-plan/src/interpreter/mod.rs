//! Interprets the entry function and writes down what it does to the device.
//!
//! Invariants: every step costs fuel and every level of nesting is counted, so that any input ends
//! within a bounded time and stack; nothing outside the interpreter's own memory is touched.

mod arithmetic;
mod assignments;
mod bases;
mod calls;
mod cast_operators;
mod classes;
mod closures;
mod comparison;
mod constants;
mod construct;
mod constructors;
mod containers;
mod convert;
mod copies;
mod declare;
mod deduction;
mod destructors;
mod device_values;
mod entry;
mod expressions;
mod globals;
mod holders;
mod iteration;
mod language;
mod launch;
mod library;
mod lvalues;
mod math;
mod memory;
mod methods;
mod operators;
mod optionals;
mod overlay;
mod overloads;
mod packs;
mod parameters;
mod places;
mod pointers;
mod read_backs;
mod resolve;
mod runtime;
mod scope;
mod scratch;
mod specialisations;
mod statements;
mod static_types;
mod templates;
mod texts;
mod unique_pointers;
mod unknown_types;
mod value;

use std::collections::{HashMap, HashSet};

use domain::{Diagnostic, Severity, Stage, TargetLimits, printable};

pub(crate) use self::convert::cut_off;
use self::destructors::Owned;
pub(crate) use self::device_values::Guess;
use self::language::Language;
use self::memory::Memory;
use self::packs::Expansions;
use self::read_backs::ReadBacks;
use self::runtime::Graphs;
use self::scope::Frame;
use self::scratch::Scratch;
use self::statements::Returning;
use self::value::HostRef;
use crate::device_side::{DeviceSide, Refused};
use crate::facts::KernelFacts;
use crate::failure::{Fallible, Fault};
use crate::plan::{Argument, Operation, Plan};
use crate::source::text::{At, Lines};
use crate::syntax::ast::Function;
use crate::tables::Tables;
use crate::types::Type;

/// Expressions and statements evaluated in one plan.
pub(crate) const MAX_STEPS: u64 = 1_000_000;
/// The same after a guess was used: guesses are there to meet kernels by, and a loop that one never ends need
/// not go on for long.
const GUESS_STEPS: u64 = MAX_STEPS / 10;
/// Elements of host memory that are made, filled or copied at once.
const ELEMENTS_PER_STEP: u64 = 16;
/// Kernel launches in one plan.
const MAX_LAUNCHES: usize = 4096;
/// Operations of any kind in one plan.
const MAX_OPERATIONS: usize = 65_536;
/// Levels of evaluation within evaluation, calls included.
const MAX_DEPTH: u32 = 400;
/// Bytes that a plan may carry for uploads.
const MAX_UPLOAD_BYTES: u64 = 16 << 20;

/// One call of the entry function.
#[derive(Clone)]
pub(crate) struct Course<'p> {
    pub(crate) tables: &'p Tables,
    pub(crate) lines: &'p Lines,
    pub(crate) entry: &'p Function,
    pub(crate) arguments: &'p [Argument],
    pub(crate) limits: &'p TargetLimits,
    pub(crate) facts: &'p dyn KernelFacts,
    /// What stands for values that the device side does not know.
    pub(crate) guess: Guess,
    pub(crate) max_steps: u64,
}

/// How a call ended.
pub(crate) struct Ended {
    /// A fault, where there was one.
    pub(crate) outcome: Fallible<()>,
    /// Whether the fault is that the device side refused.
    pub(crate) is_refused: bool,
    /// What else is to be said of the call; its operations went to the device side.
    pub(crate) plan: Plan,
    /// Line where a value that the device side did not know was used first.
    pub(crate) needs_device: Option<u32>,
}

/// Calls the entry function.
pub(crate) fn interpret(course: &Course<'_>, side: &mut dyn DeviceSide) -> Ended {
    let expansions = Expansions::default();
    let mut interpreter = Interpreter {
        language: Language::new(&expansions),
        tables: course.tables,
        source: course.lines,
        limits: course.limits,
        facts: course.facts,
        side,
        guess: course.guess,
        max_steps: course.max_steps,
        is_guessing: false,
        is_refused: false,
        parameter_bytes: Vec::new(),
        parameter_names: Vec::new(),
        returned_place: None,
        returning: Vec::new(),
        owned: Vec::new(),
        memory: Memory::default(),
        frames: Vec::new(),
        globals: HashMap::new(),
        statics: HashMap::new(),
        scratch: Scratch::default(),
        read_backs: ReadBacks::default(),
        graphs: Graphs::default(),
        dynamic_shared_limits: HashMap::new(),
        large_clusters: HashSet::new(),
        plan: Plan::default(),
        operations: 0,
        launches: 0,
        upload_bytes: 0,
        steps: 0,
        depth: 0,
    };
    let outcome = interpreter.run_entry(course.entry, course.arguments);
    if outcome.is_ok() {
        interpreter.warn_about_leaks();
        interpreter.warn_about_unused_read_backs();
        interpreter.warn_about_graphs();
    }
    let needs_device = interpreter.memory.first_use_of_unknown();
    Ended {
        outcome,
        is_refused: interpreter.is_refused,
        needs_device: needs_device.map(|at| course.lines.line(at)),
        plan: interpreter.plan,
    }
}

struct Interpreter<'p> {
    language: Language<'p>,
    tables: &'p Tables,
    source: &'p Lines,
    limits: &'p TargetLimits,
    /// Asked from the second plan on.
    facts: &'p dyn KernelFacts,
    side: &'p mut dyn DeviceSide,
    guess: Guess,
    max_steps: u64,
    /// Whether a guess was used.
    is_guessing: bool,
    /// Whether the device side refused something; what is unwinding then is no fault of the file's.
    is_refused: bool,
    /// Size of the buffer behind each entry parameter; 0 for scalars.
    parameter_bytes: Vec<u64>,
    parameter_names: Vec<String>,
    /// Where the value is that a function returned by reference, until its caller takes it.
    returned_place: Option<(HostRef, Type)>,
    /// What the functions being run return.
    returning: Vec<Returning>,
    /// Objects that end with their blocks, in the order they were made.
    owned: Vec<Owned>,
    memory: Memory,
    frames: Vec<Frame>,
    /// Constants at file scope that were read; `None` while one is being computed.
    globals: HashMap<usize, Option<(HostRef, Type)>>,
    /// Static variables of functions, by where they are declared and the function's instance.
    statics: HashMap<(At, String), (HostRef, Type)>,
    scratch: Scratch,
    /// What `cudaFuncSetAttribute` allowed, by kernel instance.
    dynamic_shared_limits: HashMap<String, u64>,
    /// Kernel instances whose clusters may have more than 8 blocks.
    large_clusters: HashSet<String>,
    read_backs: ReadBacks,
    graphs: Graphs,
    /// Everything but the operations, which go to the device side.
    plan: Plan,
    operations: usize,
    launches: usize,
    upload_bytes: u64,
    steps: u64,
    depth: u32,
}

impl Interpreter<'_> {
    /// Pays for `cost` steps.
    fn spend(&mut self, cost: u64, at: At) -> Fallible<()> {
        self.steps = self.steps.saturating_add(cost);
        if !self.is_guessing && self.memory.first_use_of_unknown().is_some() {
            self.is_guessing = true;
            self.max_steps = self.max_steps.min(self.steps + GUESS_STEPS);
        }
        if self.steps > self.max_steps {
            let most = self.max_steps;
            return Err(Fault::fuel(
                at,
                format!("the host function takes more than {most} steps"),
            )
            .hint("is there a loop without an end? Work on data belongs in a kernel"));
        }
        Ok(())
    }

    /// Pays for elements that are all made, filled or copied at once.
    fn spend_in_bulk(&mut self, elements: u64, at: At) -> Fallible<()> {
        self.spend(elements / ELEMENTS_PER_STEP, at)
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
        if self.operations >= MAX_OPERATIONS {
            return Err(Fault::fuel(
                at,
                format!("the plan has more than {MAX_OPERATIONS} operations"),
            ));
        }
        self.operations += 1;
        let Some(operation) = self.graphs.taken(operation, at) else {
            return Ok(());
        };
        self.side
            .submit(operation, &self.plan.symbols)
            .map_err(|Refused| self.refused(at))
    }

    /// Unwinds; the device side knows why.
    fn refused(&mut self, at: At) -> Box<Fault> {
        self.is_refused = true;
        Fault::host(at, "the device refuses this")
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
