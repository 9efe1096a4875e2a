//! The [`Device`] trait.

use std::time::Duration;

use domain::report::{Counters, Modelled};
use domain::{DeviceKind, MachineState, TargetLimits, TimerRef};
use serde::{Deserialize, Serialize};

use crate::{Address, Bounds, BufferId, DeviceError, ModuleId, Operation, StreamId};

/// Compiled code, in the forms that devices take; each picks its own.
#[derive(Clone, Copy, Debug)]
pub struct ModuleImage<'a> {
    /// PTX text, for the emulated device.
    pub ptx: &'a str,
    /// A CUBIN for one exact architecture, for GPUs.
    pub cubin: &'a [u8],
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// First to last activity, gaps included; `None` on a device that does not measure.
    pub duration: Option<Duration>,
    /// What the device counted; `None` on a device that does not count.
    pub counters: Option<Counters>,
    /// What a model makes of that; `None` on a device that does not count.
    pub modelled: Option<Modelled>,
    /// What kernels printed.
    pub printed: String,
    /// What kernels took from the device's heap and did not give back, as far as that is known.
    pub leaked: Leaked,
}

/// Memory of device code's `malloc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaked {
    /// How many allocations.
    pub allocations: u64,
    /// Of all of them.
    pub bytes: u64,
}

/// The time of one run among many, by two timers that know nothing of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slope {
    /// By events on the stream, while nothing else measures.
    pub by_events: Duration,
    /// By what measures spans, where that is another timer and missed nothing; of other runs.
    pub by_timer: Option<Duration>,
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

    /// Sets what is admitted from now on.
    fn bound(&mut self, bounds: &Bounds) -> Result<(), DeviceError>;

    /// Makes a buffer of `bytes` bytes with undefined contents. `label` names it in messages.
    fn allocate(&mut self, bytes: u64, label: &str) -> Result<BufferId, DeviceError>;

    /// Gives a buffer back. A later access to it is `use_after_free`; a second call does nothing.
    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError>;

    /// Writes `data` from the start of a buffer.
    fn write(&mut self, buffer: BufferId, data: &[u8]) -> Result<(), DeviceError>;

    /// Reads a buffer from its start into memory that may be shared with another process.
    /// `data` is at most as long as the buffer.
    fn read_into(&mut self, buffer: BufferId, data: &mut [u8]) -> Result<(), DeviceError>;

    /// Declares host memory that buffers will be copied to or from again and again, so that a device with
    /// memory of its own can fetch it directly. Nothing else may come to lie there as long as the device
    /// lives: copies would then reach the old contents.
    /// `is_writable`: this process may write to it. A device that gains nothing by it ignores the call.
    fn pin(&mut self, start: *mut u8, bytes: usize, is_writable: bool) -> Result<(), DeviceError>;

    /// Size of a buffer in bytes.
    fn size_bytes(&self, buffer: BufferId) -> Result<u64, DeviceError>;

    /// Reads a whole buffer.
    fn read(&mut self, buffer: BufferId) -> Result<Vec<u8>, DeviceError> {
        let bytes = self.size_bytes(buffer)?;
        let mut data = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        self.read_into(buffer, &mut data).map(|()| data)
    }

    /// Declares that kernels must not write a buffer from now on. A device that cannot trap such a
    /// write ignores the call; the judge compares digests either way.
    fn protect(&mut self, buffer: BufferId, read_only: bool) -> Result<(), DeviceError>;

    /// Declares that a buffer is for results: what it holds must not be read before a kernel writes it,
    /// and what kernels write there must come from values that somebody wrote. A device that does not
    /// look for that ignores the call.
    fn expect_results(&mut self, _buffer: BufferId) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Checks that nothing was written around any buffer since it was made.
    fn verify_guards(&mut self) -> Result<(), DeviceError>;

    /// The same for some buffers only, and for those that were freed meanwhile.
    fn verify_guards_of(&mut self, buffers: &[BufferId]) -> Result<(), DeviceError>;

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

    /// Runs the operations as [`Device::run`] does and measures the span on the device's own clock:
    /// first to last activity of any kind, gaps included. More than one operation is put on the device
    /// as one graph, made ready before the span begins. On a device that does not measure this is
    /// [`Device::run`], and the span has no duration.
    ///
    /// # Errors
    /// [`DeviceError::Unmeasured`] when all ran and the timer missed something; the next call may do
    /// better.
    fn time(&mut self, stream: StreamId, operations: &[Operation]) -> Result<Span, DeviceError> {
        self.run(stream, operations)
    }

    /// Begins a span of several segments on an empty stream: for work that is decided while it goes on. The
    /// limits of a run hold for all of it together, and nothing else may run until it is ended.
    /// `is_measured`: the span gets a duration, on a device that measures.
    ///
    /// Within a span buffers can be made, which costs its time; none is given back but by
    /// [`Operation::Free`].
    fn begin_span(&mut self, stream: StreamId, is_measured: bool) -> Result<(), DeviceError>;

    /// Puts operations on the span's stream, in order after those before. They need not have ended, nor
    /// need an error of theirs be known, when this returns.
    fn issue(&mut self, stream: StreamId, operations: &[Operation]) -> Result<(), DeviceError>;

    /// Waits for what was issued, then reads device memory. `from` lies with all bytes in one buffer.
    fn fetch(
        &mut self,
        stream: StreamId,
        from: Address,
        into: &mut [u8],
    ) -> Result<(), DeviceError>;

    /// Waits for what was issued and ends the span, also one in which something failed. First to last
    /// activity, with the gaps in which the host decided.
    ///
    /// # Errors
    /// As [`Device::time`].
    fn end_span(&mut self, stream: StreamId) -> Result<Span, DeviceError>;

    /// The time of one run by its slope: the difference between `2 * copies` and `copies` runs back to
    /// back, divided by `copies`, by two timers one after the other. `None` on a device that does not
    /// measure.
    fn slope(
        &mut self,
        _stream: StreamId,
        _operations: &[Operation],
        _copies: u32,
    ) -> Result<Option<Slope>, DeviceError> {
        Ok(None)
    }

    /// Clocks, temperature and power at this moment; `None` where there is nothing to read.
    fn state(&mut self) -> Result<Option<MachineState>, DeviceError> {
        Ok(None)
    }

    /// How spans are timed, e.g. `cupti`; `None` on a device that does not measure.
    fn timer(&self) -> Option<TimerRef> {
        None
    }
}
