//! Functional execution of NVRTC's PTX on a CPU, bounds-checked and counted. Knows nothing of judging.
//!
//! ```no_run
//! use emulator::{Launch, Limits, Memory, Module, launch};
//! # let ptx = "";
//! let module = Module::parse(ptx)?;
//! let mut memory = Memory::new(1 << 30);
//! let loaded = memory.load(&module)?;
//! let x = memory.allocate(4096, "x")?;
//! let kernel = module.check("scale")?;
//! let parameters = x.to_le_bytes();
//! let outcome = launch(
//!     &loaded,
//!     &Launch {
//!         kernel: &kernel.name,
//!         grid: [8, 1, 1],
//!         block: [128, 1, 1],
//!         cluster: [1, 1, 1],
//!         dynamic_shared_bytes: 0,
//!         parameters: &parameters,
//!     },
//!     &mut memory,
//!     &Limits::default(),
//! )?;
//! println!("{} sectors", outcome.counters.global_sectors());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod byte_set;
mod checks;
mod counters;
mod decode;
mod error;
mod exec;
mod fault;
mod heap;
mod lanes;
mod memory;
mod model;
mod module;
mod numerics;
mod program;
mod syntax;
mod tensor_map;

pub use checks::{Checks, Footprint, Order};
pub use counters::Counters;
pub use error::LoadError;
pub use exec::{Launch, Limits, Outcome, Output, launch};
pub use fault::{Fault, FaultKind};
pub use memory::{LoadedModule, Memory, MemoryError};
pub use model::{
    Estimate, H200, LEFT_OUT, Machine, Occupancy, Term, estimate, estimate_transfer,
    estimate_upload,
};
pub use module::{Kernel, Module, Parameter};
pub use tensor_map::{Element, Swizzle, TENSOR_MAP_BYTES, TensorMapDescriptor, TensorMapError};
