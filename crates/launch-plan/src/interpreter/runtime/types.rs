//! Types that the CUDA headers define, as far as host code makes values of them.

use std::rc::Rc;

use super::queries::device_properties_record;
use crate::types::{Record, Scalar, Type};

/// A type of the runtime or the driver by its name.
pub(in crate::interpreter) fn runtime_type(name: &str) -> Option<Type> {
    let name = name.strip_prefix("cuda::").unwrap_or(name);
    let record = |record: Option<Record>| record.map(|record| Type::Record(Rc::new(record)));
    match name {
        "cudaStream_t" | "cudaEvent_t" | "CUstream" | "CUevent" => Some(Type::Handle),
        "cudaDeviceProp" => Some(Type::Record(Rc::new(device_properties_record()))),
        "cudaLaunchConfig_t" => record(launch_config()),
        "cudaLaunchAttribute" => record(launch_attribute()),
        "cudaLaunchAttributeValue" => record(launch_attribute_value()),
        "cudaFuncAttributes" => record(function_attributes()),
        "cudaPointerAttributes" => record(pointer_attributes()),
        "CUtensorMap" | "CUtensorMap_st" => Some(Type::TensorMap),
        "cuuint32_t" => Some(Type::Scalar(Scalar::UInt)),
        "cuuint64_t" => Some(Type::Scalar(Scalar::ULong)),
        _ if is_enum(name) => Some(Type::Scalar(Scalar::Int)),
        // The types of driver entry points, versioned or not.
        _ if name.starts_with("PFN_cu") => Some(Type::Kernel),
        _ => None,
    }
}

fn is_enum(name: &str) -> bool {
    matches!(
        name,
        "cudaLaunchAttributeID"
            | "cudaLimit"
            | "cudaMemoryType"
            | "cudaSharedMemConfig"
            | "cudaDriverEntryPointQueryResult"
            | "cudaClusterSchedulingPolicy"
            | "CUdriverProcAddressQueryResult"
            | "CUtensorMapDataType"
            | "CUtensorMapInterleave"
            | "CUtensorMapSwizzle"
            | "CUtensorMapL2promotion"
            | "CUtensorMapFloatOOBfill"
    )
}

fn fields(members: &[(&str, Type)]) -> Vec<(String, Type)> {
    members
        .iter()
        .map(|(name, ty)| ((*name).to_owned(), ty.clone()))
        .collect()
}

fn launch_config() -> Option<Record> {
    let dim3 = Type::Record(Rc::new(Record::builtin("dim3")?));
    let attribute = Type::Record(Rc::new(launch_attribute()?));
    let members = [
        ("gridDim", dim3.clone()),
        ("blockDim", dim3),
        ("dynamicSmemBytes", Type::SIZE),
        ("stream", Type::Handle),
        ("attrs", Type::pointer_to(attribute, false)),
        ("numAttrs", Type::Scalar(Scalar::UInt)),
    ];
    Record::new("cudaLaunchConfig_t", fields(&members))
}

fn launch_attribute() -> Option<Record> {
    let value = Type::Record(Rc::new(launch_attribute_value()?));
    let members = [("id", Type::Scalar(Scalar::Int)), ("val", value)];
    Record::new("cudaLaunchAttribute", fields(&members))
}

/// A union in the headers; which field counts is told by the attribute's id.
fn launch_attribute_value() -> Option<Record> {
    let (int, uint) = (Type::Scalar(Scalar::Int), Type::Scalar(Scalar::UInt));
    let cluster = [("x", uint.clone()), ("y", uint.clone()), ("z", uint)];
    let cluster = Record::new("cudaLaunchAttributeValue::clusterDim", fields(&cluster))?;
    let members = [
        ("clusterDim", Type::Record(Rc::new(cluster))),
        ("cooperative", int.clone()),
        ("programmaticStreamSerializationAllowed", int.clone()),
        ("clusterSchedulingPolicyPreference", int.clone()),
        ("priority", int),
    ];
    Record::new("cudaLaunchAttributeValue", fields(&members))
}

fn function_attributes() -> Option<Record> {
    let int = Type::Scalar(Scalar::Int);
    let members = [
        ("sharedSizeBytes", Type::SIZE),
        ("constSizeBytes", Type::SIZE),
        ("localSizeBytes", Type::SIZE),
        ("maxThreadsPerBlock", int.clone()),
        ("numRegs", int.clone()),
        ("ptxVersion", int.clone()),
        ("binaryVersion", int.clone()),
        ("cacheModeCA", int.clone()),
        ("maxDynamicSharedSizeBytes", int.clone()),
        ("preferredShmemCarveout", int),
    ];
    Record::new("cudaFuncAttributes", fields(&members))
}

fn pointer_attributes() -> Option<Record> {
    let int = Type::Scalar(Scalar::Int);
    let pointer = Type::pointer_to(Type::Void, false);
    let members = [
        ("type", int.clone()),
        ("device", int),
        ("devicePointer", pointer.clone()),
        ("hostPointer", pointer),
    ];
    Record::new("cudaPointerAttributes", fields(&members))
}
