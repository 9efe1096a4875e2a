//! An emulated device that claims to measure: every run takes a microsecond an operation. Measurements go
//! through all their motions on it, and their kernels really run.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use device::emulated::Settings;
use device::{
    Address, BufferId, Device, DeviceError, EmulatedDevice, KernelLayout, ModuleId, ModuleImage,
    Operation, Slope, Span, StreamId,
};
use domain::{DeviceKind, DeviceName, MachineState, TargetLimits, TimerRef};

use super::rig::{Extent, Instrument, Rig};
use crate::compile::wire::KernelSet;
use crate::test_support::compiled;
use crate::wire::Code;

const ONE: Duration = Duration::from_micros(1);

pub(crate) struct Pretend {
    inner: EmulatedDevice,
}

/// A rig with one set of kernels on a card of two multiprocessors and little cache.
pub(crate) fn rig(set: KernelSet) -> Rig {
    let limits = TargetLimits {
        multiprocessors: 2,
        l2_bytes: 32 << 10,
        ..scoring::device(DeviceName::H200).limits.clone()
    };
    let inner = EmulatedDevice::new(Settings {
        limits,
        memory_limit_bytes: 1 << 28,
        instruction_fuel: 1 << 32,
    });
    let sets = [KernelSet::Judging, set].map(|set| (set, code(set)));
    let extent = Extent {
        max_bytes: 16 << 10,
        max_samples: 2,
        max_steps: 2,
        target_s: 1e-6,
        pause: 0.0,
    };
    Rig::new(Box::new(Pretend { inner }), &sets.into(), extent).unwrap()
}

/// Compiled once a process: most of a test's time is the compiler's.
fn code(set: KernelSet) -> Code {
    static CODE: Mutex<BTreeMap<KernelSet, Code>> = Mutex::new(BTreeMap::new());
    let mut known = CODE.lock().unwrap();
    let code = known.entry(set).or_insert_with(|| compiled(set.source()));
    code.clone()
}

fn pretended(operations: &[Operation]) -> Duration {
    ONE * u32::try_from(operations.len()).unwrap()
}

impl Instrument for Pretend {
    fn suspend_timer(&mut self, _is_suspended: bool) -> Result<(), DeviceError> {
        Ok(())
    }

    fn slope_by_events(
        &mut self,
        _stream: StreamId,
        operations: &[Operation],
        _copies: u32,
    ) -> Result<Duration, DeviceError> {
        Ok(pretended(operations))
    }
}

impl Device for Pretend {
    fn kind(&self) -> DeviceKind {
        self.inner.kind()
    }

    fn limits(&self) -> &TargetLimits {
        self.inner.limits()
    }

    fn bound(&mut self, bounds: &device::Bounds) -> Result<(), DeviceError> {
        self.inner.bound(bounds)
    }

    fn pin(&mut self, start: *mut u8, bytes: usize, is_writable: bool) -> Result<(), DeviceError> {
        self.inner.pin(start, bytes, is_writable)
    }

    fn verify_guards_of(&mut self, buffers: &[BufferId]) -> Result<(), DeviceError> {
        self.inner.verify_guards_of(buffers)
    }

    fn allocate(&mut self, bytes: u64, label: &str) -> Result<BufferId, DeviceError> {
        self.inner.allocate(bytes, label)
    }

    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError> {
        self.inner.free(buffer)
    }

    fn write(&mut self, buffer: BufferId, data: &[u8]) -> Result<(), DeviceError> {
        self.inner.write(buffer, data)
    }

    fn read_into(&mut self, buffer: BufferId, data: &mut [u8]) -> Result<(), DeviceError> {
        self.inner.read_into(buffer, data)
    }

    fn size_bytes(&self, buffer: BufferId) -> Result<u64, DeviceError> {
        self.inner.size_bytes(buffer)
    }

    fn protect(&mut self, buffer: BufferId, read_only: bool) -> Result<(), DeviceError> {
        self.inner.protect(buffer, read_only)
    }

    fn verify_guards(&mut self) -> Result<(), DeviceError> {
        self.inner.verify_guards()
    }

    fn load(&mut self, image: ModuleImage<'_>) -> Result<ModuleId, DeviceError> {
        self.inner.load(image)
    }

    fn reset_globals(&mut self, module: ModuleId) -> Result<(), DeviceError> {
        self.inner.reset_globals(module)
    }

    fn symbol(&mut self, module: ModuleId, name: &str) -> Option<(Address, u64)> {
        self.inner.symbol(module, name)
    }

    fn kernel(&self, module: ModuleId, name: &str) -> Result<KernelLayout, DeviceError> {
        self.inner.kernel(module, name)
    }

    fn stream(&mut self) -> Result<StreamId, DeviceError> {
        self.inner.stream()
    }

    fn run(&mut self, stream: StreamId, operations: &[Operation]) -> Result<Span, DeviceError> {
        self.inner.run(stream, operations)
    }

    fn time(&mut self, stream: StreamId, operations: &[Operation]) -> Result<Span, DeviceError> {
        let span = self.inner.run(stream, operations)?;
        Ok(Span {
            duration: Some(pretended(operations)),
            ..span
        })
    }

    fn begin_span(&mut self, stream: StreamId, is_measured: bool) -> Result<(), DeviceError> {
        self.inner.begin_span(stream, is_measured)
    }

    fn issue(&mut self, stream: StreamId, operations: &[Operation]) -> Result<(), DeviceError> {
        self.inner.issue(stream, operations)
    }

    fn fetch(
        &mut self,
        stream: StreamId,
        from: Address,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.inner.fetch(stream, from, into)
    }

    fn end_span(&mut self, stream: StreamId) -> Result<Span, DeviceError> {
        self.inner.end_span(stream)
    }

    fn slope(
        &mut self,
        _stream: StreamId,
        operations: &[Operation],
        _copies: u32,
    ) -> Result<Option<Slope>, DeviceError> {
        Ok(Some(Slope {
            by_events: pretended(operations),
            by_timer: Some(pretended(operations)),
        }))
    }

    fn state(&mut self) -> Result<Option<MachineState>, DeviceError> {
        Ok(Some(MachineState::default()))
    }

    fn timer(&self) -> Option<TimerRef> {
        Some(TimerRef {
            name: "cupti".to_owned(),
            cupti: Some("pretended".to_owned()),
            driver: String::new(),
            unranked: None,
        })
    }
}
