//! A device with code for it, and the words that checks are written in.

use device::{
    Address, Argument, BufferId, Device, DeviceError, Fault, LaunchSpec, ModuleId, ModuleImage,
    Operation, Span, StreamId,
};
use domain::{DeviceKind, VerdictKind};

use super::Images;

/// A device under test.
pub struct Bench<'a> {
    pub device: &'a mut dyn Device,
    images: &'a Images,
    stream: StreamId,
}

/// Ends a check with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}
pub(crate) use ensure;

impl<'a> Bench<'a> {
    pub fn new(device: &'a mut dyn Device, images: &'a Images) -> Result<Self, String> {
        let stream = device.stream().map_err(text)?;
        Ok(Self {
            device,
            images,
            stream,
        })
    }

    pub fn load(&mut self, name: &str) -> Result<ModuleId, String> {
        let code = self
            .images
            .get(name)
            .ok_or_else(|| format!("no code of `{name}`"))?;
        let image = ModuleImage {
            ptx: &code.ptx,
            cubin: &code.cubin,
        };
        self.device.load(image).map_err(text)
    }

    pub fn buffer(&mut self, bytes: u64, label: &str) -> Result<BufferId, String> {
        self.device.allocate(bytes, label).map_err(text)
    }

    pub fn run(&mut self, operations: &[Operation]) -> Result<Span, DeviceError> {
        self.device.run(self.stream, operations)
    }

    pub fn time(&mut self, operations: &[Operation]) -> Result<Span, DeviceError> {
        self.device.time(self.stream, operations)
    }

    pub fn begin_span(&mut self, is_measured: bool) -> Result<(), DeviceError> {
        self.device.begin_span(self.stream, is_measured)
    }

    pub fn issue(&mut self, operations: &[Operation]) -> Result<(), DeviceError> {
        self.device.issue(self.stream, operations)
    }

    pub fn fetch(&mut self, from: Address, into: &mut [u8]) -> Result<(), DeviceError> {
        self.device.fetch(self.stream, from, into)
    }

    pub fn end_span(&mut self) -> Result<Span, DeviceError> {
        self.device.end_span(self.stream)
    }

    pub fn slope(&mut self, operations: &[Operation], copies: u32) -> Result<f64, String> {
        let slope = self.device.slope(self.stream, operations, copies);
        let slope = slope.map_err(text)?.ok_or("no slope")?;
        Ok(slope.by_events.as_secs_f64())
    }

    pub fn words(&mut self, buffer: BufferId) -> Result<Vec<u32>, String> {
        let bytes = self.device.read(buffer).map_err(text)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }

    pub fn is_gpu(&self) -> bool {
        self.device.kind() == DeviceKind::Gpu
    }
}

pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub fn at(buffer: BufferId, offset_bytes: i64) -> Address {
    Address::Buffer {
        buffer,
        offset_bytes,
    }
}

pub fn pointer(buffer: BufferId) -> Argument {
    Argument::Pointer(at(buffer, 0))
}

pub fn word(value: u32) -> Argument {
    Argument::Value(value.to_le_bytes().to_vec())
}

/// A launch of one block of 128 threads.
pub fn launch(module: ModuleId, kernel: &str, arguments: Vec<Argument>) -> LaunchSpec {
    LaunchSpec {
        module,
        kernel: kernel.to_owned(),
        grid: [1, 1, 1],
        block: [128, 1, 1],
        cluster: None,
        cooperative: false,
        dynamic_shared_bytes: 0,
        arguments,
    }
}

/// Sets bytes of a buffer.
pub fn memset(buffer: BufferId, offset_bytes: i64, value: u8, bytes: u64) -> Operation {
    Operation::Memset {
        destination: at(buffer, offset_bytes),
        value,
        bytes,
    }
}

/// The fault that must have come.
pub fn fault(
    outcome: Result<impl Sized, DeviceError>,
    wanted: VerdictKind,
) -> Result<Fault, String> {
    match outcome {
        Err(DeviceError::Fault(fault)) if fault.kind == wanted => Ok(fault),
        Err(DeviceError::Fault(fault)) => Err(format!(
            "{} instead of {}: {}",
            fault.kind.as_str(),
            wanted.as_str(),
            fault.message
        )),
        Err(other) => Err(format!("instead of {}: {other}", wanted.as_str())),
        Ok(_) => Err(format!("no {}", wanted.as_str())),
    }
}
