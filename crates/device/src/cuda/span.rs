//! Spans that are decided while they go on: segments of work, and read-backs between them.
//!
//! All of it is one measurement and has one limit: the host's decisions are gaps like any other. Nothing
//! that the device refers to is used again before the span has ended.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::time::Instant;

use super::driver::cu;
use super::memory::ALLOCATION_ACTIVITIES;
use super::stream::too_long;
use super::timer::Window;
use super::{CudaDevice, QUEUE};
use crate::{Address, BufferId, DeviceError, Operation, Span, StreamId};

/// Host memory made beforehand; flags and centroids are smaller.
const STAGED_BYTES: usize = 1 << 20;

/// A span under way.
pub(super) struct OpenSpan {
    stream: StreamId,
    begun: Instant,
    window: Window,
    /// What the device has been given to do, each one record of the timer.
    activities: usize,
    /// How much of it may not have ended.
    queued: usize,
    /// Whether a module that was launched from contains a trap.
    may_trap: bool,
    /// What to give back at the end.
    frees: Vec<BufferId>,
}

impl CudaDevice {
    pub(super) fn begin(&mut self, stream: StreamId, is_measured: bool) -> Result<(), DeviceError> {
        self.context.alive()?;
        if self.open.is_some() {
            return Err(DeviceError::Internal(
                "another span is under way".to_owned(),
            ));
        }
        self.staging.clear();
        self.context.told(self.staging.reserve(STAGED_BYTES))?;
        let on = self.stream_of(stream)?;
        let window = if is_measured {
            self.timer.open(&self.context, on)?
        } else {
            Window::Unmeasured
        };
        self.open = Some(OpenSpan {
            stream,
            begun: Instant::now(),
            window,
            activities: 0,
            queued: 0,
            may_trap: false,
            frees: Vec::new(),
        });
        Ok(())
    }

    /// Does something within the span, which goes on whatever comes of it.
    pub(super) fn in_span<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &mut OpenSpan) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let mut open = self.open.take().ok_or_else(no_span)?;
        let done = act(self, &mut open);
        self.open = Some(open);
        done
    }

    pub(super) fn issue_in(
        &mut self,
        open: &mut OpenSpan,
        operations: &[Operation],
    ) -> Result<(), DeviceError> {
        open.may_trap |= self.may_trap(operations);
        let prepared = self.prepare_more(operations, open.may_trap)?;
        open.frees.extend(prepared.frees);
        for work in &prepared.work {
            if open.queued >= QUEUE {
                self.wait_in(open)?;
            }
            work.enqueue(&self.context, self.stream_of(open.stream)?)?;
            open.activities += 1;
            open.queued += 1;
        }
        // Of small kernels without end each is waited for in time.
        match open.begun.elapsed() > self.span_limit {
            true => Err(too_long(self.span_limit)),
            false => Ok(()),
        }
    }

    pub(super) fn fetch_in(
        &mut self,
        open: &mut OpenSpan,
        from: Address,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.context.alive()?;
        let bytes = into.len();
        // What was freed within the span is refused by who decided to free it.
        let freed = BTreeSet::new();
        let source = self
            .memory
            .range("cudaMemcpy", from, bytes as u64, &freed)?;
        if bytes == 0 {
            return self.wait_in(open);
        }
        let room = self.context.told(self.staging.room(bytes))?;
        let stream = self.stream_of(open.stream)?.handle();
        // SAFETY: `range` found the source within a live buffer; nothing else uses the room, which stays
        // until the span has ended.
        let copied = unsafe { cu!(cuMemcpyDtoHAsync_v2(room.cast(), source, bytes, stream)) };
        self.context.told(copied)?;
        open.activities += 1;
        self.wait_in(open)?;
        // SAFETY: the copy into the room has ended; `into` is another piece of memory of that length.
        unsafe { std::ptr::copy_nonoverlapping(room.cast_const(), into.as_mut_ptr(), bytes) };
        Ok(())
    }

    /// Before a buffer is made: the driver may wait for what runs, and knows no limit.
    pub(super) fn within_span(&mut self) -> Result<(), DeviceError> {
        if self.open.is_none() {
            return Ok(());
        }
        self.in_span(|device, open| {
            device.wait_in(open)?;
            open.activities += ALLOCATION_ACTIVITIES;
            Ok(())
        })
    }

    pub(super) fn end(&mut self) -> Result<Span, DeviceError> {
        let open = self.open.take().ok_or_else(no_span)?;
        self.context.alive()?;
        let limit = (open.begun, self.span_limit);
        let on = self.stream_of(open.stream)?;
        let duration = self
            .timer
            .close(&self.context, on, open.window, open.activities, limit);
        let given_back = self.give_back(&open.frees);
        let duration = duration?;
        given_back?;
        Ok(Span {
            duration,
            ..Span::default()
        })
    }

    fn wait_in(&self, open: &mut OpenSpan) -> Result<(), DeviceError> {
        self.stream_of(open.stream)?
            .wait_since(open.begun, self.span_limit)?;
        open.queued = 0;
        Ok(())
    }
}

fn no_span() -> DeviceError {
    DeviceError::Internal("no span is under way".to_owned())
}
