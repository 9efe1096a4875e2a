//! The GPU backend: CUBINs executed by the driver, spans measured by CUPTI.
//!
//! A device belongs to one thread. Memory has guard bands instead of a check of each access, so a write
//! past a buffer is found by [`Device::verify_guards`] or when the buffer is freed, and a read past it
//! not at all. A kernel's use of freed memory cannot be told from other bad addresses. Nothing is
//! protected from writes: the judge compares digests.
//!
//! After a fault of a kernel, or kernels that do not end, the context is gone and every later call
//! returns [`DeviceError::Internal`]; the process is to be ended by a signal then, since the driver's
//! own exit handlers may wait for the kernel.
//!
//! What kernels print goes to the process's standard output when a span ends, not into [`Span`].

mod activity;
mod context;
mod cupti;
mod driver;
mod fault;
mod files;
mod gate;
mod graph;
mod guard;
mod launch;
mod machine;
mod memory;
mod module;
mod names;
mod prepare;
mod span;
mod staging;
mod stream;
mod tensor_map;
mod timer;
mod work;

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use domain::{DeviceKind, MachineState, TargetLimits, TimerRef};

pub use crate::cubin::global_bytes;
pub(crate) use context::list_gpus;

use crate::Slope;
use crate::{
    Address, Bounds, BufferId, Device, DeviceError, GpuInfo, KernelLayout, ModuleId, ModuleImage,
    Operation, Span, StreamId,
};
use context::Context;
use machine::Machine;
use memory::Memory;
use module::Module;
use span::OpenSpan;
use staging::Staging;
use stream::Stream;
use timer::Timer;

/// Operations put on a stream before it is waited for. Fewer than the driver queues, because a launch
/// into a full queue blocks where no limit of ours is looked at.
const QUEUE: usize = 256;

/// What a GPU is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The driver's number for the GPU.
    pub ordinal: u32,
    /// Device memory for buffers, guard bands not counted.
    pub memory_limit_bytes: u64,
    /// CUPTI; without it spans are measured by events, and nothing may be ranked.
    pub cupti_library: Option<PathBuf>,
    /// Wall time of one span.
    pub span_limit: Duration,
}

/// A GPU with its primary context.
pub struct CudaDevice {
    // Declared before what they live in, so that they are given back first.
    modules: Vec<Module>,
    streams: Vec<Stream>,
    staging: Staging,
    memory: Memory,
    machine: Machine,
    timer: Timer,
    limits: TargetLimits,
    span_limit: Duration,
    /// The span under way.
    open: Option<OpenSpan>,
    context: Rc<Context>,
}

impl CudaDevice {
    /// Opens a GPU: CUPTI first, then the context. A second device of the same process shares the
    /// first one's CUPTI.
    ///
    /// # Errors
    /// [`DeviceError::Internal`] without a driver, without such a GPU, or where the context is refused.
    pub fn open(settings: &Settings) -> Result<Self, DeviceError> {
        let internal = |error: driver::DriverError| DeviceError::Internal(error.to_string());
        driver::present().map_err(internal)?;
        let timer = Timer::start(settings.cupti_library.as_deref());
        let context = Context::open(settings.ordinal).map_err(internal)?;
        Ok(Self {
            modules: Vec::new(),
            streams: Vec::new(),
            staging: Staging::new(&context),
            memory: Memory::new(&context, settings.memory_limit_bytes).map_err(internal)?,
            machine: Machine::open(&context.gpu().uuid),
            timer,
            limits: context.limits().map_err(internal)?,
            span_limit: settings.span_limit,
            open: None,
            context,
        })
    }

    /// The GPU.
    #[must_use]
    pub fn gpu(&self) -> &GpuInfo {
        self.context.gpu()
    }

    /// Why spans are not measured by CUPTI, where they are not.
    #[must_use]
    pub fn why_no_cupti(&self) -> Option<&str> {
        match &self.timer {
            Timer::Cupti(_) => None,
            Timer::Events(why) => Some(why),
        }
    }

    /// Takes CUPTI out of the device's way, or puts it back. Meanwhile spans are measured by events, and
    /// nothing that is put on the device is instrumented.
    ///
    /// # Errors
    /// [`DeviceError::Internal`] where CUPTI refuses.
    pub fn suspend_timer(&mut self, is_suspended: bool) -> Result<(), DeviceError> {
        self.timer.set_suspended(is_suspended)
    }

    /// The time of one run by the slope of events as things stand: unlike that of [`Device::slope`] it
    /// has CUPTI's instrumentation in it, unless CUPTI is suspended.
    ///
    /// # Errors
    /// As [`Device::slope`].
    pub fn slope_by_events(
        &mut self,
        stream: StreamId,
        operations: &[Operation],
        copies: u32,
    ) -> Result<Duration, DeviceError> {
        let prepared = self.prepare(operations)?;
        let on = self.stream_of(stream)?;
        let (work, limit) = (&prepared.work, self.span_limit);
        let one = (self.timer).slope_by_events(&self.context, on, work, copies, limit)?;
        self.give_back(&prepared.frees)?;
        Ok(one)
    }
}

