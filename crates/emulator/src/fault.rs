//! Why a launch stopped: what a learner is told.

use std::fmt;

/// What went wrong in a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside every allocation, or past the end of shared or local memory.
    OutOfBounds,
    /// An address that is not a multiple of the access's size.
    Misaligned,
    /// An access to an allocation that was freed.
    UseAfterFree,
    /// A write to an allocation that is protected, or to a constant.
    WriteToReadOnly,
    /// A value that nobody wrote decides a branch, an address or a result.
    UndefinedValue,
    /// Two threads touch the same memory, one of them writes, and nothing orders them.
    Race,
    /// Threads of one block wait at barriers that cannot complete together.
    BarrierDivergence,
    /// No thread of a block can go on.
    Deadlock,
    /// `__trap()`.
    Trap,
    /// A failed `assert`.
    Assert,
    /// The launch ran more warp instructions than it may.
    InstructionFuel,
    /// `printf` wrote more than it may.
    OutputLimit,
    /// The geometry, the parameters or the shared memory of the launch are not possible.
    BadLaunch,
    /// The emulated device failed: no fault of the kernel.
    Internal,
    /// The kernel needs an instruction that is not implemented.
    Unsupported {
        /// The whole opcode.
        opcode: String,
    },
}

/// The end of a launch that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// One sentence that names thread, block and what was meant.
    pub message: String,
    /// Line of the CUDA source.
    pub line: Option<u32>,
    /// Index of the block.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// The address accessed.
    pub address: Option<u64>,
    /// Label of the allocation meant.
    pub allocation: Option<String>,
    /// What `printf` wrote until then.
    pub output: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.line {
            Some(line) => write!(f, " (line {line})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// A fault of the launch as a whole.
    pub(crate) fn of_launch(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            line: None,
            block: [0; 3],
            thread: [0; 3],
            address: None,
            allocation: None,
            output: String::new(),
        }
    }
}

/// `(x,y,z)`
pub(crate) fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}
