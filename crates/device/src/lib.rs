//! What a judging needs of a device: memory, modules, launches in order, timed spans, exported outputs.
//!
//! The judge crate talks to the [`Device`] trait and does not know which backend it has. The trait is
//! shaped for a GPU (streams, modules, spans, exports for another process): the [`cuda`] backend is one,
//! and the [`emulated`] backend answers the same calls on a CPU. Only executor and checker children
//! may own a device.

mod access;
pub mod cuda;
pub mod emulated;
mod error;
mod open;
mod operation;
mod tensor_map;
mod traits;

pub use access::{Access, access};
pub use cuda::CudaDevice;
pub use emulated::EmulatedDevice;
pub use error::{DeviceError, Fault};
pub use open::{Bounds, Card, GpuInfo, OpenRequest, Target, list_gpus, open};
pub use operation::{Address, Argument, BufferId, LaunchSpec, ModuleId, Operation, StreamId};
pub use tensor_map::{Interleave, L2Promotion, OutOfBounds, Swizzle, TensorElement, TensorMap};
pub use traits::{Device, KernelLayout, ModuleImage, Slope, Span};
