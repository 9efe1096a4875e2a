//! A module: parsed once, its functions decoded when a kernel that reaches them is first asked for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock};

use crate::LoadError;
use crate::decode;
use crate::program::Program;
use crate::syntax::{self, FunctionText, Operand, Space, Unit, Variable};

/// A PTX module. Cheap to clone; may be shared between threads.
#[derive(Debug, Clone)]
pub struct Module(Arc<Data>);

#[derive(Debug)]
struct Data {
    unit: Unit,
    programs: Vec<OnceLock<Result<Program, LoadError>>>,
    kernels: Vec<Kernel>,
}

/// One `__global__` function.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Mangled name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Size of the packed parameters.
    pub parameter_bytes: u32,
    /// Shared memory that the kernel and what it calls declare.
    pub static_shared_bytes: u32,
    /// `__launch_bounds__`.
    pub max_threads: Option<u32>,
    /// `__cluster_dims__`: the only cluster shape that may be launched, and what a launch that names
    /// none gets.
    pub required_cluster: Option<[u32; 3]>,
    /// `.reqntid`: the only block shape that may be launched.
    pub required_block: Option<[u32; 3]>,
    pub(crate) function: usize,
    /// Offset of each shared variable; dynamic ones begin after the static ones.
    pub(crate) shared: HashMap<String, u32>,
}

/// Where a kernel expects one argument in the packed buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Offset from the buffer's start.
    pub offset_bytes: u32,
    /// Size.
    pub bytes: u32,
    /// Alignment.
    pub align_bytes: u32,
}

impl Module {
    /// Parses PTX text. Opcodes are judged later, by [`Module::check`], kernel by kernel.
    ///
    /// # Errors
    /// For text outside the grammar and for unknown directives.
    pub fn parse(ptx: &str) -> Result<Self, LoadError> {
        let unit = syntax::parse(ptx)?;
        let programs = unit.functions.iter().map(|_| OnceLock::new()).collect();
        let entries = unit.functions.iter().enumerate();
        let kernels = entries
            .filter(|(_, function)| function.is_entry && function.has_body)
            .map(|(index, _)| kernel(&unit, index))
            .collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Data {
            unit,
            programs,
            kernels,
        })))
    }

    /// The kernel of that mangled name.
    pub fn kernel(&self, mangled_name: &str) -> Option<&Kernel> {
        self.0
            .kernels
            .iter()
            .find(|kernel| kernel.name == mangled_name)
    }

    /// All kernels, in the module's order.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.0.kernels.iter()
    }

    /// Size of a `__device__` or `__constant__` variable, in bytes.
    pub fn global(&self, name: &str) -> Option<u64> {
        let is_global = |variable: &&Variable| {
            variable.name == name && matches!(variable.space, Space::Global | Space::Const)
        };
        self.0
            .unit
            .variables
            .iter()
            .find(is_global)
            .map(|variable| variable.bytes)
    }

    /// Decodes a kernel and everything it calls.
    ///
    /// # Errors
    /// The first form that cannot be executed, with its source line.
    pub fn check(&self, mangled_name: &str) -> Result<&Kernel, LoadError> {
        let kernel = self
            .kernel(mangled_name)
            .ok_or_else(|| LoadError::UnknownKernel {
                name: mangled_name.to_owned(),
            })?;
        self.reachable(kernel.function)?;
        Ok(kernel)
    }

    /// A function and all that it calls, decoded; by function index.
    pub(crate) fn reachable(&self, function: usize) -> Result<Vec<usize>, LoadError> {
        let mut found = vec![function];
        let mut at = 0;
        while at < found.len() {
            for &callee in &self.program(found[at])?.callees {
                if !found.contains(&callee) {
                    found.push(callee);
                }
            }
            at += 1;
        }
        Ok(found)
    }

    pub(crate) fn program(&self, function: usize) -> Result<&Program, LoadError> {
        let program =
            self.0.programs[function].get_or_init(|| decode::function(&self.0.unit, function));
        program.as_ref().map_err(Clone::clone)
    }

    pub(crate) fn function_index(&self, name: &str) -> Option<usize> {
        self.0.unit.functions.iter().position(|f| f.name == name)
    }

    pub(crate) fn function_count(&self) -> usize {
        self.0.programs.len()
    }

    pub(crate) fn variables(&self) -> &[Variable] {
        &self.0.unit.variables
    }
}

