//! Operations with everything resolved, so that putting them on a stream does nothing else.
//!
//! Host operations are checked here against the buffers they name, in the words of the emulated
//! device. Buffers given back within the list stay allocated until all of it has ended; operations
//! that name them afterwards are refused all the same.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::c_void;

use super::context::Context;
use super::driver::cu;
use super::fault;
use super::launch::{self, Launch};
use super::memory::Memory;
use super::module::Module;
use super::staging::Staging;
use super::stream::Stream;
use super::tensor_map;
use crate::{Argument, BufferId, DeviceError, LaunchSpec, Operation};

/// Work of the device. Addresses and functions are valid until buffers are freed or modules reloaded.
pub(super) enum Work {
    Launch(Box<Launch>),
    Memset {
        to: u64,
        value: u8,
        bytes: usize,
    },
    Copy {
        to: u64,
        from: u64,
        bytes: usize,
    },
    Upload {
        to: u64,
        from: *const c_void,
        bytes: usize,
    },
}

/// A list of operations, ready to run.
pub(super) struct Prepared {
    /// What the device does, in order; each item is one activity.
    pub(super) work: Vec<Work>,
    /// What to give back when all of it has ended.
    pub(super) frees: Vec<BufferId>,
}

/// What operations refer to.
pub(super) struct Parts<'a> {
    pub(super) context: &'a Context,
    pub(super) memory: &'a Memory,
    pub(super) modules: &'a mut [Module],
    pub(super) staging: &'a mut Staging,
}

impl Parts<'_> {
    /// Resolves and checks a list. Operations of no bytes come to no work.
    pub(super) fn prepare(mut self, operations: &[Operation]) -> Result<Prepared, DeviceError> {
        let mut freed = BTreeSet::new();
        let mut prepared = Prepared {
            work: Vec::new(),
            frees: Vec::new(),
        };
        let mut staged = self.stage(operations)?.into_iter();
        for operation in operations {
            if let Operation::Free(buffer) = operation {
                freed.insert(*buffer);
                prepared.frees.push(*buffer);
                continue;
            }
            let work = self.resolve(operation, &freed, &mut staged)?;
            prepared.work.extend(work.filter(moves_something));
        }
        Ok(prepared)
    }

    /// Puts what is uploaded where the device can fetch it; one place an upload, in order.
    fn stage(&mut self, operations: &[Operation]) -> Result<Vec<*const c_void>, DeviceError> {
        let pieces: Vec<&[u8]> = operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Upload { data, .. } => Some(data.as_slice()),
                _ => None,
            })
            .collect();
        self.context.told(self.staging.add(&pieces))
    }

    fn resolve(
        &mut self,
        operation: &Operation,
        freed: &BTreeSet<BufferId>,
        staged: &mut impl Iterator<Item = *const c_void>,
    ) -> Result<Option<Work>, DeviceError> {
        let range = |call, address, bytes| self.memory.range(call, address, bytes, freed);
        let work = match operation {
            Operation::Free(_) => return Ok(None),
            Operation::Launch(spec) => Work::Launch(Box::new(self.launch(spec)?)),
            Operation::Memset {
                destination,
                value,
                bytes,
            } => Work::Memset {
                to: range("cudaMemset", *destination, *bytes)?,
                value: *value,
                bytes: length(*bytes),
            },
            Operation::Copy {
                destination,
                source,
                bytes,
            } => Work::Copy {
                from: range("cudaMemcpy", *source, *bytes)?,
                to: range("cudaMemcpy", *destination, *bytes)?,
                bytes: length(*bytes),
            },
            Operation::Upload { destination, data } => {
                let from = staged.next().ok_or_else(|| {
                    DeviceError::Internal("an upload without its staged bytes".to_owned())
                })?;
                Work::Upload {
                    to: range("cudaMemcpy", *destination, data.len() as u64)?,
                    from,
                    bytes: data.len(),
                }
            }
        };
        Ok(Some(work))
    }

    fn launch(&mut self, spec: &LaunchSpec) -> Result<Launch, DeviceError> {
        let module = self
            .modules
            .get_mut(spec.module.0 as usize)
            .ok_or_else(|| DeviceError::Internal(format!("no such module: {:?}", spec.module)))?;
        let function = module.function(&spec.kernel)?;
        let arguments = spec
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Pointer(address) => {
                    let address = self.memory.resolve(*address)?;
                    Ok(address.to_le_bytes().to_vec())
                }
                Argument::Value(bytes) => Ok(bytes.clone()),
                Argument::Record { bytes, pointers } => {
                    Argument::record(bytes, pointers, |address| self.memory.resolve(address))
                }
                Argument::TensorMap(map) => tensor_map::encode(map, self.memory.resolve(map.base)?),
            })
            .collect::<Result<Vec<_>, DeviceError>>()?;
        let packed = launch::pack(&spec.kernel, &function.parameters, &arguments)?;
        let made = Launch::new(spec, &function, packed);
        if let Err(error) = &made
            && let Some(refused) = fault::launch_error(error, &launch::asked(spec))
        {
            return Err(refused);
        }
        self.context.told(made)
    }
}

impl Work {
    /// Puts the work on a stream, or into the graph that is captured from it.
    pub(super) fn enqueue(&self, context: &Context, stream: &Stream) -> Result<(), DeviceError> {
        let handle = stream.handle();
        // SAFETY: `prepare` found device ranges within live buffers and host ranges within the staging
        // area; none is freed or refilled before the stream is empty again.
        let outcome = unsafe {
            match *self {
                Self::Launch(ref launch) => {
                    let outcome = launch.enqueue(handle);
                    if let Err(error) = &outcome
                        && let Some(refused) = fault::launch_error(error, &launch.asked)
                    {
                        return Err(refused);
                    }
                    outcome
                }
                Self::Memset { to, value, bytes } => {
                    cu!(cuMemsetD8Async(to, value, bytes, handle))
                }
                Self::Copy { to, from, bytes } => {
                    cu!(cuMemcpyDtoDAsync_v2(to, from, bytes, handle))
                }
                Self::Upload { to, from, bytes } => {
                    cu!(cuMemcpyHtoDAsync_v2(to, from, bytes, handle))
                }
            }
        };
        context.told(outcome)
    }
}

fn moves_something(work: &Work) -> bool {
    match work {
        Work::Launch(_) => true,
        Work::Memset { bytes, .. } | Work::Copy { bytes, .. } | Work::Upload { bytes, .. } => {
            *bytes > 0
        }
    }
}

/// The range was checked against a buffer, which is smaller than the address space.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
