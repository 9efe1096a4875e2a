//! What every test here does: load a module, place arrays, launch, read back.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::result_large_err, reason = "a fault is built once")]

pub mod checked;

use emulator::{Fault, Launch, Limits, LoadedModule, Memory, Module, Outcome, launch};

/// A module in a memory of its own.
pub struct Device {
    pub memory: Memory,
    pub loaded: LoadedModule,
}

/// Arguments of a launch, packed as the kernel's parameters are.
#[derive(Default)]
pub struct Arguments(Vec<u8>);

impl Arguments {
    pub fn new() -> Self {
        Self::default()
    }

    fn push(mut self, bytes: &[u8]) -> Self {
        let start = self.0.len().next_multiple_of(bytes.len());
        self.0.resize(start, 0);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Raw bytes, aligned to their length.
    pub fn value(self, bytes: &[u8]) -> Self {
        self.push(bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn pointer(self, address: u64) -> Self {
        self.push(&address.to_le_bytes())
    }

    pub fn int(self, value: i32) -> Self {
        self.push(&value.to_le_bytes())
    }
}

impl Device {
    pub fn new(ptx: &str) -> Self {
        let module = Module::parse(ptx).unwrap();
        let mut memory = Memory::new(1 << 30);
        let loaded = memory.load(&module).unwrap();
        Self { memory, loaded }
    }

    pub fn bytes(&mut self, label: &str, bytes: &[u8]) -> u64 {
        let address = self.memory.allocate(bytes.len() as u64, label).unwrap();
        self.memory.write(address, bytes).unwrap();
        address
    }

    pub fn floats(&mut self, label: &str, values: &[f32]) -> u64 {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.bytes(label, &bytes)
    }

    pub fn words(&mut self, label: &str, values: &[u32]) -> u64 {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.bytes(label, &bytes)
    }

    pub fn read_words(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.memory.read(address, &mut bytes).unwrap();
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    pub fn read_floats(&self, address: u64, count: usize) -> Vec<f32> {
        self.read_words(address, count)
            .into_iter()
            .map(f32::from_bits)
            .collect()
    }

    pub fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        arguments: &Arguments,
    ) -> Result<Outcome, Fault> {
        self.launch_with(kernel, grid, block, 0, arguments, &Limits::default())
    }

    pub fn launch_with(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared_bytes: u32,
        arguments: &Arguments,
        limits: &Limits,
    ) -> Result<Outcome, Fault> {
        let launched = Launch {
            kernel,
            grid,
            block,
            cluster: [1, 1, 1],
            dynamic_shared_bytes,
            parameters: &arguments.0,
        };
        launch(&self.loaded, &launched, &mut self.memory, limits)
    }
}

/// A module around the given functions, as NVRTC would open it.
pub fn module(functions: &str) -> String {
    format!(".version 9.5\n.target sm_90a\n.address_size 64\n{functions}")
}