impl Device for CudaDevice {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Gpu
    }

    fn limits(&self) -> &TargetLimits {
        &self.limits
    }

    fn bound(&mut self, bounds: &Bounds) -> Result<(), DeviceError> {
        self.context.alive()?;
        self.span_limit = bounds.run_limit;
        self.memory.admit(bounds.memory_bytes, bounds.reserve_bytes)
    }

    fn allocate(&mut self, bytes: u64, label: &str) -> Result<BufferId, DeviceError> {
        self.within_span()?;
        self.memory.allocate(bytes, label)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.memory.free(buffer)
    }

    fn write(&mut self, buffer: BufferId, data: &[u8]) -> Result<(), DeviceError> {
        self.memory.write(buffer, data)
    }

    fn read_into(&mut self, buffer: BufferId, data: &mut [u8]) -> Result<(), DeviceError> {
        self.memory.read_into(buffer, data)
    }

    fn pin(&mut self, start: *mut u8, bytes: usize, is_writable: bool) -> Result<(), DeviceError> {
        self.context.alive()?;
        self.context.told(staging::pin(start, bytes, is_writable))?;
        self.memory.note_pinned(start.addr()..start.addr() + bytes);
        Ok(())
    }

    fn size_bytes(&self, buffer: BufferId) -> Result<u64, DeviceError> {
        self.memory.size_bytes(buffer)
    }

    fn protect(&mut self, buffer: BufferId, _read_only: bool) -> Result<(), DeviceError> {
        self.memory.size_bytes(buffer).map(drop)
    }

    fn verify_guards(&mut self) -> Result<(), DeviceError> {
        self.memory.verify_guards()
    }

    fn verify_guards_of(&mut self, buffers: &[BufferId]) -> Result<(), DeviceError> {
        self.memory.verify_guards_of(buffers)
    }

    fn load(&mut self, image: ModuleImage<'_>) -> Result<ModuleId, DeviceError> {
        self.context.alive()?;
        let module = Module::load(&self.context, image)?;
        self.memory.charge(module.global_bytes())?;
        self.modules.push(module);
        let last = self.modules.len() - 1;
        Ok(ModuleId(u32::try_from(last).unwrap_or(u32::MAX)))
    }

    fn reset_globals(&mut self, module: ModuleId) -> Result<(), DeviceError> {
        self.context.alive()?;
        let loaded = self.module_mut(module)?;
        if !loaded.has_globals() {
            return Ok(());
        }
        loaded.reload()?;
        let known: Vec<String> = loaded.symbols.keys().cloned().collect();
        for name in known {
            // A variable of the same code is there again, perhaps elsewhere.
            self.symbol(module, &name).ok_or_else(|| {
                DeviceError::Internal(format!("`{name}` is gone after a module was reloaded"))
            })?;
        }
        Ok(())
    }

    fn symbol(&mut self, module: ModuleId, name: &str) -> Option<(Address, u64)> {
        self.context.alive().ok()?;
        let loaded = self.module(module).ok()?;
        let (address, bytes) = loaded.global(name)?;
        let known = loaded.symbols.get(name).copied();
        let buffer = self.memory.place_symbol(known, name, address, bytes);
        let loaded = self.module_mut(module).ok()?;
        loaded.symbols.insert(name.to_owned(), buffer);
        Some((Address::start_of(buffer), bytes))
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelLayout, DeviceError> {
        let found = self.module(module)?.look_up(name)?;
        Ok(KernelLayout {
            parameter_bytes: found.parameters.iter().map(|p| p.bytes as u64).collect(),
            static_shared_bytes: u64::from(found.static_shared_bytes),
        })
    }

    fn stream(&mut self) -> Result<StreamId, DeviceError> {
        self.context.alive()?;
        let stream = self.context.told(Stream::new(&self.context))?;
        self.streams.push(stream);
        let last = self.streams.len() - 1;
        Ok(StreamId(u32::try_from(last).unwrap_or(u32::MAX)))
    }

    /// Measures nothing; [`Device::time`] does.
    fn run(&mut self, stream: StreamId, operations: &[Operation]) -> Result<Span, DeviceError> {
        let prepared = self.prepare(operations)?;
        let on = self.stream_of(stream)?;
        for work in prepared.work.chunks(QUEUE) {
            work.iter()
                .try_for_each(|item| item.enqueue(&self.context, on))?;
            on.wait(self.span_limit)?;
        }
        self.give_back(&prepared.frees)?;
        Ok(Span::default())
    }

    fn time(&mut self, stream: StreamId, operations: &[Operation]) -> Result<Span, DeviceError> {
        let prepared = self.prepare(operations)?;
        let duration = self.timer.measure(
            &self.context,
            self.stream_of(stream)?,
            &prepared.work,
            self.span_limit,
        )?;
        self.give_back(&prepared.frees)?;
        Ok(Span {
            duration: Some(duration),
            ..Span::default()
        })
    }

    fn begin_span(&mut self, stream: StreamId, is_measured: bool) -> Result<(), DeviceError> {
        self.begin(stream, is_measured)
    }

    fn issue(&mut self, _stream: StreamId, operations: &[Operation]) -> Result<(), DeviceError> {
        self.in_span(|device, open| device.issue_in(open, operations))
    }

    fn fetch(
        &mut self,
        _stream: StreamId,
        from: Address,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.in_span(|device, open| device.fetch_in(open, from, into))
    }

    fn end_span(&mut self, _stream: StreamId) -> Result<Span, DeviceError> {
        self.end()
    }

    fn slope(
        &mut self,
        stream: StreamId,
        operations: &[Operation],
        copies: u32,
    ) -> Result<Option<Slope>, DeviceError> {
        let prepared = self.prepare(operations)?;
        let on = self.stream_of(stream)?;
        let limit = self.span_limit;
        let one = (self.timer).slope(&self.context, on, &prepared.work, copies, limit)?;
        self.give_back(&prepared.frees)?;
        Ok(Some(one))
    }

    fn state(&mut self) -> Result<Option<MachineState>, DeviceError> {
        Ok(Some(self.machine.state()))
    }

    fn timer(&self) -> Option<TimerRef> {
        let driver = self.context.version().to_string();
        Some(
            self.timer
                .describe(driver, self.context.reaches_host_memory()),
        )
    }
}

#[cfg(test)]
mod tests;
