//! Streams and events. Waiting is polling, so that kernels without end cannot hold the process.
#![allow(unsafe_code)]

use std::rc::Rc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUresult};
use domain::VerdictKind;

use super::context::Context;
use super::driver::{DriverError, cu};
use crate::{DeviceError, Fault};

/// Spans are mostly shorter than this; what takes longer need not hold a core.
const SPIN: Duration = Duration::from_millis(20);
/// Between two looks after that.
const NAP: Duration = Duration::from_micros(100);

/// A queue that does not wait for the default stream.
pub(super) struct Stream {
    context: Rc<Context>,
    handle: sys::CUstream,
}

impl Stream {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, DriverError> {
        let mut handle = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is current on this thread, and the pointer is valid.
        unsafe { cu!(cuStreamCreate(&raw mut handle, flags)) }?;
        Ok(Self {
            context: Rc::clone(context),
            handle,
        })
    }

    pub(super) fn handle(&self) -> sys::CUstream {
        self.handle
    }

    /// Waits for all that is queued. Past the limit the context is lost: what runs cannot be stopped.
    pub(super) fn wait(&self, limit: Duration) -> Result<(), DeviceError> {
        self.wait_since(Instant::now(), limit)
    }

    /// The same where the limit is of something that began before.
    pub(super) fn wait_since(&self, begun: Instant, limit: Duration) -> Result<(), DeviceError> {
        let called = Instant::now();
        loop {
            // SAFETY: the stream lives as long as `self`.
            match unsafe { sys::cuStreamQuery(self.handle) } {
                CUresult::CUDA_SUCCESS => break,
                CUresult::CUDA_ERROR_NOT_READY => {}
                code => {
                    let call = "cuStreamQuery";
                    return self.context.told(Err(DriverError::Call { call, code }));
                }
            }
            if begun.elapsed() > limit {
                self.context.lose();
                return Err(too_long(limit));
            }
            if called.elapsed() > SPIN {
                std::thread::sleep(NAP);
            } else {
                std::hint::spin_loop();
            }
        }
        self.synchronise()
    }

    /// Waits without a limit: only for work that ends by itself, or has ended. What kernels printed
    /// goes to the process's standard output here.
    pub(super) fn synchronise(&self) -> Result<(), DeviceError> {
        // SAFETY: the stream lives as long as `self`.
        self.context
            .told(unsafe { cu!(cuStreamSynchronize(self.handle)) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.context.is_lost() {
            // SAFETY: made by `new` and not destroyed before. What fails here goes with the process.
            let _destroyed = unsafe { cu!(cuStreamDestroy_v2(self.handle)) };
        }
    }
}

/// What runs for longer than it may.
pub(super) fn too_long(limit: Duration) -> DeviceError {
    DeviceError::TimeLimit(Fault {
        kind: VerdictKind::WallClock,
        message: format!("the kernels ran longer than {} s", limit.as_secs_f64()),
        line: None,
    })
}

/// A moment on a stream's clock.
pub(super) struct Event {
    context: Rc<Context>,
    handle: sys::CUevent,
}

impl Event {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, DriverError> {
        let mut handle = std::ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: the context is current on this thread, and the pointer is valid.
        unsafe { cu!(cuEventCreate(&raw mut handle, flags)) }?;
        Ok(Self {
            context: Rc::clone(context),
            handle,
        })
    }

    pub(super) fn record(&self, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: both handles live.
        unsafe { cu!(cuEventRecord(self.handle, stream.handle)) }
    }

    /// Time from this event to a later one; both have happened.
    pub(super) fn until(&self, later: &Self) -> Result<Duration, DriverError> {
        let mut milliseconds = 0.0;
        // SAFETY: both handles live, and the pointer is valid.
        unsafe {
            cu!(cuEventElapsedTime_v2(
                &raw mut milliseconds,
                self.handle,
                later.handle
            ))
        }?;
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds).max(0.0) / 1e3,
        ))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.context.is_lost() {
            // SAFETY: made by `new` and not destroyed before. What fails here goes with the process.
            let _destroyed = unsafe { cu!(cuEventDestroy_v2(self.handle)) };
        }
    }
}
