//! Device memory that the host function allocates.

use super::Interpreter;
use super::value::{Target, Value};
use crate::failure::{Fallible, Fault};
use crate::plan::{Buffer, Operation, Place};
use crate::source::text::At;

/// Allocations in one plan. Every set of buffers that timed runs take turns on has them all, each with its
/// guard bands, and gives them back one by one.
const MAX_ALLOCATIONS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Scratch {
    allocations: Vec<Allocation>,
    live_bytes: u64,
}

#[derive(Debug)]
struct Allocation {
    bytes: u64,
    at: At,
    line: u32,
    freed_line: Option<u32>,
    /// By cudaMallocManaged: hosts may touch it elsewhere, not here.
    managed: bool,
    /// Freed within a capture: every launch of the graph has it.
    of_graph: bool,
}

impl Scratch {
    /// How to speak of an allocation.
    pub(super) fn name_of(&self, number: u32) -> String {
        match self.allocations.get(number as usize) {
            Some(allocation) if allocation.managed => {
                format!("the managed memory that line {} allocates", allocation.line)
            }
            Some(allocation) => format!("the memory that line {} allocates", allocation.line),
            None => "scratch memory".to_owned(),
        }
    }

    pub(super) fn is_managed(&self, place: Place) -> bool {
        let Buffer::Scratch(number) = place.buffer else {
            return false;
        };
        let allocation = self.allocations.get(number as usize);
        allocation.is_some_and(|allocation| allocation.managed)
    }

    pub(super) fn set_managed(&mut self, place: Place) {
        if let Buffer::Scratch(number) = place.buffer
            && let Some(allocation) = self.allocations.get_mut(number as usize)
        {
            allocation.managed = true;
        }
    }

    /// Bytes that are allocated and not freed.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }
}

impl Interpreter<'_> {
    /// `cudaMalloc`: the address of new memory.
    pub(super) fn allocate_device(&mut self, bytes: u64, at: At) -> Fallible<Target> {
        if bytes == 0 {
            return Ok(Target::NULL);
        }
        let limit = self.limits.global_memory_bytes;
        let live = self.scratch.live_bytes.saturating_add(bytes);
        if live > limit {
            return Err(Fault::launch(
                at,
                format!("{bytes} bytes are allocated; the device has {limit}"),
            )
            .hint("is the byte count negative, or computed in a type that is too narrow?"));
        }
        if self.scratch.allocations.len() >= MAX_ALLOCATIONS {
            let message = format!("the plan has more than {MAX_ALLOCATIONS} device allocations");
            let way_out = "allocate one buffer and pass kernels offsets into it";
            return Err(Fault::fuel(at, message).hint(way_out));
        }
        self.scratch.live_bytes = live;
        let number = u32::try_from(self.scratch.allocations.len()).unwrap_or(u32::MAX);
        let line = self.line(at);
        self.scratch.allocations.push(Allocation {
            bytes,
            at,
            line,
            freed_line: None,
            managed: false,
            of_graph: false,
        });
        self.emit(
            Operation::Allocate {
                scratch: number,
                bytes,
                line,
            },
            at,
        )?;
        Ok(Target::Device(Place {
            buffer: Buffer::Scratch(number),
            offset_bytes: 0,
        }))
    }

    /// `cudaFree`.
    pub(super) fn free_device(&mut self, pointer: &Value, at: At) -> Fallible<()> {
        let Value::Pointer(_, target) = pointer else {
            return Err(Fault::host(at, "cudaFree of something that is no pointer"));
        };
        let place = match target {
            Target::Device(place) => *place,
            _ => {
                return Err(
                    Fault::host(at, "cudaFree of memory that is not the device's")
                        .hint("use free or delete for host memory"),
                );
            }
        };
        match place.buffer {
            Buffer::Null => return Ok(()),
            Buffer::Parameter(_) => {
                let message = format!(
                    "cudaFree of {}, which belongs to the judge",
                    self.place_name(place)
                );
                return Err(Fault::host(at, message).hint("free only what you allocate"));
            }
            Buffer::Symbol(_) => {
                let message = format!("cudaFree of the device variable {}", self.place_name(place));
                return Err(Fault::host(at, message).hint("free only what you allocate"));
            }
            Buffer::Scratch(number) => self.free_scratch(number, place, at)?,
        }
        Ok(())
    }

    fn free_scratch(&mut self, number: u32, place: Place, at: At) -> Fallible<()> {
        self.check_alive(place, at)?;
        if place.offset_bytes != 0 {
            let message = format!(
                "cudaFree of an address {} bytes into {}",
                place.offset_bytes,
                self.place_name(place)
            );
            return Err(Fault::host(at, message));
        }
        let line = self.line(at);
        if self.graphs.is_capturing() {
            if let Some(allocation) = self.scratch.allocations.get_mut(number as usize) {
                allocation.of_graph = true;
            }
            return Ok(());
        }
        if let Some(allocation) = self.scratch.allocations.get_mut(number as usize) {
            allocation.freed_line = Some(line);
            self.scratch.live_bytes -= allocation.bytes;
        }
        self.emit(
            Operation::Free {
                scratch: number,
                line,
            },
            at,
        )
    }

    /// A fault where a place's memory is freed already.
    pub(super) fn check_alive(&self, place: Place, at: At) -> Fallible<()> {
        let Buffer::Scratch(number) = place.buffer else {
            return Ok(());
        };
        let allocation = self.scratch.allocations.get(number as usize);
        match allocation.and_then(|allocation| allocation.freed_line) {
            Some(freed) => {
                let message = format!(
                    "{} is used after line {freed} freed it",
                    self.place_name(place)
                );
                Err(Fault::host(at, message))
            }
            None => Ok(()),
        }
    }

    /// A fault where `bytes` from `place` on do not lie within its buffer.
    pub(super) fn check_span(
        &mut self,
        place: Place,
        bytes: u64,
        what: &str,
        at: At,
    ) -> Fallible<()> {
        self.check_alive(place, at)?;
        let size = match place.buffer {
            Buffer::Null => {
                return Err(Fault::host(at, format!("{what} at the null pointer")));
            }
            Buffer::Parameter(index) => self.parameter_bytes.get(index as usize).copied(),
            Buffer::Symbol(index) => match self.symbol_bytes(index)? {
                Some(bytes) => Some(bytes),
                None => return Ok(()),
            },
            Buffer::Scratch(number) => self
                .scratch
                .allocations
                .get(number as usize)
                .map(|allocation| allocation.bytes),
        };
        let size = size.unwrap_or(0);
        let end = i128::from(place.offset_bytes) + i128::from(bytes);
        if place.offset_bytes < 0 || end > i128::from(size) {
            let message = format!(
                "{what} of {bytes} bytes from offset {} runs past {}, which has {size} bytes",
                place.offset_bytes,
                self.place_name(place)
            );
            return Err(Fault::host(at, message));
        }
        Ok(())
    }

    pub(super) fn warn_about_leaks(&mut self) {
        let allocations = self.scratch.allocations.iter();
        let leaked: Vec<At> = allocations
            .filter(|allocation| allocation.freed_line.is_none() && !allocation.of_graph)
            .map(|allocation| allocation.at)
            .collect();
        // Without the size, which would make it another warning for each shape.
        for at in leaked {
            self.warn(
                at,
                "the device memory that is allocated here is never freed",
                "call cudaFree before the function returns",
            );
        }
    }
}
