//! Runs forms on a device.

use std::collections::BTreeMap;

use device::{
    Address, Argument, BufferId, Device, DeviceError, LaunchSpec, ModuleId, ModuleImage, Operation,
    StreamId,
};
use toolchain::{CompileRequest, Toolchain};

use super::families;
use super::forms::{Class, Form};
use super::inputs::{self, COUNT};

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
        let result = device.allocate(8 * COUNT as u64, "result")?;
        Ok(Self {
            device,
            stream,
            operands,
            result,
        })
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
        let words = bytes.chunks_exact(8);
        Ok(words
            .map(|word| {
                word.iter()
                    .rev()
                    .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
            })
            .collect())
    }
}
