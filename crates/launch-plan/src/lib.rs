//! A .cu file becomes device source and a host plan; the interpreter of the host subset.
//!
//! [`Program::parse`] reads a submission once; [`Program::plan`] then says, for one shape, what its
//! host function does to the device. Where that depends on values which kernels compute, the plan says
//! so, and [`HostProgram::run`] interprets the function against a [`DeviceSide`] while the device runs.
//! Nothing of the submission is compiled or run here, no file is read, and any input ends within a
//! bounded time, memory and stack. Called by the judge's sandboxed children and by tests.

mod device_side;
mod duplicates;
mod entry_signature;
mod facts;
mod failure;
mod hints;
mod host_program;
mod interpreter;
mod plan;
mod program;
mod rehearsal;
mod signature;
mod source;
mod split;
mod syntax;
mod tables;
mod types;
mod types_of_parameters;
mod warnings;

pub use device_side::{Answer, DeviceSide, Refused};
pub use entry_signature::entry_signature;
pub use facts::{KernelAttributes, KernelFacts, NoFacts};
pub use failure::PlanFailure;
pub use host_program::{EncodingError, HostProgram, LiveFailure};
pub use plan::{
    Argument, Buffer, KernelInstance, Launch, LaunchArgument, Live, Operation, Place, Plan,
    TensorMapSpec,
};
pub use program::Program;
