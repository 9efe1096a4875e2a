//! What host code may ask about compiled kernels; known only after the compile.

use serde::{Deserialize, Serialize};

use crate::plan::KernelInstance;

/// The compiler's numbers, for a second plan.
///
/// The first plan of a file is made without them, to learn which kernels there are: see
/// [`crate::Plan::asked`].
pub trait KernelFacts {
    /// What the compiler made of a kernel; `None` if it was not compiled.
    fn attributes(&self, kernel: &KernelInstance) -> Option<KernelAttributes>;

    /// Blocks that one multiprocessor holds at a time; `None` if it cannot hold one.
    fn resident_blocks(&self, registers: u32, shared_bytes: u32, threads: u32) -> Option<u32>;
}

/// `cudaFuncAttributes` of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelAttributes {
    /// Registers a thread.
    pub registers: u32,
    /// Shared memory a block that the kernel declares.
    pub static_shared_bytes: u32,
    /// Local memory a thread.
    pub local_bytes: u32,
    /// Constant memory that the file's variables take.
    pub constant_bytes: u32,
    /// Threads of the largest block that can be launched.
    pub max_threads: u32,
}

/// Before the compile: nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFacts;

impl KernelFacts for NoFacts {
    fn attributes(&self, _: &KernelInstance) -> Option<KernelAttributes> {
        None
    }

    fn resident_blocks(&self, _: u32, _: u32, _: u32) -> Option<u32> {
        None
    }
}
