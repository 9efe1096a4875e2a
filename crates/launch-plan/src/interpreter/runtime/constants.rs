//! Names that the CUDA headers define.

/// The direction flags of `cudaMemcpy`.
pub(in crate::interpreter) const HOST_TO_HOST: i128 = 0;
pub(in crate::interpreter) const HOST_TO_DEVICE: i128 = 1;
pub(in crate::interpreter) const DEVICE_TO_HOST: i128 = 2;
pub(in crate::interpreter) const DEVICE_TO_DEVICE: i128 = 3;

/// The attributes of `cudaFuncSetAttribute` that a plan knows.
pub(super) const MAX_DYNAMIC_SHARED: i128 = 8;
pub(super) const NON_PORTABLE_CLUSTERS: i128 = 14;

/// The attributes of `cudaLaunchKernelEx` that change what is launched.
pub(in crate::interpreter) const LAUNCH_ACCESS_POLICY: i128 = 1;
pub(in crate::interpreter) const LAUNCH_COOPERATIVE: i128 = 2;
pub(in crate::interpreter) const LAUNCH_CLUSTER: i128 = 4;

/// The value of an enumerator or macro of the CUDA headers.
pub(in crate::interpreter) fn runtime_constant(name: &str) -> Option<i128> {
    let name = name.rsplit("::").next().unwrap_or(name);
    general(name)
        .or_else(|| of_kernels_and_launches(name))
        .or_else(|| device_attribute(name))
        .or_else(|| of_the_driver(name))
        .or_else(|| of_graphs_and_memory(name))
        .or_else(|| tensor_map(name))
}

fn general(name: &str) -> Option<i128> {
    Some(match name {
        "cudaSuccess" | "CUDA_SUCCESS" | "cudaStreamDefault" | "cudaEventDefault" => 0,
        "cudaErrorInvalidValue" | "CUDA_ERROR_INVALID_VALUE" => 1,
        "cudaErrorMemoryAllocation" => 2,
        "cudaErrorInvalidConfiguration" => 9,
        "cudaErrorCooperativeLaunchTooLarge" => 720,
        "cudaErrorInvalidDevice" => 101,
        "cudaErrorPeerAccessAlreadyEnabled" => 704,
        "cudaErrorNotReady" | "CUDA_ERROR_NOT_READY" => 600,
        "cudaErrorUnknown" => 999,
        "cudaMemcpyHostToHost" => HOST_TO_HOST,
        "cudaMemcpyHostToDevice" => HOST_TO_DEVICE,
        "cudaMemcpyDeviceToHost" => DEVICE_TO_HOST,
        "cudaMemcpyDeviceToDevice" => DEVICE_TO_DEVICE,
        "cudaMemcpyDefault" => 4,
        "cudaStreamNonBlocking" => 1,
        "cudaEventBlockingSync" => 1,
        "cudaEventDisableTiming" => 2,
        "cudaStreamLegacy" | "cudaStreamPerThread" => 0,
        "cudaHostAllocDefault" | "cudaHostRegisterDefault" => 0,
        "cudaHostAllocPortable" | "cudaMemAttachGlobal" => 1,
        "cudaHostAllocMapped" | "cudaMemAttachHost" => 2,
        "cudaHostAllocWriteCombined" => 4,
        "cudaMemoryTypeUnregistered" => 0,
        "cudaMemoryTypeHost" => 1,
        "cudaMemoryTypeDevice" => 2,
        "cudaMemoryTypeManaged" => 3,
        "cudaLimitStackSize" => 0,
        "cudaLimitPrintfFifoSize" => 1,
        "cudaLimitMallocHeapSize" => 2,
        "cudaLimitDevRuntimeSyncDepth" => 3,
        "cudaLimitDevRuntimePendingLaunchCount" => 4,
        "cudaLimitMaxL2FetchGranularity" => 5,
        "cudaLimitPersistingL2CacheSize" => 6,
        "cudaEnableDefault" | "CU_GET_PROC_ADDRESS_DEFAULT" => 0,
        "cudaEnableLegacyStream" => 1,
        "cudaEnablePerThreadDefaultStream" => 2,
        "cudaDriverEntryPointSuccess" | "CU_GET_PROC_ADDRESS_SUCCESS" => 0,
        "cudaDriverEntryPointSymbolNotFound" => 1,
        "cudaDriverEntryPointVersionNotSufficent" => 2,
        "CUDART_VERSION" | "CUDA_VERSION" => 13_000,
        _ => return None,
    })
}

