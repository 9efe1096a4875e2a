//! What a judging needs of a device: memory, modules, launches in order, timed spans.
//!
//! The judge crate judges through the [`Device`] trait and does not know which backend it has. The trait is
//! shaped for a GPU (streams, modules, spans): the [`cuda`] backend is one, and the [`emulated`] backend
//! answers the same calls on a CPU. Nothing here is meant for a process that must survive: a driver can
//! hang, and a kernel's fault takes the context along. Executor, checker and gauge children own a device
//! each, a probe child asks for GPUs; only an experiment under a profiler opens one where it is called.

mod access;
mod cubin;
pub mod cuda;
pub mod emulated;
mod error;
mod open;
mod operation;
mod traits;

pub use access::{Access, access};
pub use cuda::CudaDevice;
pub use emulated::EmulatedDevice;
pub use error::{DeviceError, Fault};
pub use open::{Bounds, Card, Checking, GpuInfo, OpenRequest, Target, list_gpus, open, open_gpu};
pub use operation::{
    Address, Argument, BufferId, LaunchSpec, ModuleId, Operation, StreamId, TensorMap,
};
pub use traits::{Device, KernelLayout, Leaked, ModuleImage, Slope, Span};
