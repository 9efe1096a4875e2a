//! Runs forms and whole kernels on a device.

use std::collections::BTreeMap;

use device::{
    Address, Argument, BufferId, Device, DeviceError, LaunchSpec, ModuleId, ModuleImage, Operation,
    StreamId,
};
use toolchain::{CompileRequest, Toolchain};

use super::families;
use super::forms::{Class, Form, SCRATCH_BYTES};
use super::inputs::{self, COUNT};
use super::kernels::{Given, Source, Whole};

/// A family, compiled.
pub struct Family {
    pub name: &'static str,
    pub forms: Vec<Form>,
    ptx: String,
    cubin: Vec<u8>,
}

impl Family {
    fn symbol(at: usize) -> String {
        format!("form_{at}")
    }

    fn compile(
        toolchain: &Toolchain,
        name: &'static str,
        forms: Vec<Form>,
        arch: &str,
        want_cubin: bool,
    ) -> Result<Self, String> {
        let kernels = forms.iter().enumerate();
        let source: String = kernels
            .map(|(at, form)| form.kernel(&Self::symbol(at)))
            .collect();
        let request = CompileRequest {
            source,
            name_expressions: Vec::new(),
            arch: arch.to_owned(),
            want_cubin,
        };
        let compiled =
            toolchain::compile(toolchain, &request).map_err(|why| format!("{name}: {why:?}"))?;
        Ok(Self {
            name,
            forms,
            ptx: compiled.ptx,
            cubin: compiled.cubin.unwrap_or_default(),
        })
    }
}

pub fn compile(toolchain: &Toolchain, arch: &str, want_cubin: bool) -> Result<Vec<Family>, String> {
    let families = families::all().into_iter();
    families
        .map(|(name, forms)| Family::compile(toolchain, name, forms, arch, want_cubin))
        .collect()
}

/// A file of whole kernels, compiled.
pub struct Compiled {
    pub source: Source,
    ptx: String,
    cubin: Vec<u8>,
}

impl Compiled {
    pub fn of(toolchain: &Toolchain, source: Source, arch: &str) -> Result<Self, String> {
        let request = CompileRequest {
            source: source.text.to_owned(),
            name_expressions: Vec::new(),
            arch: arch.to_owned(),
            want_cubin: true,
        };
        let compiled = toolchain::compile(toolchain, &request)
            .map_err(|why| format!("{}: {why:?}", source.name))?;
        Ok(Self {
            source,
            ptx: compiled.ptx,
            cubin: compiled.cubin.unwrap_or_default(),
        })
    }
}

/// Runs the kernels of a file, each with buffers of its own: their results, or why there are none.
pub fn run_whole<D: Device>(
    device: &mut D,
    compiled: &Compiled,
) -> Result<Vec<Result<Vec<u64>, DeviceError>>, DeviceError> {
    let stream = device.stream()?;
    let module = device.load(ModuleImage {
        ptx: &compiled.ptx,
        cubin: &compiled.cubin,
    })?;
    let kernels = compiled.source.kernels.iter();
    Ok(kernels
        .map(|whole| launch_whole(device, stream, module, whole))
        .collect())
}

fn launch_whole<D: Device>(
    device: &mut D,
    stream: StreamId,
    module: ModuleId,
    whole: &Whole,
) -> Result<Vec<u64>, DeviceError> {
    let width = whole.class.bits() as usize / 8;
    let mut fill = |bytes: &[u8], label| -> Result<BufferId, DeviceError> {
        let buffer = device.allocate(bytes.len() as u64, label)?;
        device.write(buffer, bytes).map(|()| buffer)
    };
    let result = fill(&vec![0; width * whole.count], "result")?;
    let mut buffers = vec![result];
    let mut arguments = Vec::new();
    for given in &whole.arguments {
        arguments.push(match given {
            Given::Array(bytes) => {
                buffers.push(fill(bytes, "array")?);
                Argument::Pointer(Address::start_of(buffers[buffers.len() - 1]))
            }
            Given::Result => Argument::Pointer(Address::start_of(result)),
            Given::Value(bytes) => Argument::Value(bytes.clone()),
        });
    }
    let launch = Operation::Launch(LaunchSpec {
        module,
        kernel: whole.name.to_owned(),
        grid: whole.grid,
        block: whole.block,
        cluster: None,
        cooperative: whole.is_cooperative,
        dynamic_shared_bytes: whole.dynamic_shared_bytes,
        arguments,
    });
    device.run(stream, &[launch])?;
    device.verify_guards()?;
    let bytes = device.read(result)?;
    for buffer in buffers {
        device.free(buffer)?;
    }
    Ok(bytes.chunks_exact(width).map(word).collect())
}

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// A device with the operands of every class in its memory.
pub struct Bench<D> {
    device: D,
    stream: StreamId,
    operands: BTreeMap<(Class, usize), BufferId>,
    result: BufferId,
}

impl<D: Device> Bench<D> {
    pub fn new(mut device: D) -> Result<Self, DeviceError> {
        let stream = device.stream()?;
        let mut operands = BTreeMap::new();
        for class in Class::ALL {
            for position in 0..3 {
                let buffer = device.allocate(8 * COUNT as u64, "operand")?;
                let words = inputs::values(class, position);
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                device.write(buffer, &bytes)?;
                operands.insert((class, position), buffer);
            }
        }
        let bytes = (8 + SCRATCH_BYTES) * COUNT;
        let result = device.allocate(bytes as u64, "result")?;
        device.write(result, &vec![0; bytes])?;
        Ok(Self {
            device,
            stream,
            operands,
            result,
        })
    }

    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    pub fn load(&mut self, family: &Family) -> Result<ModuleId, DeviceError> {
        self.device.load(ModuleImage {
            ptx: &family.ptx,
            cubin: &family.cubin,
        })
    }

    /// The results of the form at an index, by thread.
    pub fn run(
        &mut self,
        module: ModuleId,
        family: &Family,
        at: usize,
    ) -> Result<Vec<u64>, DeviceError> {
        let form = &family.forms[at];
        let pointer = |buffer| {
            Argument::Pointer(Address::Buffer {
                buffer,
                offset_bytes: 0,
            })
        };
        let operand = |position: usize| {
            let class = form.operands.get(position).copied().unwrap_or(Class::B32);
            pointer(self.operands[&(class, position)])
        };
        let launch = Operation::Launch(LaunchSpec {
            module,
            kernel: Family::symbol(at),
            grid: [2, 1, 1],
            block: [COUNT as u32 / 2, 1, 1],
            cluster: None,
            cooperative: false,
            dynamic_shared_bytes: 0,
            arguments: vec![operand(0), operand(1), operand(2), pointer(self.result)],
        });
        self.device.run(self.stream, &[launch])?;
        let bytes = self.device.read(self.result)?;
        Ok(bytes.chunks_exact(8).take(COUNT).map(word).collect())
    }
}
