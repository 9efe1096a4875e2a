//! The emulated backend: PTX executed on the CPU, every access checked, nothing measured.
//!
//! Allocations lie far apart in the emulated address space, so that guard bands are not needed: an
//! access outside is found when it happens.

mod errors;
mod launching;
mod modelling;
mod operations;
mod tensor_map;

/// What modelled times leave out, for a person.
pub use emulator::LEFT_OUT as MODEL_LEAVES_OUT;

use std::collections::BTreeMap;

use domain::report::Counters;
use domain::{DeviceKind, TargetLimits};
use emulator::{LoadedModule, Memory, Module};

use self::errors::{host_access, load_error, memory_error};
use self::modelling::Model;
use self::operations::sectors;

use crate::{
    Address, Bounds, BufferId, Checking, Device, DeviceError, KernelLayout, Leaked, ModuleId,
    ModuleImage, Operation, Span, StreamId,
};

/// What kernels may print within one span.
const PRINTED_BYTES: usize = 64 << 10;

/// What an emulated device is made with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The GPU it stands in for.
    pub limits: TargetLimits,
    /// Device memory.
    pub memory_limit_bytes: u64,
    /// Warp instructions of one span.
    pub instruction_fuel: u64,
}

/// A CPU that executes PTX.
pub struct EmulatedDevice {
    settings: Settings,
    memory: Memory,
    buffers: BTreeMap<BufferId, Allocation>,
    modules: Vec<OnDevice>,
    next_buffer: u32,
    next_stream: u32,
    threads: usize,
    /// The span under way.
    open: Option<OpenSpan>,
    checking: Checking,
}

/// A module, and the registers that a thread of each of its kernels takes in the machine's code.
struct OnDevice {
    loaded: LoadedModule,
    registers: BTreeMap<String, u32>,
}

/// What a span has come to, and what its limits leave.
struct OpenSpan {
    span: Span,
    fuel: u64,
    model: Model,
    /// Allocations of `malloc` and their bytes when it began.
    heap: (u64, u64),
}

#[derive(Clone, Copy)]
struct Allocation {
    address: u64,
    bytes: u64,
    /// A module's variable: freed with the module, never alone.
    is_symbol: bool,
    /// Given back; the address stays known, so that a kernel's use of it is told as such.
    is_freed: bool,
}

impl EmulatedDevice {
    /// A device with empty memory.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            memory: Memory::new(settings.memory_limit_bytes),
            settings,
            buffers: BTreeMap::new(),
            modules: Vec::new(),
            next_buffer: 0,
            next_stream: 0,
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            open: None,
            checking: Checking::Bounds,
        }
    }

    fn register(&mut self, allocation: Allocation) -> BufferId {
        let id = BufferId(self.next_buffer);
        self.next_buffer += 1;
        self.buffers.insert(id, allocation);
        id
    }

    fn allocation(&self, buffer: BufferId) -> Result<Allocation, DeviceError> {
        self.buffers
            .get(&buffer)
            .copied()
            .ok_or_else(|| DeviceError::Internal(format!("no such buffer: {buffer:?}")))
    }

    fn module(&self, module: ModuleId) -> Result<&LoadedModule, DeviceError> {
        self.modules
            .get(module.0 as usize)
            .map(|module| &module.loaded)
            .ok_or_else(|| DeviceError::Internal(format!("no such module: {module:?}")))
    }

    /// The device address as a kernel sees it. It may lie outside every buffer.
    fn resolve(&self, address: Address) -> Result<u64, DeviceError> {
        match address {
            Address::Null => Ok(0),
            Address::Buffer {
                buffer,
                offset_bytes,
            } => Ok(self
                .allocation(buffer)?
                .address
                .wrapping_add_signed(offset_bytes)),
        }
    }

    fn new_span(&self) -> OpenSpan {
        OpenSpan {
            span: Span {
                counters: Some(Counters::default()),
                ..Span::default()
            },
            fuel: self.settings.instruction_fuel,
            model: Model::default(),
            heap: self.memory.device_heap(),
        }
    }

    fn close(&self, open: OpenSpan) -> Span {
        let (before, now) = (open.heap, self.memory.device_heap());
        Span {
            modelled: Some(open.model.report()),
            leaked: Leaked {
                allocations: now.0.saturating_sub(before.0),
                bytes: now.1.saturating_sub(before.1),
            },
            ..open.span
        }
    }
}