fn of_kernels_and_launches(name: &str) -> Option<i128> {
    Some(match name {
        "cudaFuncAttributeMaxDynamicSharedMemorySize" => MAX_DYNAMIC_SHARED,
        "cudaFuncAttributePreferredSharedMemoryCarveout" => 9,
        "cudaFuncAttributeClusterDimMustBeSet" => 10,
        "cudaFuncAttributeRequiredClusterWidth" => 11,
        "cudaFuncAttributeRequiredClusterHeight" => 12,
        "cudaFuncAttributeRequiredClusterDepth" => 13,
        "cudaFuncAttributeNonPortableClusterSizeAllowed" => NON_PORTABLE_CLUSTERS,
        "cudaFuncAttributeClusterSchedulingPolicyPreference" => 15,
        "cudaSharedmemCarveoutDefault" => -1,
        "cudaSharedmemCarveoutMaxL1" => 0,
        "cudaSharedmemCarveoutMaxShared" => 100,
        "cudaFuncCachePreferNone" => 0,
        "cudaFuncCachePreferShared" => 1,
        "cudaFuncCachePreferL1" => 2,
        "cudaFuncCachePreferEqual" => 3,
        "cudaSharedMemBankSizeDefault" => 0,
        "cudaSharedMemBankSizeFourByte" => 1,
        "cudaSharedMemBankSizeEightByte" => 2,
        "cudaOccupancyDefault" => 0,
        "cudaOccupancyDisableCachingOverride" => 1,
        "cudaLaunchAttributeIgnore" => 0,
        "cudaLaunchAttributeAccessPolicyWindow" | "cudaStreamAttributeAccessPolicyWindow" => {
            LAUNCH_ACCESS_POLICY
        }
        "cudaLaunchAttributeCooperative" => LAUNCH_COOPERATIVE,
        "cudaLaunchAttributeSynchronizationPolicy" => 3,
        "cudaLaunchAttributeClusterDimension" => LAUNCH_CLUSTER,
        "cudaLaunchAttributeClusterSchedulingPolicyPreference" => 5,
        "cudaLaunchAttributeProgrammaticStreamSerialization" => 6,
        "cudaLaunchAttributeProgrammaticEvent" => 7,
        "cudaLaunchAttributePriority" => 8,
        "cudaClusterSchedulingPolicyDefault" => 0,
        "cudaClusterSchedulingPolicySpread" => 1,
        "cudaClusterSchedulingPolicyLoadBalancing" => 2,
        _ => return None,
    })
}

fn device_attribute(name: &str) -> Option<i128> {
    Some(match name.strip_prefix("cudaDevAttr")? {
        "MaxThreadsPerBlock" => 1,
        "MaxBlockDimX" => 2,
        "MaxBlockDimY" => 3,
        "MaxBlockDimZ" => 4,
        "MaxGridDimX" => 5,
        "MaxGridDimY" => 6,
        "MaxGridDimZ" => 7,
        "MaxSharedMemoryPerBlock" => 8,
        "TotalConstantMemory" => 9,
        "WarpSize" => 10,
        "MaxPitch" => 11,
        "MaxRegistersPerBlock" => 12,
        "ClockRate" => 13,
        "TextureAlignment" => 14,
        "GpuOverlap" => 15,
        "MultiProcessorCount" => 16,
        "KernelExecTimeout" => 17,
        "Integrated" => 18,
        "CanMapHostMemory" => 19,
        "ConcurrentKernels" => 31,
        "MemoryClockRate" => 36,
        "GlobalMemoryBusWidth" => 37,
        "L2CacheSize" => 38,
        "MaxThreadsPerMultiProcessor" => 39,
        "AsyncEngineCount" => 40,
        "UnifiedAddressing" => 41,
        "ComputeCapabilityMajor" => 75,
        "ComputeCapabilityMinor" => 76,
        "StreamPrioritiesSupported" => 78,
        "MaxSharedMemoryPerMultiprocessor" => 81,
        "MaxRegistersPerMultiprocessor" => 82,
        "ManagedMemory" => 83,
        "ConcurrentManagedAccess" => 89,
        "CooperativeLaunch" => 95,
        "MaxSharedMemoryPerBlockOptin" => 97,
        "MaxBlocksPerMultiprocessor" => 106,
        "ReservedSharedMemoryPerBlock" => 111,
        "MemoryPoolsSupported" => 115,
        "ClusterLaunch" => 120,
        _ => return None,
    })
}

/// Enumerators of the driver; attributes have the runtime's numbers.
fn of_the_driver(name: &str) -> Option<i128> {
    if let Some(attribute) = name.strip_prefix("CU_DEVICE_ATTRIBUTE_") {
        return Some(match attribute {
            "MAX_THREADS_PER_BLOCK" => 1,
            "MAX_SHARED_MEMORY_PER_BLOCK" => 8,
            "WARP_SIZE" => 10,
            "MAX_REGISTERS_PER_BLOCK" => 12,
            "CLOCK_RATE" => 13,
            "MULTIPROCESSOR_COUNT" => 16,
            "L2_CACHE_SIZE" => 38,
            "MAX_THREADS_PER_MULTIPROCESSOR" => 39,
            "COMPUTE_CAPABILITY_MAJOR" => 75,
            "COMPUTE_CAPABILITY_MINOR" => 76,
            "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR" => 81,
            "MAX_REGISTERS_PER_MULTIPROCESSOR" => 82,
            "COOPERATIVE_LAUNCH" => 95,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN" => 97,
            "CLUSTER_LAUNCH" => 120,
            _ => return None,
        });
    }
    Some(match name {
        "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES" => MAX_DYNAMIC_SHARED,
        "CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT" => 9,
        "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED" => NON_PORTABLE_CLUSTERS,
        "CU_LAUNCH_ATTRIBUTE_IGNORE" => 0,
        "CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW" => LAUNCH_ACCESS_POLICY,
        "CU_LAUNCH_ATTRIBUTE_COOPERATIVE" => LAUNCH_COOPERATIVE,
        "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION" => LAUNCH_CLUSTER,
        "CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE" => 5,
        "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION" => 6,
        "CU_LAUNCH_ATTRIBUTE_PRIORITY" => 8,
        "CU_STREAM_DEFAULT" | "CU_EVENT_DEFAULT" => 0,
        "CU_STREAM_NON_BLOCKING" => 1,
        "CU_EVENT_DISABLE_TIMING" => 2,
        _ => return None,
    })
}

