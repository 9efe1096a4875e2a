//! The guard bands around buffers: filled when one is made, read back when it is looked at.
#![allow(unsafe_code)]

use super::{Buffer, Memory, Place};
use crate::cuda::driver::{DriverError, cu};
use crate::cuda::guard::{self, GUARD_BYTES, Layout, PATTERN, Side};
use crate::{BufferId, DeviceError, Fault};

impl Memory {
    /// Reads every live band back.
    pub(in crate::cuda) fn verify_guards(&self) -> Result<(), DeviceError> {
        self.verify(self.buffers.values())
    }

    /// Reads the bands of some buffers back.
    pub(in crate::cuda) fn verify_guards_of(&self, ids: &[BufferId]) -> Result<(), DeviceError> {
        let buffers: Vec<&Buffer> = ids
            .iter()
            .map(|id| self.buffer(*id))
            .collect::<Result<_, _>>()?;
        self.verify(buffers)
    }

    fn verify<'a>(&self, buffers: impl IntoIterator<Item = &'a Buffer>) -> Result<(), DeviceError> {
        self.context.alive()?;
        if let Some(fault) = &self.seen {
            return Err(DeviceError::Fault(fault.clone()));
        }
        for buffer in buffers {
            if let Place::Own(layout) = buffer.place
                && let Some(fault) = self.inspect(buffer, layout)?
            {
                return Err(DeviceError::Fault(fault));
            }
        }
        Ok(())
    }

    pub(super) fn inspect(
        &self,
        buffer: &Buffer,
        layout: Layout,
    ) -> Result<Option<Fault>, DeviceError> {
        let base = buffer.address - layout.start();
        let length = usize::try_from(layout.behind_bytes()).unwrap_or(usize::MAX);
        let mut behind = vec![0; length];
        self.fetch(base + layout.behind(), &mut behind)?;
        let mut front = [0; GUARD_BYTES as usize];
        self.fetch(base, &mut front)?;
        let (label, bytes) = (&buffer.label, buffer.bytes);
        Ok(guard::violation(label, bytes, Side::After, &behind)
            .or_else(|| guard::violation(label, bytes, Side::Before, &front)))
    }

    pub(super) fn fill(&self, address: u64, bytes: u64) -> Result<(), DriverError> {
        let stream = self.stream.handle();
        // SAFETY: called for ranges within an allocation just made.
        unsafe { cu!(cuMemsetD8Async(address, PATTERN, bytes as usize, stream)) }
    }
}
