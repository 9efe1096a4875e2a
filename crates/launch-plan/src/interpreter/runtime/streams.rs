//! Streams, events and everything else that only orders.

use super::constants::LAUNCH_ACCESS_POLICY;
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
            ("cudaStreamGetAttribute", [_, _, _]) => Ok(Value::SUCCESS),
            ("cudaStreamSetAttribute", [_, attribute, _]) => {
                if *attribute == Value::int(LAUNCH_ACCESS_POLICY) {
                    self.warn_about_access_policy(at);
                }
                Ok(Value::SUCCESS)
            }
            (
                "cudaStreamGetPriority" | "cudaStreamGetFlags" | "cudaStreamGetDevice",
                [_, target],
            ) => self.store_through(target, Value::int(0), at),
            _ => return None,
        })
    }

    /// Which lines the L2 prefers is the judge's to settle before each timed run.
    pub(in crate::interpreter) fn warn_about_access_policy(&mut self, at: At) {
        self.warn(
            at,
            "the access-policy window is left out: the L2 treats all lines alike here",
            "use createpolicy or ld.global.L2::evict_last in the kernel, which are",
        );
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
            | "cudaStreamCopyAttributes"
            | "cudaEventRecordWithFlags"
            | "cudaThreadExchangeStreamCaptureMode"
            | "cudaGraphUpload"
            | "cudaGraphDestroy"
            | "cudaGraphExecDestroy"
            | "cudaMemPoolDestroy"
            | "cudaMemPoolTrimTo"
            | "cudaMemPoolSetAttribute"
            | "cudaMemPoolSetAccess"
            | "cudaDeviceSetMemPool"
            | "cudaDeviceEnablePeerAccess"
            | "cudaDeviceDisablePeerAccess"
            | "cudaThreadExit"
    )
}
