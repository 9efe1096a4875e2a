//! Copies between host memory and buffers.
#![allow(unsafe_code)]

use std::ops::Range;

use super::{Memory, Place};
use crate::cuda::driver::cu;
use crate::{BufferId, DeviceError};

impl Memory {
    /// Remembers which host memory is pinned. A copy must not reach across its end: the driver refuses it.
    pub(in crate::cuda) fn note_pinned(&mut self, range: Range<usize>) {
        self.pinned = range;
    }

    pub(in crate::cuda) fn write(&mut self, id: BufferId, data: &[u8]) -> Result<(), DeviceError> {
        self.context.alive()?;
        let address = self.whole(id, data.len())?;
        if data.is_empty() {
            return Ok(());
        }
        let stream = self.stream.handle();
        let (first, rest) = data.split_at(self.until_pinned_end(data));
        for (at, part) in [(0, first), (first.len(), rest)] {
            if part.is_empty() {
                continue;
            }
            // SAFETY: `whole` found the range within a live buffer; `data` outlives the wait below.
            let copied = unsafe {
                cu!(cuMemcpyHtoDAsync_v2(
                    address + at as u64,
                    part.as_ptr().cast(),
                    part.len(),
                    stream
                ))
            };
            self.context.told(copied)?;
        }
        self.stream.synchronise()
    }

    pub(in crate::cuda) fn read_into(
        &self,
        id: BufferId,
        data: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.context.alive()?;
        let address = self.whole(id, data.len())?;
        self.fetch(address, data)
    }

    /// The address of a buffer that `length` bytes from its start must fit.
    fn whole(&self, id: BufferId, length: usize) -> Result<u64, DeviceError> {
        let buffer = self.buffer(id)?;
        if buffer.place == Place::Freed || length as u64 > buffer.bytes {
            let message = format!("{length} bytes do not fit `{}`", buffer.label);
            return Err(DeviceError::Internal(message));
        }
        Ok(buffer.address)
    }

    pub(super) fn fetch(&self, address: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        if data.is_empty() {
            return Ok(());
        }
        let stream = self.stream.handle();
        let (first, rest) = data.split_at_mut(self.until_pinned_end(data));
        let behind = first.len();
        for (at, part) in [(0, first), (behind, rest)] {
            if part.is_empty() {
                continue;
            }
            // SAFETY: called for ranges within a live allocation; `data` outlives the wait below.
            let copied = unsafe {
                cu!(cuMemcpyDtoHAsync_v2(
                    part.as_mut_ptr().cast(),
                    address + at as u64,
                    part.len(),
                    stream
                ))
            };
            self.context.told(copied)?;
        }
        self.stream.synchronise()
    }

    /// How much of host memory one copy may take: up to the end of what is pinned, where that lies within.
    fn until_pinned_end(&self, data: &[u8]) -> usize {
        let start = data.as_ptr().addr();
        match self.pinned.end.checked_sub(start) {
            Some(length) if self.pinned.contains(&start) => length.min(data.len()),
            _ => data.len(),
        }
    }
}
