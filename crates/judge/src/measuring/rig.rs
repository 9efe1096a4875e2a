//! A device with the judge's own kernels and one set of measuring kernels on it, and the words that
//! measurements are written in.

use std::collections::BTreeMap;
use std::time::Duration;

use device::{
    Address, Argument, BufferId, CudaDevice, Device, DeviceError, LaunchSpec, ModuleId,
    ModuleImage, OpenRequest, Operation, StreamId,
};
use domain::{Direction, ElementType};
use problems::{Generator, TensorSpec};

use super::summary::Summary;
use crate::compile::wire::KernelSet;
use crate::kernels::Kernels;
use crate::wire::Code;

/// Two buffers of a gibibyte, and room.
const MEMORY_BYTES: u64 = 6 << 30;
/// Wall clock of one kernel.
const RUN_LIMIT: Duration = Duration::from_secs(10);
/// The canary runs this long before anything is timed, so that the clock has come up.
const WARM_UP_S: f64 = 0.15;
/// Whose inputs these are matters to nobody.
pub(crate) const KEY: [u8; 32] = [7; 32];

/// A device whose timer can be looked behind.
pub(crate) trait Instrument: Device {
    /// Takes what measures spans out of the device's way, or puts it back.
    fn suspend_timer(&mut self, is_suspended: bool) -> Result<(), DeviceError>;

    /// The time of one run by the slope of events, as things stand.
    fn slope_by_events(
        &mut self,
        stream: StreamId,
        operations: &[Operation],
        copies: u32,
    ) -> Result<Duration, DeviceError>;
}

impl Instrument for CudaDevice {
    fn suspend_timer(&mut self, is_suspended: bool) -> Result<(), DeviceError> {
        Self::suspend_timer(self, is_suspended)
    }

    fn slope_by_events(
        &mut self,
        stream: StreamId,
        operations: &[Operation],
        copies: u32,
    ) -> Result<Duration, DeviceError> {
        Self::slope_by_events(self, stream, operations, copies)
    }
}

/// How much is measured. Tests measure nothing and only go through the motions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub max_bytes: u64,
    pub max_samples: usize,
    pub max_steps: u32,
    /// How long one run of a rate's kernel is to take.
    pub target_s: f64,
    /// Of the pauses that are asked for.
    pub pause: f64,
}

impl Extent {
    /// On a GPU.
    pub const FULL: Self = Self {
        max_bytes: u64::MAX,
        max_samples: usize::MAX,
        max_steps: u32::MAX,
        target_s: 2e-3,
        pause: 1.0,
    };
}

/// A device ready to be measured.
pub(crate) struct Rig {
    pub device: Box<dyn Instrument>,
    pub stream: StreamId,
    pub kernels: Kernels,
    pub extent: Extent,
    modules: BTreeMap<KernelSet, ModuleId>,
    /// Where kernels write what they never write.
    sink: BufferId,
}

impl Rig {
    /// Opens the GPU and puts the kernels on it.
    pub fn open(
        request: &OpenRequest,
        code: &BTreeMap<KernelSet, Code>,
        extent: Extent,
    ) -> Result<Self, String> {
        let device = device::open_gpu(&request.target, MEMORY_BYTES, RUN_LIMIT);
        let device = device.map_err(|e| e.to_string())?;
        Self::new(Box::new(device), code, extent).map_err(|e| e.to_string())
    }

    pub fn new(
        mut device: Box<dyn Instrument>,
        code: &BTreeMap<KernelSet, Code>,
        extent: Extent,
    ) -> Result<Self, DeviceError> {
        let stream = device.stream()?;
        let judging = code.get(&KernelSet::Judging).ok_or_else(no_code)?;
        let kernels = Kernels::load(device.as_mut(), stream, judging)?;
        let mut modules = BTreeMap::new();
        for (set, code) in code.iter().filter(|(set, _)| **set != KernelSet::Judging) {
            let module = device.load(ModuleImage {
                ptx: &code.ptx,
                cubin: &code.cubin,
            })?;
            modules.insert(*set, module);
        }
        let sink = device.allocate(256, "sink")?;
        Ok(Self {
            device,
            stream,
            kernels,
            extent,
            modules,
            sink,
        })
    }

    /// As many bytes as asked for, or as this extent admits.
    pub fn bytes(&self, wanted: u64) -> u64 {
        wanted.min(self.extent.max_bytes)
    }

    /// As many samples as asked for, or as this extent admits.
    pub fn samples(&self, wanted: usize) -> usize {
        wanted.min(self.extent.max_samples)
    }

    /// A kernel of the measuring set that is loaded.
    pub fn spec(
        &self,
        set: KernelSet,
        kernel: &str,
        [blocks, threads]: [u32; 2],
        arguments: Vec<Argument>,
    ) -> Result<LaunchSpec, DeviceError> {
        Ok(LaunchSpec {
            module: *self.modules.get(&set).ok_or_else(no_code)?,
            kernel: kernel.to_owned(),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            cluster: None,
            cooperative: false,
            dynamic_shared_bytes: 0,
            arguments,
        })
    }

