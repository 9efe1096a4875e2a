//! Streams, events and everything else that only orders.

use crate::failure::Fallible;
use crate::interpreter::Interpreter;
use crate::interpreter::value::Value;
use crate::source::text::At;
use crate::types::Scalar;

impl Interpreter<'_> {
    pub(super) fn stream_call(
        &mut self,
        name: &str,
        values: &[Value],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, values) {
            (
                "cudaStreamCreate"
                | "cudaStreamCreateWithFlags"
                | "cudaStreamCreateWithPriority"
                | "cudaEventCreate"
                | "cudaEventCreateWithFlags",
                [target, ..],
            ) => self.store_through(target, Value::Handle, at),
            ("cudaEventElapsedTime", [target, _, _]) => {
                self.warn(
                    at,
                    "cudaEventElapsedTime gives 0 here: the plan is made before anything runs",
                    "remove it; the judge measures",
                );
                self.store_through(target, Value::Floating(Scalar::Float, 0.0), at)
            }
            ("cudaDeviceGetStreamPriorityRange", [least, greatest]) => self
                .store_through(least, Value::int(0), at)
                .and_then(|_| self.store_through(greatest, Value::int(-5), at)),
            _ => return None,
        })
    }
}

/// Calls that only order, tell of errors or give hints: one stream keeps the order anyway.
pub(super) fn is_ordering(name: &str) -> bool {
    matches!(
        name,
        "cudaDeviceSynchronize"
            | "cudaThreadSynchronize"
            | "cudaStreamSynchronize"
            | "cudaGetLastError"
            | "cudaPeekAtLastError"
            | "cudaSetDevice"
            | "cudaStreamDestroy"
            | "cudaStreamWaitEvent"
            | "cudaStreamQuery"
            | "cudaEventRecord"
            | "cudaEventSynchronize"
            | "cudaEventDestroy"
            | "cudaEventQuery"
            | "cudaFuncSetCacheConfig"
            | "cudaDeviceSetCacheConfig"
            | "cudaFuncSetSharedMemConfig"
            | "cudaMemPrefetchAsync"
            | "cudaMemAdvise"
            | "cudaStreamAttachMemAsync"
            | "cudaDeviceReset"
            | "cudaDeviceSetLimit"
            | "cudaDeviceSetSharedMemConfig"
            | "cudaSetDeviceFlags"
            | "cudaInitDevice"
            | "cudaHostRegister"
            | "cudaHostUnregister"
            | "cudaProfilerStart"
            | "cudaProfilerStop"
            | "cudaCtxResetPersistingL2Cache"
            | "cudaStreamSetAttribute"
    )
}