fn of_graphs_and_memory(name: &str) -> Option<i128> {
    Some(match name {
        "cudaStreamCaptureModeGlobal" | "cudaStreamCaptureStatusNone" => 0,
        "cudaStreamCaptureModeThreadLocal" | "cudaStreamCaptureStatusActive" => 1,
        "cudaStreamCaptureModeRelaxed" | "cudaStreamCaptureStatusInvalidated" => 2,
        "cudaGraphExecUpdateSuccess" => 0,
        "cudaGraphInstantiateFlagAutoFreeOnLaunch" => 1,
        "cudaGraphInstantiateFlagUpload" => 2,
        "cudaGraphInstantiateFlagUseNodePriority" => 8,
        "cudaEventRecordDefault" | "cudaEventWaitDefault" => 0,
        "cudaEventInterprocess" => 4,
        "cudaMemPoolReuseFollowEventDependencies" => 1,
        "cudaMemPoolReuseAllowOpportunistic" => 2,
        "cudaMemPoolReuseAllowInternalDependencies" => 3,
        "cudaMemPoolAttrReleaseThreshold" => 4,
        "cudaMemPoolAttrReservedMemCurrent" => 5,
        "cudaMemPoolAttrReservedMemHigh" => 6,
        "cudaMemPoolAttrUsedMemCurrent" => 7,
        "cudaMemPoolAttrUsedMemHigh" => 8,
        "cudaMemAllocationTypePinned" | "cudaMemLocationTypeDevice" => 1,
        "cudaMemHandleTypeNone" => 0,
        "cudaMemAccessFlagsProtReadWrite" => 3,
        "cudaMemAdviseSetReadMostly" => 1,
        "cudaMemAdviseUnsetReadMostly" => 2,
        "cudaMemAdviseSetPreferredLocation" => 3,
        "cudaMemAdviseUnsetPreferredLocation" => 4,
        "cudaMemAdviseSetAccessedBy" => 5,
        "cudaMemAdviseUnsetAccessedBy" => 6,
        "cudaMemAttachSingle" => 4,
        "cudaCpuDeviceId" => -1,
        "cudaInvalidDeviceId" => -2,
        "cudaAccessPropertyNormal" => 0,
        "cudaAccessPropertyStreaming" => 1,
        "cudaAccessPropertyPersisting" => 2,
        "cudaHostRegisterPortable" => 1,
        "cudaHostRegisterMapped" => 2,
        "cudaHostRegisterReadOnly" => 8,
        "cudaDeviceScheduleAuto" => 0,
        "cudaDeviceScheduleSpin" => 1,
        "cudaDeviceScheduleYield" => 2,
        "cudaDeviceScheduleBlockingSync" => 4,
        "cudaDeviceMapHost" => 8,
        _ => return None,
    })
}

fn tensor_map(name: &str) -> Option<i128> {
    let name = name.strip_prefix("CU_TENSOR_MAP_")?;
    Some(match name {
        "INTERLEAVE_NONE" | "SWIZZLE_NONE" | "L2_PROMOTION_NONE" | "FLOAT_OOB_FILL_NONE" => 0,
        "INTERLEAVE_16B" | "SWIZZLE_32B" | "L2_PROMOTION_L2_64B" => 1,
        "FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA" => 1,
        "INTERLEAVE_32B" | "SWIZZLE_64B" | "L2_PROMOTION_L2_128B" => 2,
        "SWIZZLE_128B" | "L2_PROMOTION_L2_256B" => 3,
        _ => {
            let types = [
                "UINT8",
                "UINT16",
                "UINT32",
                "INT32",
                "UINT64",
                "INT64",
                "FLOAT16",
                "FLOAT32",
                "FLOAT64",
                "BFLOAT16",
                "FLOAT32_FTZ",
                "TFLOAT32",
                "TFLOAT32_FTZ",
            ];
            let wanted = name.strip_prefix("DATA_TYPE_")?;
            types.iter().position(|ty| *ty == wanted)? as i128
        }
    })
}
