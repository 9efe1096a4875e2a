//! Streams, events and everything else that only orders.

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
    )
}
