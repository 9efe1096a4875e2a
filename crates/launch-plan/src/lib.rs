//! A .cu file becomes device source and a host plan; the interpreter of the host subset.
//!
//! [`Program::parse`] reads a submission once; [`Program::plan`] then says, for one shape, what its
//! host function does to the device. Nothing of the submission is compiled or run here, no file is
//! read, and any input ends within a bounded time, memory and stack. Called by the judge's sandboxed
//! compile child and by tests.

mod duplicates;
mod entry_signature;
mod failure;
mod hints;
mod interpreter;
mod plan;
mod program;
mod signature;
mod source;
mod split;
mod syntax;
mod tables;
mod types;
mod types_of_parameters;
mod warnings;

pub use entry_signature::entry_signature;
pub use failure::PlanFailure;
pub use plan::{Argument, Buffer, KernelInstance, Launch, LaunchArgument, Operation, Place, Plan};
pub use program::Program;
