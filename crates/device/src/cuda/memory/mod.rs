//! Buffers, their guard bands, and the memory limit.
//!
//! Every call here leaves its own stream empty, so that what it did is done before any other stream
//! goes on. A freed buffer keeps its address in the table: an operation of the host that names it is
//! refused as a use after free. A kernel's access to it cannot be noticed on a GPU: the memory may
//! belong to another buffer by then, or to none, which is an illegal address.
#![allow(unsafe_code)]

mod bands;
mod transfers;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use cudarc::driver::sys::{self, CUresult};
use domain::VerdictKind;

use super::context::Context;
use super::driver::{DriverError, cu};
use super::guard::{GUARD_BYTES, Layout};
use super::stream::Stream;
use crate::{Address, BufferId, DeviceError, Fault};

/// Activities of making a buffer: its two bands are filled.
pub(super) const ALLOCATION_ACTIVITIES: usize = 2;

pub(super) struct Memory {
    context: Rc<Context>,
    stream: Stream,
    limit_bytes: u64,
    used_bytes: u64,
    buffers: BTreeMap<BufferId, Buffer>,
    /// Addresses of host memory that is pinned.
    pinned: Range<usize>,
    /// A violation seen when a buffer was freed, kept for the next check.
    seen: Option<Fault>,
}

struct Buffer {
    label: String,
    bytes: u64,
    address: u64,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An allocation with bands.
    Own(Layout),
    /// A module's variable.
    Symbol,
    Freed,
}

impl Memory {
    pub(super) fn new(context: &Rc<Context>, limit_bytes: u64) -> Result<Self, DriverError> {
        Ok(Self {
            stream: Stream::new(context)?,
            context: Rc::clone(context),
            limit_bytes,
            used_bytes: 0,
            buffers: BTreeMap::new(),
            pinned: 0..0,
            seen: None,
        })
    }

    /// Admits so many bytes besides those in use. The card must have them: buffers within the limit that it
    /// has no memory for later are nobody's doing whom the limit binds.
    pub(super) fn admit(&mut self, bytes: u64, reserve_bytes: u64) -> Result<(), DeviceError> {
        let free = self.context.told(self.context.free_bytes())?;
        let wanted = bytes.saturating_add(reserve_bytes);
        if free < wanted {
            return Err(DeviceError::Internal(format!(
                "the card has {free} bytes free and the judging may need {wanted}: it is too small, or \
                 something else uses it"
            )));
        }
        self.limit_bytes = self.used_bytes.saturating_add(bytes);
        Ok(())
    }

    /// Counts memory that was allocated elsewhere.
    pub(super) fn charge(&mut self, bytes: u64) -> Result<(), DeviceError> {
        let available_bytes = self.limit_bytes.saturating_sub(self.used_bytes);
        if bytes > available_bytes {
            return Err(DeviceError::OutOfMemory {
                requested_bytes: bytes,
                available_bytes,
            });
        }
        self.used_bytes += bytes;
        Ok(())
    }

    /// Makes a buffer. Bands do not count towards the limit. The device does [`ALLOCATION_ACTIVITIES`].
    pub(super) fn allocate(&mut self, bytes: u64, label: &str) -> Result<BufferId, DeviceError> {
        self.context.alive()?;
        let available_bytes = self.limit_bytes.saturating_sub(self.used_bytes);
        let layout = Layout::around(bytes)
            .filter(|_| bytes <= available_bytes)
            .ok_or(DeviceError::OutOfMemory {
                requested_bytes: bytes,
                available_bytes,
            })?;
        let base = match allocate(layout.total_bytes()) {
            Err(DriverError::Call {
                code: CUresult::CUDA_ERROR_OUT_OF_MEMORY,
                ..
            }) => {
                let free_bytes = self.context.told(self.context.free_bytes())?;
                return Err(shrunk(label, bytes, free_bytes));
            }
            outcome => self.context.told(outcome)?,
        };
        let id = self.insert(Buffer {
            label: label.to_owned(),
            bytes,
            address: base + layout.start(),
            place: Place::Own(layout),
        });
        self.used_bytes += bytes;
        let made = self
            .fill(base, GUARD_BYTES)
            .and_then(|()| self.fill(base + layout.behind(), layout.behind_bytes()));
        self.context.told(made)?;
        self.stream.synchronise()?;
        Ok(id)
    }

