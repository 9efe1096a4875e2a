//! Page-locked host memory from which a span's uploads are read.
//!
//! One area a device, reused from span to span: it is filled before a span and must not be filled
//! again before that span has ended.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::rc::Rc;

use cudarc::driver::sys;

use super::context::Context;
use super::driver::{DriverError, cu};

/// Each upload starts on a line of its own.
const ALIGN_BYTES: usize = 256;

pub(super) struct Staging {
    context: Rc<Context>,
    start: *mut u8,
    bytes: usize,
}

impl Staging {
    /// An area without memory.
    pub(super) fn new(context: &Rc<Context>) -> Self {
        Self {
            context: Rc::clone(context),
            start: std::ptr::null_mut(),
            bytes: 0,
        }
    }

    /// Puts the pieces into the area and says where each lies.
    pub(super) fn fill(&mut self, pieces: &[&[u8]]) -> Result<Vec<*const c_void>, DriverError> {
        let places = places(pieces.iter().map(|piece| piece.len()));
        self.reserve(places.end)?;
        let put = |(piece, at): (&&[u8], usize)| {
            // SAFETY: `places` lays the pieces out one after the other within `end` bytes, which are
            // reserved; the area is this process's own and nothing else refers to it between spans.
            unsafe {
                let to = self.start.add(at);
                std::ptr::copy_nonoverlapping(piece.as_ptr(), to, piece.len());
                to.cast_const().cast()
            }
        };
        Ok(pieces.iter().zip(places.starts).map(put).collect())
    }

    fn reserve(&mut self, bytes: usize) -> Result<(), DriverError> {
        if bytes <= self.bytes {
            return Ok(());
        }
        self.release();
        let wanted = bytes.next_power_of_two();
        let mut start = std::ptr::null_mut();
        // SAFETY: the context is current on this thread, and the pointer is valid.
        unsafe { cu!(cuMemAllocHost_v2(&raw mut start, wanted)) }?;
        self.start = start.cast();
        self.bytes = wanted;
        Ok(())
    }

    fn release(&mut self) {
        if !self.start.is_null() && !self.context.is_lost() {
            // SAFETY: from `cuMemAllocHost`, freed once; no span is under way.
            let _freed = unsafe { cu!(cuMemFreeHost(self.start.cast())) };
        }
        self.start = std::ptr::null_mut();
        self.bytes = 0;
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
