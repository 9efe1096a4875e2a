//! Types that the CUDA headers define, as far as host code makes values of them.

use std::rc::Rc;

use super::queries::device_properties_record;
use crate::types::{Record, Scalar, Type};

const INT: Type = Type::Scalar(Scalar::Int);
const UINT: Type = Type::Scalar(Scalar::UInt);
const SIZE: Type = Type::SIZE;

/// A type of the runtime or the driver by its name.
pub(in crate::interpreter) fn runtime_type(name: &str) -> Option<Type> {
    let name = name.strip_prefix("cuda::").unwrap_or(name);
    match name {
        "cudaStream_t" | "cudaEvent_t" | "cudaGraph_t" | "cudaGraphExec_t" | "cudaGraphNode_t"
        | "cudaMemPool_t" | "CUstream" | "CUevent" | "CUcontext" => Some(Type::Handle),
        "CUfunction" | "CUkernel" | "cudaFunction_t" | "cudaKernel_t" => Some(Type::Kernel),
        // An address that fits every pointer parameter, as its bytes do.
        "CUdeviceptr" => Some(Type::pointer_to(Type::Named(name.to_owned()), false)),
        "CUtensorMap" | "CUtensorMap_st" => Some(Type::TensorMap),
        "cuuint32_t" => Some(UINT),
        "cuuint64_t" => Some(Type::Scalar(Scalar::ULong)),
        // So that the call that makes one is met, which says what to do instead.
        "cudaTextureObject_t" | "cudaSurfaceObject_t" => Some(Type::Scalar(Scalar::ULongLong)),
        "cudaArray_t" | "cudaMipmappedArray_t" => Some(Type::Handle),
        _ if is_enum(name) => Some(INT),
        // The types of driver entry points, versioned or not.
        _ if name.starts_with("PFN_cu") => Some(Type::Kernel),
        _ => {
            let record = of_launches(name)
                .or_else(|| of_memory(name))
                .or_else(|| of_answers(name));
            record.map(|record| Type::Record(Rc::new(record)))
        }
    }
}

fn is_enum(name: &str) -> bool {
    matches!(
        name,
        "cudaLaunchAttributeID"
            | "cudaStreamAttrID"
            | "cudaLimit"
            | "cudaMemoryType"
            | "cudaMemoryAdvise"
            | "cudaSharedMemConfig"
            | "cudaDriverEntryPointQueryResult"
            | "cudaClusterSchedulingPolicy"
            | "cudaAccessProperty"
            | "cudaStreamCaptureMode"
            | "cudaStreamCaptureStatus"
            | "cudaGraphExecUpdateResult"
            | "cudaGraphInstantiateFlags"
            | "cudaMemPoolAttr"
            | "cudaMemAllocationType"
            | "cudaMemAllocationHandleType"
            | "cudaMemLocationType"
            | "cudaMemAccessFlags"
            | "CUdriverProcAddressQueryResult"
            | "CUlaunchAttributeID"
            | "CUdevice_attribute"
            | "CUfunction_attribute"
            | "CUtensorMapDataType"
            | "CUtensorMapInterleave"
            | "CUtensorMapSwizzle"
            | "CUtensorMapL2promotion"
            | "CUtensorMapFloatOOBfill"
    )
}

fn record(name: &str, members: &[(&str, Type)]) -> Option<Record> {
    let members = members.iter();
    let members = members.map(|(name, ty)| ((*name).to_owned(), ty.clone()));
    Record::new(name, members.collect())
}

fn pointer() -> Type {
    Type::pointer_to(Type::Void, false)
}

fn dim3() -> Option<Type> {
    Some(Type::Record(Rc::new(Record::builtin("dim3")?)))
}

