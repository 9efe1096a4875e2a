//! The [`Device`] trait.

use std::time::Duration;

use domain::report::Counters;
use domain::{DeviceKind, TargetLimits};

use crate::{Address, BufferId, DeviceError, ModuleId, Operation, StreamId};

/// Compiled code, in the form a device takes.
#[derive(Clone, Copy, Debug)]
pub enum ModuleImage<'a> {
    /// PTX text, for the emulated device.
    Ptx(&'a str),
    /// A CUBIN for one exact architecture, for GPUs.
    Cubin(&'a [u8]),
}

/// What a kernel expects of its arguments, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLayout {
    /// Size of each parameter in bytes.
    pub parameter_bytes: Vec<u64>,
    /// Static shared memory of a block.
    pub static_shared_bytes: u64,
}

/// What one run of a list of operations came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First to last activity, gaps included; `None` on a device that does not measure.
    pub duration: Option<Duration>,
    /// What the device counted; `None` on a device that does not count.
    pub counters: Option<Counters>,
    /// What kernels printed.
    pub printed: String,
}

/// Contents of a buffer made available outside the device's own context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exported {
    /// A copy in host memory.
    HostCopy(Vec<u8>),
}

/// A device that executes launch plans.
///
/// Buffers are isolated from each other: an access past the end of one is found out, at once where the
/// device checks each access, else by [`Device::verify_guards`]. Operations of one stream run in order.
pub trait Device {
    /// Measured or counted.
    fn kind(&self) -> DeviceKind;

    /// What launches may ask for.
    fn limits(&self) -> &TargetLimits;

    /// Makes a buffer of `bytes` bytes with undefined contents. `label` names it in messages.
    fn allocate(&mut self, bytes: u64, label: &str) -> Result<BufferId, DeviceError>;

    /// Gives a buffer back. A later access to it is `use_after_free`; a second call does nothing.
    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError>;

    /// Writes `data` from the start of a buffer.
    fn write(&mut self, buffer: BufferId, data: &[u8]) -> Result<(), DeviceError>;

    /// Reads a whole buffer.
    fn read(&mut self, buffer: BufferId) -> Result<Vec<u8>, DeviceError>;

    /// Declares that kernels must not write a buffer from now on. A device that cannot trap such a
    /// write ignores the call; the judge compares digests either way.
    fn protect(&mut self, buffer: BufferId, read_only: bool) -> Result<(), DeviceError>;

    /// Checks that nothing was written around the buffers since they were made.
    fn verify_guards(&mut self) -> Result<(), DeviceError>;

    /// Loads compiled code; its globals get their initial contents.
    fn load(&mut self, image: ModuleImage<'_>) -> Result<ModuleId, DeviceError>;

    /// Puts a module's globals back to their initial contents.
    fn reset_globals(&mut self, module: ModuleId) -> Result<(), DeviceError>;

    /// Where a module-scope variable lies, by its mangled name: address and size in bytes.
    fn symbol(&mut self, module: ModuleId, name: &str) -> Option<(Address, u64)>;

    /// What a kernel expects, or an error naming what of it the device lacks.
    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelLayout, DeviceError>;

    /// Makes a stream.
    fn stream(&mut self) -> Result<StreamId, DeviceError>;

    /// Runs the operations in order on a stream, waits for the last, and says what the whole span
    /// took and counted.
    fn run(&mut self, stream: StreamId, operations: &[Operation]) -> Result<Span, DeviceError>;

    /// Makes a buffer's contents available to a checker outside this context.
    fn export(&mut self, buffer: BufferId) -> Result<Exported, DeviceError>;
}
