//! Graphs: a list of work that the device runs without the host in between.
#![allow(unsafe_code)]

use std::rc::Rc;

use cudarc::driver::sys::{self, CUstreamCaptureMode};

use super::context::Context;
use super::driver::{DriverError, cu};
use super::stream::Stream;
use super::work::Work;
use crate::DeviceError;

/// A graph that was made ready on the device.
pub(super) struct Graph {
    context: Rc<Context>,
    executable: sys::CUgraphExec,
}

impl Graph {
    /// Makes a graph of the work, `copies` times over, each item after the one before it.
    pub(super) fn of(
        context: &Rc<Context>,
        stream: &Stream,
        work: &[Work],
        copies: u32,
    ) -> Result<Self, DeviceError> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives and is empty.
        context.told(unsafe { cu!(cuStreamBeginCapture_v2(stream.handle(), mode)) })?;
        let put = (0..copies)
            .flat_map(|_| work)
            .try_for_each(|item| item.enqueue(context, stream));
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is capturing, and the pointer is valid.
        let ended = unsafe { cu!(cuStreamEndCapture(stream.handle(), &raw mut graph)) };
        put?; // it says more than the capture that it spoiled
        context.told(ended)?;
        let made = instantiate(graph, stream);
        // SAFETY: the graph comes from the capture; what was instantiated from it lives on by itself.
        let destroyed = unsafe { cu!(cuGraphDestroy(graph)) };
        let executable = context.told(made)?;
        let graph = Self {
            context: Rc::clone(context),
            executable,
        };
        context.told(destroyed)?;
        stream.synchronise()?; // the upload is no part of a span
        Ok(graph)
    }

    pub(super) fn launch(&self, stream: &Stream) -> Result<(), DeviceError> {
        // SAFETY: both handles live, and what the nodes refer to lives until the stream is empty.
        self.context
            .told(unsafe { cu!(cuGraphLaunch(self.executable, stream.handle())) })
    }
}

fn instantiate(graph: sys::CUgraph, stream: &Stream) -> Result<sys::CUgraphExec, DriverError> {
    let mut executable = std::ptr::null_mut();
    // SAFETY: the graph and the stream live, and the pointer is valid.
    unsafe { cu!(cuGraphInstantiateWithFlags(&raw mut executable, graph, 0)) }?;
    // SAFETY: both handles live.
    if let Err(error) = unsafe { cu!(cuGraphUpload(executable, stream.handle())) } {
        // SAFETY: instantiated above, and nothing was launched.
        let _destroyed = unsafe { cu!(cuGraphExecDestroy(executable)) };
        return Err(error);
    }
    Ok(executable)
}

impl Drop for Graph {
    fn drop(&mut self) {
        if !self.context.is_lost() {
            // SAFETY: instantiated once, destroyed once. What fails here goes with the process.
            let _destroyed = unsafe { cu!(cuGraphExecDestroy(self.executable)) };
        }
    }
}
