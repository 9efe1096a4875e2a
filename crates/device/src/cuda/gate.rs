//! A gate that a stream waits at until the host has put everything behind it.
//!
//! An event that is recorded before a graph happens while the host still hands the graph over, which
//! takes it longer the more nodes the graph has: a span between two events then has the host's time in
//! it. Behind a closed gate both are in the queue before the device comes to either.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys;

use super::context::Context;
use super::driver::{DriverError, cu};
use super::stream::Stream;
use crate::DeviceError;

const CLOSED: u32 = 0;
const OPEN: u32 = 1;

/// The most nodes of a graph that is put behind a gate. A queue that is full keeps the host within the
/// driver, where it could not open the gate any more; a channel holds about a thousand launches.
pub(super) const MOST_NODES: usize = 512;

/// A word of pinned memory that the device looks at.
pub(super) struct Gate {
    context: Rc<Context>,
    word: NonNull<c_void>,
}

impl Gate {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, DeviceError> {
        let mut word = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the context is current on this thread, and the pointer is valid.
        let made = unsafe { cu!(cuMemHostAlloc(&raw mut word, size_of::<AtomicU32>(), flags)) };
        context.told(made)?;
        let word = NonNull::new(word)
            .ok_or_else(|| DeviceError::Internal("pinned memory at no address".to_owned()))?;
        let gate = Self {
            context: Rc::clone(context),
            word,
        };
        gate.open();
        Ok(gate)
    }

    /// Puts all that comes next on an empty stream behind the gate, for as long as the value lives.
    pub(super) fn close(&self, stream: &Stream) -> Result<Closed<'_>, DeviceError> {
        self.word().store(CLOSED, Ordering::Release);
        let closed = Closed(self); // opens, whatever becomes of the next call
        let mut address = 0;
        let flags = sys::CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ as u32;
        // SAFETY: the word and the stream live, and the pointer is valid.
        let waits = unsafe {
            cu!(cuMemHostGetDevicePointer_v2(
                &raw mut address,
                self.word.as_ptr(),
                0
            ))
            .and_then(|()| {
                cu!(cuStreamWaitValue32_v2(
                    stream.handle(),
                    address,
                    OPEN,
                    flags
                ))
            })
        };
        self.context.told(waits)?;
        Ok(closed)
    }

    fn open(&self) {
        self.word().store(OPEN, Ordering::Release);
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: pinned memory is aligned to more than a word, is freed with `self` only, and neither
        // side reads or writes it but as a whole word.
        unsafe { AtomicU32::from_ptr(self.word.as_ptr().cast()) }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if !self.context.is_lost() {
            // SAFETY: made by `new` and not freed before. What fails here goes with the process.
            let _freed: Result<(), DriverError> = unsafe { cu!(cuMemFreeHost(self.word.as_ptr())) };
        }
    }
}

/// A gate that opens when this is dropped.
pub(super) struct Closed<'a>(&'a Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}