/// Configurations and attributes of launches.
fn of_launches(name: &str) -> Option<Record> {
    match name {
        "cudaLaunchConfig_t" => record(
            name,
            &[
                ("gridDim", dim3()?),
                ("blockDim", dim3()?),
                ("dynamicSmemBytes", SIZE),
                ("stream", Type::Handle),
                (
                    "attrs",
                    Type::pointer_to(runtime_type("cudaLaunchAttribute")?, false),
                ),
                ("numAttrs", UINT),
            ],
        ),
        "CUlaunchConfig" => record(
            name,
            &[
                ("gridDimX", UINT),
                ("gridDimY", UINT),
                ("gridDimZ", UINT),
                ("blockDimX", UINT),
                ("blockDimY", UINT),
                ("blockDimZ", UINT),
                ("sharedMemBytes", UINT),
                ("hStream", Type::Handle),
                (
                    "attrs",
                    Type::pointer_to(runtime_type("CUlaunchAttribute")?, false),
                ),
                ("numAttrs", UINT),
            ],
        ),
        "cudaLaunchAttribute" => {
            let value = runtime_type("cudaLaunchAttributeValue")?;
            record(name, &[("id", INT), ("val", value)])
        }
        "CUlaunchAttribute" => {
            let value = runtime_type("CUlaunchAttributeValue")?;
            record(name, &[("id", INT), ("value", value)])
        }
        // A union in the headers; which field counts is told by the attribute's id.
        "cudaLaunchAttributeValue"
        | "CUlaunchAttributeValue"
        | "cudaStreamAttrValue"
        | "cudaKernelNodeAttrValue" => {
            let cluster = [("x", UINT), ("y", UINT), ("z", UINT)];
            let cluster = record("cudaLaunchAttributeValue::clusterDim", &cluster)?;
            record(
                name,
                &[
                    ("clusterDim", Type::Record(Rc::new(cluster))),
                    ("cooperative", INT),
                    ("programmaticStreamSerializationAllowed", INT),
                    ("clusterSchedulingPolicyPreference", INT),
                    ("priority", INT),
                    (
                        "accessPolicyWindow",
                        runtime_type("cudaAccessPolicyWindow")?,
                    ),
                ],
            )
        }
        "cudaAccessPolicyWindow" | "CUaccessPolicyWindow" => record(
            name,
            &[
                ("base_ptr", pointer()),
                ("num_bytes", SIZE),
                ("hitRatio", Type::Scalar(Scalar::Float)),
                ("hitProp", INT),
                ("missProp", INT),
            ],
        ),
        _ => None,
    }
}

/// Volumes, positions in them, and pools.
fn of_memory(name: &str) -> Option<Record> {
    match name {
        "cudaExtent" => record(name, &[("width", SIZE), ("height", SIZE), ("depth", SIZE)]),
        "cudaPos" => record(name, &[("x", SIZE), ("y", SIZE), ("z", SIZE)]),
        "cudaPitchedPtr" => record(
            name,
            &[
                ("ptr", pointer()),
                ("pitch", SIZE),
                ("xsize", SIZE),
                ("ysize", SIZE),
            ],
        ),
        "cudaMemcpy3DParms" => {
            let (position, pitched) = (runtime_type("cudaPos")?, runtime_type("cudaPitchedPtr")?);
            record(
                name,
                &[
                    ("srcArray", pointer()),
                    ("srcPos", position.clone()),
                    ("srcPtr", pitched.clone()),
                    ("dstArray", pointer()),
                    ("dstPos", position),
                    ("dstPtr", pitched),
                    ("extent", runtime_type("cudaExtent")?),
                    ("kind", INT),
                ],
            )
        }
        "cudaMemLocation" => record(name, &[("type", INT), ("id", INT)]),
        "cudaMemAccessDesc" => record(
            name,
            &[
                ("location", runtime_type("cudaMemLocation")?),
                ("flags", INT),
            ],
        ),
        "cudaMemPoolProps" => record(
            name,
            &[
                ("allocType", INT),
                ("handleTypes", INT),
                ("location", runtime_type("cudaMemLocation")?),
                ("win32SecurityAttributes", pointer()),
                ("maxSize", SIZE),
                ("usage", Type::Scalar(Scalar::UShort)),
            ],
        ),
        _ => None,
    }
}

/// What queries fill in.
fn of_answers(name: &str) -> Option<Record> {
    match name {
        "cudaDeviceProp" => Some(device_properties_record()),
        "cudaFuncAttributes" => record(
            name,
            &[
                ("sharedSizeBytes", SIZE),
                ("constSizeBytes", SIZE),
                ("localSizeBytes", SIZE),
                ("maxThreadsPerBlock", INT),
                ("numRegs", INT),
                ("ptxVersion", INT),
                ("binaryVersion", INT),
                ("cacheModeCA", INT),
                ("maxDynamicSharedSizeBytes", INT),
                ("preferredShmemCarveout", INT),
            ],
        ),
        "cudaPointerAttributes" => record(
            name,
            &[
                ("type", INT),
                ("device", INT),
                ("devicePointer", pointer()),
                ("hostPointer", pointer()),
            ],
        ),
        _ => None,
    }
}