impl Device for EmulatedDevice {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Emulated
    }

    fn limits(&self) -> &TargetLimits {
        &self.settings.limits
    }

    fn bound(&mut self, bounds: &Bounds) -> Result<(), DeviceError> {
        self.memory.admit(bounds.memory_bytes);
        self.settings.instruction_fuel = bounds.instruction_fuel;
        self.checking = bounds.checking;
        Ok(())
    }

    fn allocate(&mut self, bytes: u64, label: &str) -> Result<BufferId, DeviceError> {
        let address = self
            .memory
            .allocate_undefined(bytes, label)
            .map_err(memory_error)?;
        Ok(self.register(Allocation {
            address,
            bytes,
            is_symbol: false,
            is_freed: false,
        }))
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        let allocation = self.allocation(buffer)?;
        if allocation.is_symbol {
            return Err(DeviceError::Internal(
                "a module's variable cannot be freed".to_owned(),
            ));
        }
        if !allocation.is_freed {
            self.memory.free(allocation.address).map_err(memory_error)?;
            self.buffers.insert(
                buffer,
                Allocation {
                    is_freed: true,
                    ..allocation
                },
            );
        }
        Ok(())
    }

    fn write(&mut self, buffer: BufferId, data: &[u8]) -> Result<(), DeviceError> {
        let address = self.allocation(buffer)?.address;
        self.memory.write(address, data).map_err(memory_error)
    }

    fn read_into(&mut self, buffer: BufferId, data: &mut [u8]) -> Result<(), DeviceError> {
        let address = self.allocation(buffer)?.address;
        self.memory.read(address, data).map_err(memory_error)
    }

    fn pin(
        &mut self,
        _start: *mut u8,
        _bytes: usize,
        _is_writable: bool,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    fn size_bytes(&self, buffer: BufferId) -> Result<u64, DeviceError> {
        self.allocation(buffer).map(|allocation| allocation.bytes)
    }

    fn protect(&mut self, buffer: BufferId, read_only: bool) -> Result<(), DeviceError> {
        let address = self.allocation(buffer)?.address;
        self.memory
            .protect(address, read_only)
            .map_err(memory_error)
    }

    fn expect_results(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        let address = self.allocation(buffer)?.address;
        self.memory.expect_results(address).map_err(memory_error)
    }

    fn verify_guards_of(&mut self, _buffers: &[BufferId]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn verify_guards(&mut self) -> Result<(), DeviceError> {
        Ok(()) // every access was checked when it happened
    }

    fn load(&mut self, image: ModuleImage<'_>) -> Result<ModuleId, DeviceError> {
        let module = Module::parse(image.ptx).map_err(load_error)?;
        self.modules.push(OnDevice {
            loaded: self.memory.load(&module).map_err(memory_error)?,
            registers: crate::cubin::registers(image.cubin).unwrap_or_default(),
        });
        Ok(ModuleId(
            u32::try_from(self.modules.len() - 1).unwrap_or(u32::MAX),
        ))
    }

    fn reset_globals(&mut self, module: ModuleId) -> Result<(), DeviceError> {
        let loaded = self.module(module)?.clone();
        self.memory.reset_globals(&loaded).map_err(memory_error)
    }

    fn symbol(&mut self, module: ModuleId, name: &str) -> Option<(Address, u64)> {
        let (address, bytes) = self.module(module).ok()?.global(name)?;
        let known = self
            .buffers
            .iter()
            .find(|(_, known)| known.address == address);
        let buffer = match known {
            Some((id, _)) => *id,
            None => self.register(Allocation {
                address,
                bytes,
                is_symbol: true,
                is_freed: false,
            }),
        };
        Some((Address::start_of(buffer), bytes))
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelLayout, DeviceError> {
        let kernel = self
            .module(module)?
            .module()
            .check(name)
            .map_err(load_error)?;
        Ok(KernelLayout {
            parameter_bytes: kernel
                .parameters
                .iter()
                .map(|p| u64::from(p.bytes))
                .collect(),
            static_shared_bytes: u64::from(kernel.static_shared_bytes),
        })
    }

    fn stream(&mut self) -> Result<StreamId, DeviceError> {
        self.next_stream += 1;
        Ok(StreamId(self.next_stream - 1))
    }

    fn run(&mut self, _stream: StreamId, operations: &[Operation]) -> Result<Span, DeviceError> {
        let mut open = self.new_span();
        for operation in operations {
            self.perform(operation, &mut open)?;
        }
        Ok(self.close(open))
    }

    fn begin_span(&mut self, _stream: StreamId, _is_measured: bool) -> Result<(), DeviceError> {
        self.open = Some(self.new_span());
        Ok(())
    }

    /// Everything ends before this returns.
    fn issue(&mut self, _stream: StreamId, operations: &[Operation]) -> Result<(), DeviceError> {
        let mut open = self.open.take().ok_or_else(no_span)?;
        let done = operations
            .iter()
            .try_for_each(|operation| self.perform(operation, &mut open));
        self.open = Some(open);
        done
    }

    fn fetch(
        &mut self,
        _stream: StreamId,
        from: Address,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        let address = self.resolve(from)?;
        let open = self.open.as_mut().ok_or_else(no_span)?;
        let why = "the host function reads device memory while it runs".to_owned();
        open.model.give_up(why);
        let counted = open.span.counters.get_or_insert_default();
        counted.global_load_sectors += sectors(address, into.len() as u64);
        self.memory
            .read(address, into)
            .map_err(|e| host_access("cudaMemcpy", &e))
    }

    fn end_span(&mut self, _stream: StreamId) -> Result<Span, DeviceError> {
        let open = self.open.take().ok_or_else(no_span)?;
        Ok(self.close(open))
    }
}

fn no_span() -> DeviceError {
    DeviceError::Internal("no span is under way".to_owned())
}
