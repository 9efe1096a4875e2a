//! Types that host code may not use, told apart so that the message fits.

use super::library::clock_type;
use crate::failure::Fault;
use crate::source::text::At;

/// A type that the host cannot make values of.
pub(super) fn unknown_type(name: &str, at: At) -> Box<Fault> {
    let plain = name.trim_start_matches("std::");
    let base = plain.split('<').next().unwrap_or(plain);
    let container = [
        "string",
        "map",
        "set",
        "unordered_map",
        "unordered_set",
        "tuple",
        "queue",
        "stack",
        "deque",
        "list",
    ];
    if container.contains(&base) {
        return Fault::unsupported(
            at,
            format!("the container `{name}` in host code is not in the host subset"),
            "use std::vector of plain types, std::array or plain variables",
        );
    }
    let held = match base {
        "unique_ptr" | "shared_ptr" => Some(
            "use std::unique_ptr<T> or std::unique_ptr<T[]>, or a struct whose destructor frees the memory",
        ),
        "optional" => {
            Some("use std::optional of a number or a plain struct, or a value and a bool")
        }
        _ => None,
    };
    if let Some(hint) = held {
        return Fault::unsupported(
            at,
            format!("`{name}` in host code is not in the host subset"),
            hint,
        );
    }
    if name.starts_with("thrust::") || name.starts_with("cub::") || name.starts_with("cublas") {
        return library_call(name, at);
    }
    if let Some(full) = library_name(name) {
        return library_call(&full, at);
    }
    if let Some(clock) = clock_type(name, at) {
        return clock;
    }
    if ["thread", "async", "future", "mutex"].contains(&base) {
        return Fault::unsupported(
            at,
            format!("host threads (`{name}`) are not in the host subset"),
            "the plan has one stream; remove them",
        );
    }
    Fault::unsupported(
        at,
        format!("values of type `{name}` are not in the host subset"),
        "scalars, pointers, dim3, CUDA's vector types and plain structs are",
    )
}

/// The full name of a class of CUB or Thrust that `using` made known by its last part.
pub(super) fn library_name(name: &str) -> Option<String> {
    const CUB: [&str; 12] = [
        "DeviceReduce",
        "DeviceScan",
        "DeviceRadixSort",
        "DeviceSegmentedReduce",
        "DeviceSegmentedRadixSort",
        "DeviceSegmentedSort",
        "DeviceMergeSort",
        "DeviceHistogram",
        "DeviceSelect",
        "DevicePartition",
        "DeviceRunLengthEncode",
        "DeviceFor",
    ];
    const THRUST: [&str; 5] = [
        "device_vector",
        "host_vector",
        "device_ptr",
        "device_pointer_cast",
        "raw_pointer_cast",
    ];
    let first = name.split(['<', ':']).next().unwrap_or(name);
    let of = |library: &str, names: &[&str]| {
        names.contains(&first).then(|| format!("{library}::{name}"))
    };
    of("cub", &CUB).or_else(|| of("thrust", &THRUST))
}

/// A library that runs kernels of its own.
pub(super) fn library_call(name: &str, at: At) -> Box<Fault> {
    let library = if name.contains("cublas") {
        "cuBLAS"
    } else if name.contains("thrust") {
        "Thrust"
    } else if name.contains("cub::") {
        "CUB's device-wide algorithms"
    } else if name.contains("cudnn") {
        "cuDNN"
    } else {
        "this library"
    };
    Fault::unsupported(
        at,
        format!("`{name}` is a host call into {library}, which is not in the host subset"),
        "write the kernel yourself; CUB's block and warp primitives work inside kernels",
    )
}
