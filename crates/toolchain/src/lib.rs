//! NVRTC: discovery, options, headers and shims, diagnostics, resource usage.
//!
//! One pinned wheel is the whole compiler; CUPTI, which times kernels, and nvdisasm lie beside it. [`Toolchain`] finds or installs it and never loads it;
//! [`compile`] loads it and must run only in a sandboxed child that is thrown away afterwards:
//! NVRTC crashes on some malformed sources and reads any file that the process can read.
//!
//! No text of a file other than the submission reaches a diagnostic, and no path of the host does.

mod addition;
mod compile;
mod cub;
mod cupti;
mod device_names;
mod disassembler;
#[cfg(test)]
mod fuzz_tests;
mod headers;
mod hint;
mod install;
mod libraries;
mod limits;
mod listing;
mod log;
mod missing_headers;
mod nvdisasm;
mod nvrtc;
mod options;
mod source;
mod toolchain;
mod usage;
mod wheel;

pub use compile::{CompileFailure, CompileRequest, Compiled, check_syntax, compile};
pub use cupti::CUPTI_VERSION;
pub use disassembler::{Disassembler, DisassemblyError};
pub use listing::Listing;
pub use log::demangle;
pub use nvdisasm::ConfinedDisassembler;
pub use toolchain::{NVRTC_VERSION, Toolchain, ToolchainError};
pub use usage::KernelUsage;
