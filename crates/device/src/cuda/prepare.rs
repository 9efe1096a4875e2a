//! From names to what they stand for, and from operations to work that can be put on a stream.

use super::CudaDevice;
use super::module::Module;
use super::stream::Stream;
use super::work::{Parts, Prepared};
use crate::{BufferId, DeviceError, ModuleId, Operation, StreamId};

impl CudaDevice {
    pub(super) fn module(&self, module: ModuleId) -> Result<&Module, DeviceError> {
        self.modules
            .get(module.0 as usize)
            .ok_or_else(|| DeviceError::Internal(format!("no such module: {module:?}")))
    }

    pub(super) fn module_mut(&mut self, module: ModuleId) -> Result<&mut Module, DeviceError> {
        self.modules
            .get_mut(module.0 as usize)
            .ok_or_else(|| DeviceError::Internal(format!("no such module: {module:?}")))
    }

    pub(super) fn stream_of(&self, stream: StreamId) -> Result<&Stream, DeviceError> {
        self.streams
            .get(stream.0 as usize)
            .ok_or_else(|| DeviceError::Internal(format!("no such stream: {stream:?}")))
    }

    /// Whether a module that is launched from contains a trap.
    pub(super) fn may_trap(&self, operations: &[Operation]) -> bool {
        operations.iter().any(|operation| match operation {
            Operation::Launch(spec) => self.module(spec.module).is_ok_and(Module::may_trap),
            _ => false,
        })
    }

    /// Makes operations ready that are a span by themselves.
    pub(super) fn prepare(&mut self, operations: &[Operation]) -> Result<Prepared, DeviceError> {
        if self.open.is_some() {
            let message = "another span is under way".to_owned();
            return Err(DeviceError::Internal(message));
        }
        self.staging.clear();
        let may_trap = self.may_trap(operations);
        self.prepare_more(operations, may_trap)
    }

    /// The same for a part of a span. `may_trap`: what the span launches may, this part included.
    pub(super) fn prepare_more(
        &mut self,
        operations: &[Operation],
        may_trap: bool,
    ) -> Result<Prepared, DeviceError> {
        self.context.alive()?;
        // Of these launches alone: the modules that are loaded besides have no part in their faults.
        self.context.note_trap(may_trap);
        let parts = Parts {
            context: &self.context,
            memory: &self.memory,
            modules: &mut self.modules,
            staging: &mut self.staging,
        };
        parts.prepare(operations)
    }

    pub(super) fn give_back(&mut self, buffers: &[BufferId]) -> Result<(), DeviceError> {
        buffers
            .iter()
            .try_for_each(|buffer| self.memory.free(*buffer))
    }
}