    /// The argument that kernels take to keep their loads alive.
    pub fn sink(&self) -> Argument {
        pointer(self.sink)
    }

    /// A buffer full of random numbers between -1 and 1.
    pub fn random(&mut self, bytes: u64, label: &str) -> Result<BufferId, DeviceError> {
        let buffer = self.device.allocate(bytes, label)?;
        let fill = self.fill(buffer, bytes);
        self.run(&[fill])?;
        Ok(buffer)
    }

    /// What makes a buffer's contents anew, as the judge makes inputs.
    pub fn fill(&self, buffer: BufferId, bytes: u64) -> Operation {
        self.kernels.initialise(buffer, &vector(bytes), Some(KEY))
    }

    pub fn run(&mut self, operations: &[Operation]) -> Result<(), DeviceError> {
        self.device.run(self.stream, operations).map(drop)
    }

    /// Puts the globals of the measuring kernels back, as the judge does with a submission's.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        let modules: Vec<ModuleId> = self.modules.values().copied().collect();
        modules
            .into_iter()
            .try_for_each(|m| self.device.reset_globals(m))
    }

    /// One timed run, s.
    pub fn time(&mut self, operations: &[Operation]) -> Result<f64, DeviceError> {
        let span = self.device.time(self.stream, operations)?;
        let duration = span.duration.ok_or_else(|| {
            DeviceError::Internal("nothing on this device measures time".to_owned())
        })?;
        Ok(duration.as_secs_f64())
    }

    /// Runs one operation again and again, after some runs that do not count.
    pub fn repeat(
        &mut self,
        operation: &Operation,
        uncounted: usize,
        samples: usize,
    ) -> Result<Summary, DeviceError> {
        let operations = std::slice::from_ref(operation);
        for _ in 0..self.samples(uncounted) {
            self.time(operations)?;
        }
        let times: Result<Vec<f64>, _> = (0..self.samples(samples))
            .map(|_| self.time(operations))
            .collect();
        summary(&times?)
    }

    /// Keeps the device busy until its clock has come up.
    pub fn warm_up(&mut self) -> Result<(), DeviceError> {
        let canary = [self.kernels.canary()];
        let mut busy_s = 0.0;
        for _ in 0..self.samples(10_000) {
            busy_s += self.time(&canary)?;
            if busy_s >= WARM_UP_S {
                break;
            }
        }
        Ok(())
    }

    /// Gives buffers back after a measurement on them, whatever came of it. Its own failure counts: a fault
    /// takes the context along, and freeing then fails too.
    pub fn free_after<T>(
        &mut self,
        measured: Result<T, DeviceError>,
        buffers: impl IntoIterator<Item = BufferId>,
    ) -> Result<T, DeviceError> {
        let freed = self.free(buffers);
        let value = measured?;
        freed.map(|()| value)
    }

    /// Gives buffers back.
    pub fn free(&mut self, buffers: impl IntoIterator<Item = BufferId>) -> Result<(), DeviceError> {
        buffers.into_iter().try_for_each(|b| self.device.free(b))
    }
}

/// What samples come to; there must be one.
pub(crate) fn summary(samples: &[f64]) -> Result<Summary, DeviceError> {
    Summary::of(samples).ok_or_else(|| DeviceError::Internal("nothing was sampled".to_owned()))
}

/// The start of a buffer, as an argument.
pub(crate) fn pointer(buffer: BufferId) -> Argument {
    Argument::Pointer(Address::start_of(buffer))
}

pub(crate) fn word(value: u32) -> Argument {
    Argument::Value(value.to_le_bytes().to_vec())
}

pub(crate) fn long(value: u64) -> Argument {
    Argument::Value(value.to_le_bytes().to_vec())
}

/// A vector of single-precision numbers, as a problem would declare one.
pub(crate) fn vector(bytes: u64) -> TensorSpec {
    TensorSpec {
        name: "x".to_owned(),
        element: ElementType::F32,
        direction: Direction::In,
        dims: vec![bytes / 4],
        generator: Some(Generator::Uniform {
            low: -1.0,
            high: 1.0,
            outliers: None,
        }),
        bytes,
        align_bytes: 16,
    }
}

fn no_code() -> DeviceError {
    DeviceError::Internal("kernels of this measurement were not compiled".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::pretend::rig;

    #[test]
    fn a_failed_measurement_is_told_and_not_the_freeing_that_fails_after_it() {
        let mut rig = rig(KernelSet::Memory);
        let buffer = rig.random(64, "x").unwrap();
        assert_eq!(rig.free_after(Ok(7), [buffer]), Ok(7));
        let nowhere = BufferId(u32::MAX);
        let fault = DeviceError::Internal("a fault".to_owned());
        let told = rig.free_after::<()>(Err(fault.clone()), [nowhere]);
        assert_eq!(told, Err(fault));
        let told = rig.free_after(Ok(7), [nowhere]).unwrap_err();
        assert!(told.to_string().contains("no such buffer"), "{told}");
    }
}
