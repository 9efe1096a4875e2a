//! A program on a device, and how a launch plan is put on it.

use std::collections::BTreeMap;

use device::{
    Address, Argument, BufferId, Device, DeviceError, LaunchSpec, ModuleId, ModuleImage, Operation,
    Span, StreamId,
};
use domain::VerdictKind;
use launch_plan::{Buffer, KernelInstance, Launch, LaunchArgument, Place, Plan};

use crate::compile::wire::symbol_expression;
use crate::kernels::Kernels;
use crate::opened::Opened;
use crate::wire::Code;

/// Scratch buffers of a plan, by the plan's numbers.
pub(crate) type Scratch = BTreeMap<u32, BufferId>;

/// A device with one program on it.
pub(crate) struct Loaded {
    pub device: Box<dyn Device>,
    pub stream: StreamId,
    /// The judge's own, where the device has them.
    pub kernels: Option<Kernels>,
    module: ModuleId,
    global_bytes: u64,
    /// Mangled kernel name by instantiation.
    lowered_names: BTreeMap<String, String>,
}

impl Loaded {
    /// Puts the code on an open device.
    pub fn new(opened: Opened, code: Code) -> Result<Self, DeviceError> {
        let Opened {
            mut device,
            stream,
            kernels,
        } = opened;
        let module = device.load(ModuleImage {
            ptx: &code.ptx,
            cubin: &code.cubin,
        })?;
        Ok(Self {
            device,
            stream,
            kernels,
            module,
            // What is no CUBIN may keep anything.
            global_bytes: device::cuda::global_bytes(&code.cubin).unwrap_or(u64::MAX),
            lowered_names: code.lowered_names,
        })
    }

    /// The judge's kernels, for what cannot be done without them.
    pub fn own_kernels(&self) -> Result<Kernels, DeviceError> {
        let missing = || DeviceError::Internal("the judge's kernels are not loaded".to_owned());
        self.kernels.ok_or_else(missing)
    }

    /// Memory in which the code can keep something from one launch to the next.
    pub fn global_bytes(&self) -> u64 {
        self.global_bytes
    }

