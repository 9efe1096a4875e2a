//! Page-locked host memory through which spans move bytes: uploads are read from it, and what is read back
//! arrives in it.
//!
//! Within a span everything has a place of its own, since what was put on the device may not have ended.
//! Only between spans is the memory used again.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::rc::Rc;

use cudarc::driver::sys;

use super::context::Context;
use super::driver::{DriverError, cu};

/// Each piece starts on a line of its own.
const ALIGN_BYTES: usize = 256;

pub(super) struct Staging {
    context: Rc<Context>,
    /// Each larger than the one before; the last is in use.
    areas: Vec<Area>,
    /// Bytes of the last area that are taken.
    used: usize,
}

struct Area {
    start: *mut u8,
    bytes: usize,
}

impl Staging {
    /// Without memory.
    pub(super) fn new(context: &Rc<Context>) -> Self {
        Self {
            context: Rc::clone(context),
            areas: Vec::new(),
            used: 0,
        }
    }

    /// Forgets every piece. Must not be called while a span is under way.
    pub(super) fn clear(&mut self) {
        let last = self.areas.pop();
        self.release();
        self.areas.extend(last);
        self.used = 0;
    }

    /// Puts pieces into places of their own and says where.
    pub(super) fn add(&mut self, pieces: &[&[u8]]) -> Result<Vec<*const c_void>, DriverError> {
        let places = places(pieces.iter().map(|piece| piece.len()));
        let base = self.room(places.end)?;
        let put = |(piece, at): (&&[u8], usize)| {
            // SAFETY: `places` lays the pieces out one after the other within `end` bytes, which `room`
            // gave; the memory is this process's own and nothing else refers to it.
            unsafe {
                let to = base.add(at);
                std::ptr::copy_nonoverlapping(piece.as_ptr(), to, piece.len());
                to.cast_const().cast()
            }
        };
        Ok(pieces.iter().zip(places.starts).map(put).collect())
    }

    /// So many bytes that nothing else uses until the span has ended; dangling for none.
    pub(super) fn room(&mut self, bytes: usize) -> Result<*mut u8, DriverError> {
        if bytes == 0 {
            return Ok(std::ptr::dangling_mut());
        }
        let start = match self.areas.last() {
            Some(area) if bytes <= area.bytes - self.used => self.used,
            last => {
                let least = last.map_or(0, |area| area.bytes * 2);
                self.grow(bytes.max(least))?;
                0
            }
        };
        let area = self.areas.last().expect("one was there or was made");
        self.used = (start + bytes)
            .next_multiple_of(ALIGN_BYTES)
            .min(area.bytes);
        // SAFETY: `start` lies within the area, which has `bytes` bytes from there on.
        Ok(unsafe { area.start.add(start) })
    }

    /// Makes memory for so many bytes, so that none need be made within the span that comes.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<(), DriverError> {
        match self.areas.last() {
            Some(area) if bytes <= area.bytes - self.used => Ok(()),
            _ => self.grow(bytes),
        }
    }

    fn grow(&mut self, bytes: usize) -> Result<(), DriverError> {
        let bytes = bytes.next_power_of_two();
        let mut start = std::ptr::null_mut();
        // SAFETY: the context is current on this thread, and the pointer is valid.
        unsafe { cu!(cuMemAllocHost_v2(&raw mut start, bytes)) }?;
        self.areas.push(Area {
            start: start.cast(),
            bytes,
        });
        self.used = 0;
        Ok(())
    }

    fn release(&mut self) {
        for area in self.areas.drain(..) {
            if !self.context.is_lost() {
                // SAFETY: from `cuMemAllocHost`, freed once; no span is under way.
                let _freed = unsafe { cu!(cuMemFreeHost(area.start.cast())) };
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.release();
    }
}

/// Locks host memory in place and makes it known to the device. Pages that were never touched are made.
/// Kernels can reach it afterwards.
pub(super) fn pin(start: *mut u8, bytes: usize, is_writable: bool) -> Result<(), DriverError> {
    let mut flags = sys::CU_MEMHOSTREGISTER_PORTABLE;
    if !is_writable {
        flags |= sys::CU_MEMHOSTREGISTER_READ_ONLY;
    }
    // SAFETY: a context is current on this thread. The driver checks that the range is mapped, and holds
    // its pages itself: memory that is unmapped later is not freed under a copy.
    unsafe { cu!(cuMemHostRegister_v2(start.cast(), bytes, flags)) }
}

struct Places {
    starts: Vec<usize>,
    end: usize,
}

fn places(lengths: impl Iterator<Item = usize>) -> Places {
    let mut end = 0usize;
    let starts = lengths
        .map(|length| {
            let start = end;
            end = (end + length).next_multiple_of(ALIGN_BYTES);
            start
        })
        .collect();
    Places { starts, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_share_a_line() {
        let laid = places([1, 0, 256, 257].into_iter());
        assert_eq!(laid.starts, [0, 256, 256, 512]);
        assert_eq!(laid.end, 1024);
    }
}
