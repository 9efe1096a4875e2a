//! What host code may ask about the device, answered from the target's limits.

use std::rc::Rc;

use super::types::runtime_type;
use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{Target, Value};
use crate::plan::Buffer;
use crate::source::text::At;
use crate::types::{Record, Scalar, Type};
use domain::TargetLimits;

/// Fields of `cudaDeviceProp` that host code reads, with where they come from.
type Property = (&'static str, Scalar, fn(&TargetLimits) -> u64);

/// What the target does not tell is answered as the cards of its kind do.
const PROPERTIES: [Property; 39] = [
    ("multiProcessorCount", Scalar::Int, |l| {
        l.multiprocessors.into()
    }),
    ("maxThreadsPerBlock", Scalar::Int, |l| {
        l.max_threads_per_block.into()
    }),
    ("maxThreadsPerMultiProcessor", Scalar::Int, |l| {
        l.max_threads_per_multiprocessor.into()
    }),
    ("maxBlocksPerMultiProcessor", Scalar::Int, |l| {
        l.max_blocks_per_multiprocessor.into()
    }),
    ("sharedMemPerBlock", Scalar::ULong, |l| {
        l.shared_memory_per_block_bytes.into()
    }),
    ("sharedMemPerBlockOptin", Scalar::ULong, |l| {
        l.shared_memory_per_block_optin_bytes.into()
    }),
    ("sharedMemPerMultiprocessor", Scalar::ULong, |l| {
        l.shared_memory_per_multiprocessor_bytes.into()
    }),
    ("reservedSharedMemPerBlock", Scalar::ULong, reserved_shared),
    ("regsPerBlock", Scalar::Int, |l| {
        l.registers_per_multiprocessor.into()
    }),
    ("regsPerMultiprocessor", Scalar::Int, |l| {
        l.registers_per_multiprocessor.into()
    }),
    ("warpSize", Scalar::Int, |l| l.warp_size.into()),
    ("totalGlobalMem", Scalar::ULong, |l| l.global_memory_bytes),
    ("totalConstMem", Scalar::ULong, |l| l.constant_memory_bytes),
    ("l2CacheSize", Scalar::Int, |l| l.l2_bytes),
    ("persistingL2CacheMaxSize", Scalar::Int, persisting_l2),
    ("accessPolicyMaxWindowSize", Scalar::Int, |_| 128 << 20),
    ("major", Scalar::Int, |l| l.compute_major.into()),
    ("minor", Scalar::Int, |l| l.compute_minor.into()),
    ("memoryBusWidth", Scalar::Int, |l| l.memory_bus_bits.into()),
    ("clockRate", Scalar::Int, |l| l.clock_hz / 1000),
    ("memoryClockRate", Scalar::Int, memory_clock_khz),
    ("memPitch", Scalar::ULong, |_| MAX_PITCH),
    ("textureAlignment", Scalar::ULong, |_| 512),
    ("texturePitchAlignment", Scalar::ULong, |_| 32),
    ("deviceOverlap", Scalar::Int, |_| 1),
    ("asyncEngineCount", Scalar::Int, |_| 3),
    ("kernelExecTimeoutEnabled", Scalar::Int, |_| 0),
    ("integrated", Scalar::Int, |_| 0),
    ("canMapHostMemory", Scalar::Int, |_| 1),
    ("computeMode", Scalar::Int, |_| 0),
    ("ECCEnabled", Scalar::Int, |_| 1),
    ("unifiedAddressing", Scalar::Int, |_| 1),
    ("managedMemory", Scalar::Int, |_| 1),
    ("concurrentManagedAccess", Scalar::Int, |_| 1),
    ("streamPrioritiesSupported", Scalar::Int, |_| 1),
    ("cooperativeLaunch", Scalar::Int, |_| 1),
    ("concurrentKernels", Scalar::Int, |_| 1),
    ("memoryPoolsSupported", Scalar::Int, |_| 1),
    ("clusterLaunch", Scalar::Int, clusters),
];

/// Characters of `cudaDeviceProp::name`, with the zero at the end.
const NAME_CHARS: usize = 256;
/// What `memPitch` says on every card.
const MAX_PITCH: u64 = 2_147_483_647;

/// Shared memory the system keeps of every block.
fn reserved_shared(limits: &TargetLimits) -> u64 {
    if limits.compute_major >= 8 { 1024 } else { 0 }
}

fn persisting_l2(limits: &TargetLimits) -> u64 {
    limits.l2_bytes * 5 / 8
}

fn clusters(limits: &TargetLimits) -> u64 {
    u64::from(limits.compute_major >= 9)
}

/// The target does not tell it; an H200 says this.
fn memory_clock_khz(_: &TargetLimits) -> u64 {
    3_201_000
}

/// `cudaDeviceProp`, as far as it is known.
pub(super) fn device_properties_record() -> Record {
    let extents = Type::Array(Rc::new(Type::Scalar(Scalar::Int)), 3);
    let mut members: Vec<(String, Type)> = PROPERTIES
        .iter()
        .map(|&(name, scalar, _)| (name.to_owned(), Type::Scalar(scalar)))
        .collect();
    for name in ["maxThreadsDim", "maxGridSize"] {
        members.push((name.to_owned(), extents.clone()));
    }
    let name = Type::Array(Rc::new(Type::Scalar(Scalar::Char)), NAME_CHARS as u64);
    members.push(("name".to_owned(), name));
    Record::new("cudaDeviceProp", members).expect("scalars have sizes")
}

impl Interpreter<'_> {
    /// `cudaGetDeviceProperties(&properties, device)`.
    pub(super) fn device_properties(&mut self, target: &Value, at: At) -> Fallible<Value> {
        let mut fields: Vec<Option<Value>> = PROPERTIES
            .iter()
            .map(|&(_, scalar, value)| {
                Some(Value::Integer(
                    scalar,
                    scalar.wrap(value(self.limits).into()),
                ))
            })
            .collect();
        let record = Rc::new(device_properties_record());
        let tail = record.fields.iter().skip(fields.len());
        let extents = [self.limits.max_block, self.limits.max_grid];
        let tail: Vec<Option<Value>> = tail
            .zip(extents)
            .map(|(field, extents)| {
                let values = extents.map(|extent| Some(Value::int(extent.into())));
                Some(Value::Row(field.ty.clone(), values.to_vec()))
            })
            .collect();
        fields.extend(tail);
        let name = record.fields.last();
        fields.push(name.map(|field| Value::Row(field.ty.clone(), name_chars(self.limits))));
        self.spend(NAME_CHARS as u64 / 4, at)?;
        self.store_through(target, Value::Record(record, fields), at)
    }

    /// `cudaDeviceGetAttribute(&value, attribute, device)`.
    pub(super) fn device_attribute(
        &mut self,
        target: &Value,
        attribute: &Value,
        at: At,
    ) -> Fallible<Value> {
        let l = self.limits;
        let Value::Integer(_, attribute) = attribute else {
            return Err(Fault::unsupported(
                at,
                "a device attribute that is no number",
                "name it: cudaDevAttrMultiProcessorCount and its like",
            ));
        };
        let value: u64 = match attribute {
            1 => l.max_threads_per_block.into(),
            2..=4 => l.max_block[(*attribute - 2) as usize].into(),
            5..=7 => l.max_grid[(*attribute - 5) as usize].into(),
            8 => l.shared_memory_per_block_bytes.into(),
            9 => l.constant_memory_bytes,
            10 => l.warp_size.into(),
            11 => MAX_PITCH,
            12 | 82 => l.registers_per_multiprocessor.into(),
            13 => l.clock_hz / 1000,
            14 => 512,
            17 | 18 => 0,
            15 | 19 | 31 | 41 | 78 | 83 | 89 | 95 | 115 => 1,
            16 => l.multiprocessors.into(),
            36 => memory_clock_khz(l),
            37 => l.memory_bus_bits.into(),
            38 => l.l2_bytes,
            39 => l.max_threads_per_multiprocessor.into(),
            40 => 3,
            75 => l.compute_major.into(),
            76 => l.compute_minor.into(),
            81 => l.shared_memory_per_multiprocessor_bytes.into(),
            97 => l.shared_memory_per_block_optin_bytes.into(),
            106 => l.max_blocks_per_multiprocessor.into(),
            111 => reserved_shared(l),
            120 => clusters(l),
            _ => {
                return Err(Fault::unsupported(
                    at,
                    format!("the device attribute {attribute} is not known"),
                    "write its value as a constant",
                ));
            }
        };
        self.store_through(target, Value::int(value.into()), at)
    }

    /// `cudaMemGetInfo(&free, &total)`.
    pub(super) fn memory_info(&mut self, free: &Value, total: &Value, at: At) -> Fallible<Value> {
        let bytes = self.limits.global_memory_bytes;
        let parameters = self
            .parameter_bytes
            .iter()
            .fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
        let used = self.scratch.live_bytes().saturating_add(parameters);
        let size = |bytes: u64| Value::Integer(Scalar::ULong, bytes.into());
        self.store_through(free, size(bytes.saturating_sub(used)), at)?;
        self.store_through(total, size(bytes), at)
    }

    /// `cudaDeviceGetLimit(&value, limit)`: as on a device whose limits nobody changed.
    pub(super) fn device_limit(
        &mut self,
        target: &Value,
        limit: &Value,
        at: At,
    ) -> Fallible<Value> {
        let bytes: i128 = match limit {
            Value::Integer(_, 0) => 1024,
            Value::Integer(_, 1 | 2) => 8 << 20,
            Value::Integer(_, 3) => 2,
            Value::Integer(_, 4) => 2048,
            Value::Integer(_, 5) => 64,
            _ => 0,
        };
        self.store_through(target, Value::Integer(Scalar::ULong, bytes), at)
    }

    /// `cudaPointerGetAttributes(&attributes, pointer)`.
    pub(super) fn pointer_attributes(
        &mut self,
        target: &Value,
        pointer: &Value,
        at: At,
    ) -> Fallible<Value> {
        let Value::Pointer(_, place) = pointer else {
            return Err(Fault::host(
                at,
                "the attributes of something that is no pointer",
            ));
        };
        let address = |target: &Target| Some(Value::pointer(Type::Void, false, target.clone()));
        let (kind, device, host) = match place {
            Target::Device(device) if self.scratch.is_managed(*device) => (3, place, &Target::NULL),
            Target::Device(device) if device.buffer == Buffer::Null => {
                (0, &Target::NULL, &Target::NULL)
            }
            Target::Device(_) => (2, place, &Target::NULL),
            Target::Host(_) | Target::Symbol(_) => (0, &Target::NULL, place),
        };
        let fields = vec![
            Some(Value::int(kind)),
            Some(Value::int(0)),
            address(device),
            address(host),
        ];
        let Some(Type::Record(record)) = runtime_type("cudaPointerAttributes") else {
            return Err(Fault::unsupported(
                at,
                "cudaPointerGetAttributes in this place",
                "pointers in the signature are device pointers",
            ));
        };
        self.store_through(target, Value::Record(record, fields), at)
    }
}

/// The card's name as an array of characters.
fn name_chars(limits: &TargetLimits) -> Vec<Option<Value>> {
    let name = limits.name.bytes().take(NAME_CHARS - 1);
    name.chain(std::iter::repeat(0))
        .take(NAME_CHARS)
        .map(|byte| Some(Value::Integer(Scalar::Char, Scalar::Char.wrap(byte.into()))))
        .collect()
}