    /// Gives a buffer back, after a look at its bands.
    pub(super) fn free(&mut self, id: BufferId) -> Result<(), DeviceError> {
        self.context.alive()?;
        let buffer = self.buffer(id)?;
        let layout = match buffer.place {
            Place::Own(layout) => layout,
            Place::Freed => return Ok(()),
            Place::Symbol => {
                let message = "a module's variable cannot be freed".to_owned();
                return Err(DeviceError::Internal(message));
            }
        };
        let (base, bytes) = (buffer.address - layout.start(), buffer.bytes);
        let found = self.inspect(buffer, layout)?;
        self.seen = self.seen.take().or(found);
        // SAFETY: from `cuMemAlloc` and freed once, as the place says; nothing is queued that uses it,
        // because operations are waited for before anything is freed.
        self.context.told(unsafe { cu!(cuMemFree_v2(base)) })?;
        self.used_bytes -= bytes;
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.place = Place::Freed;
        }
        Ok(())
    }

    pub(super) fn size_bytes(&self, id: BufferId) -> Result<u64, DeviceError> {
        self.buffer(id).map(|buffer| buffer.bytes)
    }

    /// Makes a module's variable known as a buffer, or says where a known one lies now.
    pub(super) fn place_symbol(
        &mut self,
        known: Option<BufferId>,
        label: &str,
        address: u64,
        bytes: u64,
    ) -> BufferId {
        let buffer = Buffer {
            label: label.to_owned(),
            bytes,
            address,
            place: Place::Symbol,
        };
        match known {
            Some(id) => {
                self.buffers.insert(id, buffer);
                id
            }
            None => self.insert(buffer),
        }
    }

    /// The device address as a kernel sees it. It may lie outside every buffer.
    pub(super) fn resolve(&self, address: Address) -> Result<u64, DeviceError> {
        match address {
            Address::Null => Ok(0),
            Address::Buffer {
                buffer,
                offset_bytes,
            } => Ok(self
                .buffer(buffer)?
                .address
                .wrapping_add_signed(offset_bytes)),
        }
    }

    /// The device address of a range that an operation of the host touches. `freed` holds buffers that
    /// operations before it give back. The words are those of the emulated device.
    pub(super) fn range(
        &self,
        call: &str,
        address: Address,
        bytes: u64,
        freed: &BTreeSet<BufferId>,
    ) -> Result<u64, DeviceError> {
        let fault = |kind, what: String| {
            DeviceError::Fault(Fault {
                kind,
                message: format!("{call}: {what}"),
                line: None,
            })
        };
        let Address::Buffer {
            buffer: id,
            offset_bytes,
        } = address
        else {
            let what = "0x0 is not a device address".to_owned();
            return Err(fault(VerdictKind::OutOfBounds, what));
        };
        let buffer = self.buffer(id)?;
        if buffer.place == Place::Freed || freed.contains(&id) {
            let what = format!("`{}` was freed", buffer.label);
            return Err(fault(VerdictKind::UseAfterFree, what));
        }
        let fits = u64::try_from(offset_bytes)
            .ok()
            .and_then(|offset| offset.checked_add(bytes))
            .is_some_and(|end| end <= buffer.bytes);
        if !fits {
            let what = format!(
                "{bytes} bytes at offset {offset_bytes} do not fit `{}`, which has {} bytes",
                buffer.label, buffer.bytes
            );
            return Err(fault(VerdictKind::OutOfBounds, what));
        }
        Ok(buffer.address.wrapping_add_signed(offset_bytes))
    }

    fn insert(&mut self, buffer: Buffer) -> BufferId {
        // Entries are never removed, so their number is the next free name.
        let id = BufferId(u32::try_from(self.buffers.len()).unwrap_or(u32::MAX));
        self.buffers.insert(id, buffer);
        id
    }

    fn buffer(&self, id: BufferId) -> Result<&Buffer, DeviceError> {
        self.buffers
            .get(&id)
            .ok_or_else(|| DeviceError::Internal(format!("no such buffer: {id:?}")))
    }
}

/// The card lacks memory that the limit admits.
fn shrunk(label: &str, bytes: u64, free_bytes: u64) -> DeviceError {
    DeviceError::Internal(format!(
        "`{label}` needs {bytes} bytes, which the limit admits, but the card has {free_bytes} free: its \
         memory shrank, perhaps because something else uses it"
    ))
}

fn allocate(bytes: u64) -> Result<sys::CUdeviceptr, DriverError> {
    let mut base = 0;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    // SAFETY: a context is current on this thread, and the pointer is valid.
    unsafe { cu!(cuMemAlloc_v2(&raw mut base, bytes)) }?;
    Ok(base)
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        for buffer in self.buffers.values() {
            if let Place::Own(layout) = buffer.place {
                // SAFETY: from `cuMemAlloc` and not freed, as the place says.
                let _freed = unsafe { cu!(cuMemFree_v2(buffer.address - layout.start())) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_has_less_than_was_admitted_is_not_the_authors_fault() {
        let shrunk = shrunk("x", 1000, 10);
        assert!(matches!(shrunk, DeviceError::Internal(_)), "{shrunk}");
        assert!(shrunk.to_string().contains("1000 bytes"), "{shrunk}");
    }
}
