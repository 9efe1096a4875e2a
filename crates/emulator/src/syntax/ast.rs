//! The untyped tree that the parser builds and the decoder reads.

/// A scalar type of PTX, as written after a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

impl Type {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "pred" => Self::Pred,
            "b8" => Self::B8,
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "b128" => Self::B128,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "bf16" => Self::Bf16,
            "bf16x2" => Self::Bf16x2,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    /// Size in memory; a predicate has none and counts as 0.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Pred => 0,
            Self::B8 | Self::U8 | Self::S8 => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::F16x2 | Self::Bf16x2 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
            Self::B128 => 16,
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }
}

/// State space of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// A module variable, or one declared inside a function.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) align_bytes: u32,
    pub(crate) bytes: u64,
    /// `extern .shared x[]`: sized by the launch.
    pub(crate) dynamic: bool,
    pub(crate) init: Vec<u8>,
    pub(crate) references: Vec<Reference>,
}

/// Eight bytes of an initialiser that hold the address of another symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) offset: u64,
    pub(crate) symbol: String,
    pub(crate) addend: i64,
}

/// Index into [`FunctionText::registers`].
pub(crate) type RegisterId = u32;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Register(RegisterId),
    /// `!%p`
    NotRegister(RegisterId),
    Special(String),
    /// Two's complement, already negated where a minus stood.
    Integer(i64),
    Single(u32),
    Double(u64),
    /// A variable, function or kernel parameter, plus bytes.
    Symbol(String, i64),
    Label(usize),
    Vector(Vec<Operand>),
    Address(Box<Operand>, i64),
    /// `[map, {x, y}]`: a tensor map's address and coordinates.
    Tile(Box<Operand>, Vec<Operand>),
    /// `%r|%p`
    Pair(Box<Operand>, Box<Operand>),
    /// `( ... )` of a call.
    List(Vec<Operand>),
    /// `_`
    Sink,
}

#[derive(Debug, Clone)]
pub(crate) struct Statement {
    /// Predicate register and whether it is negated.
    pub(crate) guard: Option<(RegisterId, bool)>,
    pub(crate) opcode: String,
    pub(crate) operands: Vec<Operand>,
    pub(crate) ptx_line: u32,
    /// Line of the user's source.
    pub(crate) line: Option<u32>,
}

/// One entry or device function.
#[derive(Debug, Clone)]
pub(crate) struct FunctionText {
    pub(crate) name: String,
    pub(crate) is_entry: bool,
    pub(crate) has_body: bool,
    pub(crate) parameters: Vec<Variable>,
    pub(crate) returns: Vec<Variable>,
    pub(crate) registers: Vec<Type>,
    /// Shared, local and call-parameter variables. Names are unique within the function.
    pub(crate) variables: Vec<Variable>,
    pub(crate) statements: Vec<Statement>,
    /// Label id to the index of the statement that follows it.
    pub(crate) labels: Vec<usize>,
    /// `.branchtargets`: name and labels.
    pub(crate) branch_targets: Vec<(String, Vec<usize>)>,
    pub(crate) max_threads: Option<u32>,
    pub(crate) required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub(crate) required_cluster: Option<[u32; 3]>,
    pub(crate) ptx_line: u32,
}

/// A parsed module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unit {
    pub(crate) variables: Vec<Variable>,
    pub(crate) functions: Vec<FunctionText>,
}

impl Unit {
    /// The function of that name, or those whose addresses a variable begins with, directly or
    /// through other variables. Kernels have no address here.
    pub(crate) fn functions_behind(&self, symbol: &str) -> Vec<usize> {
        let mut symbols = vec![symbol];
        let mut found = Vec::new();
        let mut at = 0;
        while at < symbols.len() {
            let name = symbols[at];
            let callee = |f: &FunctionText| f.name == name && f.has_body && !f.is_entry;
            found.extend(self.functions.iter().position(callee));
            let variable = self.variables.iter().find(|variable| variable.name == name);
            for reference in variable.map_or(&[][..], |variable| &variable.references) {
                if !symbols.contains(&reference.symbol.as_str()) {
                    symbols.push(&reference.symbol);
                }
            }
            at += 1;
        }
        found
    }
}