    /// Puts the program's globals back to their initial contents.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        self.device.reset_globals(self.module)
    }

    /// Runs a plan whose parameters lie in `parameters`. Scratch is allocated before the first
    /// operation and given back afterwards, whatever happens. One run for the whole plan: its limits
    /// hold for the shape, not for a part of it.
    pub fn run(
        &mut self,
        plan: &Plan,
        parameters: &[Option<BufferId>],
    ) -> Result<Span, DeviceError> {
        let mut scratch = Scratch::new();
        let result = self
            .allocate(plan, &mut scratch)
            .and_then(|()| self.operations(plan, parameters, &scratch))
            .and_then(|operations| self.device.run(self.stream, &operations));
        let mut scratch = scratch.into_values();
        let freed = scratch.try_for_each(|buffer| self.device.free(buffer));
        // A fault takes a GPU's context along, and freeing then fails too: the fault is what counts.
        let span = result?;
        freed?;
        Ok(span)
    }

    /// Allocates a plan's scratch. What was allocated before a failure is in `scratch` too.
    pub fn allocate(&mut self, plan: &Plan, scratch: &mut Scratch) -> Result<(), DeviceError> {
        for operation in &plan.operations {
            if let launch_plan::Operation::Allocate {
                scratch: id,
                bytes,
                line,
            } = operation
            {
                let label = format!("scratch of line {line}");
                scratch.insert(*id, self.device.allocate(*bytes, &label)?);
            }
        }
        Ok(())
    }

    /// A plan as operations on this device, after the last [`Loaded::reset`].
    pub fn operations(
        &mut self,
        plan: &Plan,
        parameters: &[Option<BufferId>],
        scratch: &Scratch,
    ) -> Result<Vec<Operation>, DeviceError> {
        let symbols = plan.symbols.iter().map(|symbol| self.symbol(symbol, 0));
        let places = Places {
            parameters,
            scratch,
            symbols: symbols.collect::<Result<_, _>>()?,
        };
        let mut operations = Vec::new();
        for operation in &plan.operations {
            operations.extend(self.translate(operation, &places)?);
        }
        Ok(operations)
    }

    /// One operation on this device; none where there is nothing to do.
    pub fn translate(
        &mut self,
        operation: &launch_plan::Operation,
        places: &Places,
    ) -> Result<Option<Operation>, DeviceError> {
        use launch_plan::Operation as Planned;
        let place = |place: &Place| places.resolve(place);
        Ok(Some(match operation {
            Planned::Allocate { .. } => return Ok(None),
            Planned::Free { scratch: id, .. } => match places.scratch.get(id) {
                Some(buffer) => Operation::Free(*buffer),
                None => return Ok(None),
            },
            Planned::Launch(launch) => Operation::Launch(self.launch(launch, places)?),
            Planned::Memset {
                destination,
                value,
                bytes,
                ..
            } => Operation::Memset {
                destination: place(destination)?,
                value: *value,
                bytes: *bytes,
            },
            Planned::Copy {
                destination,
                source,
                bytes,
                ..
            } => Operation::Copy {
                destination: place(destination)?,
                source: place(source)?,
                bytes: *bytes,
            },
            Planned::Upload {
                destination, data, ..
            } => Operation::Upload {
                destination: place(destination)?,
                data: data.clone(),
            },
            Planned::UploadSymbol {
                symbol,
                offset_bytes,
                data,
                ..
            } => Operation::Upload {
                destination: self.symbol(symbol, *offset_bytes)?,
                data: data.clone(),
            },
            Planned::CopyToSymbol {
                symbol,
                offset_bytes,
                source,
                bytes,
                ..
            } => Operation::Copy {
                destination: self.symbol(symbol, *offset_bytes)?,
                source: place(source)?,
                bytes: *bytes,
            },
        }))
    }

    /// Whether a kernel was compiled.
    pub fn has_kernel(&self, kernel: &KernelInstance) -> bool {
        self.lowered_names.contains_key(&kernel.0)
    }

    /// A place in a `__constant__` or `__device__` variable.
    pub fn symbol(&mut self, symbol: &str, offset_bytes: u64) -> Result<Address, DeviceError> {
        let expression = symbol_expression(symbol);
        let lowered = self.lowered_names.get(&expression);
        let found = lowered.and_then(|lowered| self.device.symbol(self.module, lowered));
        let Some((Address::Buffer { buffer, .. }, _)) = found else {
            return Err(DeviceError::Internal(format!(
                "no compiled variable for `{symbol}`"
            )));
        };
        let offset_bytes = i64::try_from(offset_bytes).unwrap_or(i64::MAX);
        Ok(Address::Buffer {
            buffer,
            offset_bytes,
        })
    }

    fn launch(&self, launch: &Launch, places: &Places) -> Result<LaunchSpec, DeviceError> {
        let instance = &launch.kernel.0;
        let kernel = self
            .lowered_names
            .get(instance)
            .ok_or_else(|| DeviceError::Internal(format!("no compiled kernel for `{instance}`")))?;
        let arguments = launch
            .arguments
            .iter()
            .map(|argument| match argument {
                LaunchArgument::Pointer(pointer) => places.resolve(pointer).map(Argument::Pointer),
                LaunchArgument::Value(bytes) => Ok(Argument::Value(bytes.clone())),
                LaunchArgument::Record { bytes, pointers } => {
                    let resolved = pointers
                        .iter()
                        .map(|(offset, place)| Ok((*offset, places.resolve(place)?)));
                    Ok(Argument::Record {
                        bytes: bytes.clone(),
                        pointers: resolved.collect::<Result<_, DeviceError>>()?,
                    })
                }
                LaunchArgument::TensorMap(map) => {
                    Ok(Argument::TensorMap(map.at(places.resolve(&map.base)?)))
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.check_layout(launch, kernel, &arguments)?;
        Ok(LaunchSpec {
            module: self.module,
            kernel: kernel.clone(),
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            cooperative: launch.cooperative,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            arguments,
        })
    }

    /// The plan's idea of the kernel's parameters must be the compiler's.
    fn check_layout(
        &self,
        launch: &Launch,
        kernel: &str,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let layout = self.device.kernel(self.module, kernel)?;
        let planned: Vec<u64> = arguments.iter().map(argument_bytes).collect();
        if planned != layout.parameter_bytes {
            return Err(DeviceError::Fault(device::Fault {
                kind: VerdictKind::LaunchConfig,
                message: format!(
                    "`{}` takes parameters of {:?} bytes, but the launch passes {planned:?}",
                    launch.kernel.0, layout.parameter_bytes
                ),
                line: Some(launch.line),
            }));
        }
        let available = u64::from(self.device.limits().shared_memory_per_block_optin_bytes);
        let wanted = layout.static_shared_bytes + u64::from(launch.dynamic_shared_bytes);
        if wanted > available {
            return Err(DeviceError::Fault(device::Fault {
                kind: VerdictKind::LaunchConfig,
                message: format!(
                    "`{}` asks for {wanted} bytes of shared memory per block; the limit is {available}",
                    launch.kernel.0
                ),
                line: Some(launch.line),
            }));
        }
        Ok(())
    }
}

fn argument_bytes(argument: &Argument) -> u64 {
    match argument {
        Argument::Pointer(_) => 8,
        Argument::Value(bytes) | Argument::Record { bytes, .. } => bytes.len() as u64,
        Argument::TensorMap(_) => 128,
    }
}

/// Where a plan's places lie on the device.
pub(crate) struct Places<'a> {
    pub parameters: &'a [Option<BufferId>],
    pub scratch: &'a Scratch,
    /// The plan's device variables, in its order.
    pub symbols: Vec<Address>,
}

impl Places<'_> {
    pub fn resolve(&self, place: &Place) -> Result<Address, DeviceError> {
        let buffer = match place.buffer {
            Buffer::Null => return Ok(Address::Null),
            Buffer::Parameter(index) => self.parameters.get(index as usize).copied().flatten(),
            Buffer::Scratch(id) => self.scratch.get(&id).copied(),
            Buffer::Symbol(index) => match self.symbols.get(index as usize) {
                Some(Address::Buffer { buffer, .. }) => Some(*buffer),
                _ => None,
            },
        };
        let no_buffer = || DeviceError::Internal(format!("the plan names no buffer: {place:?}"));
        Ok(Address::Buffer {
            buffer: buffer.ok_or_else(no_buffer)?,
            offset_bytes: place.offset_bytes,
        })
    }
}