fn kernel(unit: &Unit, index: usize) -> Result<Kernel, LoadError> {
    let text = &unit.functions[index];
    let (offsets, parameter_bytes) = decode::parameter_offsets(text)?;
    let parameters = text
        .parameters
        .iter()
        .zip(offsets)
        .map(|(parameter, offset_bytes)| Parameter {
            offset_bytes,
            bytes: parameter.bytes as u32,
            align_bytes: parameter.align_bytes,
        })
        .collect();
    let (shared, static_shared_bytes) = shared_layout(unit, index);
    Ok(Kernel {
        name: text.name.clone(),
        parameters,
        parameter_bytes,
        static_shared_bytes,
        max_threads: text.max_threads,
        required_block: text.required_threads,
        required_cluster: text.required_cluster,
        function: index,
        shared,
    })
}

/// Places the shared variables that a kernel reaches: static ones in order of first mention, the
/// dynamic ones together behind them. Where they are too large for 32 bits, no launch gets as far as to use
/// their offsets.
fn shared_layout(unit: &Unit, entry: usize) -> (HashMap<String, u32>, u32) {
    let mut layout = HashMap::new();
    let mut dynamic: Vec<&Variable> = Vec::new();
    let narrow = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let mut at = 0u64;
    for function in mentioned_functions(unit, entry) {
        let own = function
            .variables
            .iter()
            .filter(|v| v.space == Space::Shared);
        let own = own.map(|variable| (format!("{}::{}", function.name, variable.name), variable));
        let outer = mentioned_symbols(function)
            .filter_map(|name| unit.variables.iter().find(|v| v.name == name))
            .filter(|variable| variable.space == Space::Shared)
            .map(|variable| (variable.name.clone(), variable));
        for (name, variable) in own.chain(outer) {
            if variable.dynamic {
                dynamic.push(variable);
            } else if let Entry::Vacant(place) = layout.entry(name) {
                at = at.next_multiple_of(u64::from(variable.align_bytes.max(1)));
                place.insert(narrow(at));
                at += variable.bytes;
            }
        }
    }
    let align = dynamic
        .iter()
        .map(|variable| variable.align_bytes)
        .max()
        .unwrap_or(1)
        .max(1);
    let end = at.next_multiple_of(u64::from(align));
    for variable in &dynamic {
        layout.insert(variable.name.clone(), narrow(end));
    }
    let bytes = if dynamic.is_empty() { at } else { end };
    (layout, narrow(bytes))
}

fn mentioned_functions(unit: &Unit, entry: usize) -> Vec<&FunctionText> {
    let mut found = vec![&unit.functions[entry]];
    let mut at = 0;
    while at < found.len() {
        for name in mentioned_symbols(found[at]) {
            for callee in unit.functions_behind(name) {
                let callee = &unit.functions[callee];
                if !found.iter().any(|known| known.name == callee.name) {
                    found.push(callee);
                }
            }
        }
        at += 1;
    }
    found
}

fn mentioned_symbol(operand: &Operand) -> Option<&str> {
    match operand {
        Operand::Symbol(name, _) => Some(name.as_str()),
        Operand::Address(base, _) | Operand::Tile(base, _) => mentioned_symbol(base),
        _ => None,
    }
}

fn mentioned_symbols(function: &FunctionText) -> impl Iterator<Item = &str> {
    function
        .statements
        .iter()
        .flat_map(|statement| &statement.operands)
        .filter_map(mentioned_symbol)
}
