//! What host code may ask about the device, answered from the target's limits.

use std::rc::Rc;

use super::Interpreter;
use super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::types::{Record, Scalar, Type};
use domain::TargetLimits;

/// Fields of `cudaDeviceProp` that host code reads, with where they come from.
type Property = (&'static str, Scalar, fn(&TargetLimits) -> u64);

const PROPERTIES: [Property; 19] = [
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
    ("major", Scalar::Int, |l| l.compute_major.into()),
    ("minor", Scalar::Int, |l| l.compute_minor.into()),
    ("memoryBusWidth", Scalar::Int, |l| l.memory_bus_bits.into()),
    ("clockRate", Scalar::Int, |l| l.clock_hz / 1000),
    ("cooperativeLaunch", Scalar::Int, |_| 1),
    ("concurrentKernels", Scalar::Int, |_| 1),
];

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
            return Err(Fault::unsupported(at, "this device attribute", ""));
        };
        let value: u64 = match attribute {
            1 => l.max_threads_per_block.into(),
            2..=4 => l.max_block[(*attribute - 2) as usize].into(),
            5..=7 => l.max_grid[(*attribute - 5) as usize].into(),
            8 => l.shared_memory_per_block_bytes.into(),
            9 => l.constant_memory_bytes,
            10 => l.warp_size.into(),
            12 | 82 => l.registers_per_multiprocessor.into(),
            13 => l.clock_hz / 1000,
            16 => l.multiprocessors.into(),
            37 => l.memory_bus_bits.into(),
            38 => l.l2_bytes,
            39 => l.max_threads_per_multiprocessor.into(),
            75 => l.compute_major.into(),
            76 => l.compute_minor.into(),
            81 => l.shared_memory_per_multiprocessor_bytes.into(),
            95 => 1,
            97 => l.shared_memory_per_block_optin_bytes.into(),
            106 => l.max_blocks_per_multiprocessor.into(),
            _ => {
                return Err(Fault::unsupported(
                    at,
                    format!("the device attribute {attribute} is not known"),
                    "",
                ));
            }
        };
        self.store_through(target, Value::int(value.into()), at)
    }

    /// `*target = value;`, then success.
    pub(super) fn store_through(
        &mut self,
        target: &Value,
        value: Value,
        at: At,
    ) -> Fallible<Value> {
        let Value::Pointer(_, Target::Host(place)) = target else {
            return Err(
                Fault::host(at, "the result is to be stored where no host variable is")
                    .hint("pass the address of a variable"),
            );
        };
        let ty = self.memory.type_at(place, at)?;
        let value = self.convert(value, &ty, at)?;
        self.memory.store(place, value, at)?;
        Ok(Value::SUCCESS)
    }
}
