//! Runs that are interpreted: the host function decides by what kernels computed, in this process, while the
//! device runs.
//!
//! What is interpreted is a tree that was decoded, never a text; the interpreter is safe code that counts its
//! steps and reaches nothing but the device, and that only in the operations of a plan. What kernels left in
//! memory decides which of them come, as it would in the author's own process.

use device::{Address, BufferId, DeviceError, Span};
use domain::{DeviceKind, Verdict, told};
use launch_plan::{
    Answer, DeviceSide, HostProgram, KernelInstance, LiveFailure, Operation, Place, PlanFailure,
    Refused,
};

use super::pool::{Needed, Pool};
use super::run::{MESSAGE_CHARS, RunFailure};
use super::wire::LiveCounts;
use crate::host_code::LiveWork;
use crate::instances::Uncompiled;
use crate::loaded::{Loaded, Places, Scratch};
use crate::wire::Blame;

/// Where a run's scratch memory comes from.
pub(super) enum Memory<'a> {
    /// From the device, each piece of its own size, so that every access past it is found. What it takes to
    /// have the same from a pool goes here.
    Fresh(&'a mut Vec<u64>),
    /// From buffers that were made before.
    Pooled(&'a mut Pool),
}

/// Interprets the host function on buffers. The span is measured where scratch memory is pooled: then
/// nothing of the judge's own lies in it.
pub(super) fn run_live(
    submission: &mut Loaded,
    host: &HostProgram,
    work: &LiveWork,
    parameters: &[Option<BufferId>],
    memory: Memory<'_>,
) -> Result<(Span, LiveCounts), RunFailure> {
    let is_measured = matches!(memory, Memory::Pooled(_));
    submission
        .device
        .begin_span(submission.stream, is_measured)?;
    let mut side = Side {
        submission,
        parameters,
        memory,
        admitted_bytes: work.scratch_bytes,
        held: Vec::new(),
        scratch: Scratch::new(),
        symbols: Vec::new(),
        spare: Vec::new(),
        needed: Needed::default(),
        counts: LiveCounts::default(),
        failure: None,
    };
    let ended = host.run(&work.arguments, &work.limits, &work.kernels, &mut side);
    let span = side.submission.device.end_span(side.submission.stream);
    let (counts, failure) = (side.counts, side.failure.take());
    let freed = side.finish();
    if let Some(failure) = failure {
        return Err(failure);
    }
    match (ended, span) {
        // What kernels did wrong may be why the host function went wrong.
        (_, Err(error)) if !matches!(error, DeviceError::Unmeasured(_)) => Err(error.into()),
        (Err(LiveFailure::Fault(fault)), _) => Err(RunFailure::Blamed(blame(&fault))),
        (Err(LiveFailure::Refused), _) => Err(RunFailure::Ours(
            "the device refused something and did not say why".to_owned(),
        )),
        (Ok(()), span) => {
            freed?;
            Ok((span?, counts))
        }
    }
}

/// A fault of the host function that only this run's values make.
fn blame(fault: &PlanFailure) -> Blame {
    let first = fault.diagnostics.first();
    let message = first.map_or_else(|| fault.to_string(), |first| first.message.clone());
    Blame {
        verdict: fault.verdict(),
        kind: Some(fault.kind),
        message: told(&message, MESSAGE_CHARS),
        line: first.and_then(|first| first.line),
    }
}

/// The device, as the host function reaches it.
struct Side<'a> {
    submission: &'a mut Loaded,
    parameters: &'a [Option<BufferId>],
    memory: Memory<'a>,
    admitted_bytes: u64,
    /// Scratch that is allocated and not freed.
    held: Vec<(u32, u64)>,
    /// Buffers by the numbers of all allocations so far.
    scratch: Scratch,
    /// Device variables by the numbers that places have for them.
    symbols: Vec<Address>,
    /// Buffers that were freed and still are there.
    spare: Vec<(BufferId, u64)>,
    needed: Needed,
    counts: LiveCounts,
    /// Why it refused.
    failure: Option<RunFailure>,
}

impl DeviceSide for Side<'_> {
    fn submit(&mut self, operation: Operation, symbols: &[String]) -> Result<(), Refused> {
        let known = self.know(symbols);
        let done = known.and_then(|()| self.perform(&operation));
        self.remembered(done)
    }

    fn read(
        &mut self,
        source: Place,
        symbols: &[String],
        into: &mut [u8],
    ) -> Result<Answer, Refused> {
        let known = self.know(symbols);
        let done = known.and_then(|()| self.fetch(source, into));
        self.remembered(done).map(|()| Answer::Known)
    }

    fn lacks(&mut self, kernel: &KernelInstance, line: u32) -> Result<(), Refused> {
        let compiled = self.compiled(kernel, line);
        self.remembered(compiled)
    }
}

impl Side<'_> {
    fn remembered(&mut self, done: Result<(), RunFailure>) -> Result<(), Refused> {
        done.map_err(|failure| {
            self.failure.get_or_insert(failure);
            Refused
        })
    }

    /// Finds the device variables that were met since the last time.
    fn know(&mut self, symbols: &[String]) -> Result<(), RunFailure> {
        for symbol in symbols.iter().skip(self.symbols.len()) {
            self.symbols.push(self.submission.symbol(symbol, 0)?);
        }
        Ok(())
    }

    /// Whether there is code of a kernel; templates may be asked for by a value of this run alone.
    fn compiled(&self, kernel: &KernelInstance, line: u32) -> Result<(), RunFailure> {
        if self.submission.has_kernel(kernel) {
            return Ok(());
        }
        let kernel = kernel.0.clone();
        Err(RunFailure::Uncompiled(Uncompiled { kernel, line }))
    }

    fn resolve(&self, place: &Place) -> Result<Address, DeviceError> {
        let places = Places {
            parameters: self.parameters,
            scratch: &self.scratch,
            symbols: self.symbols.clone(),
        };
        places.resolve(place)
    }

    fn perform(&mut self, operation: &Operation) -> Result<(), RunFailure> {
        match operation {
            Operation::Allocate {
                scratch,
                bytes,
                line,
            } => return self.allocate(*scratch, *bytes, *line),
            Operation::Free { scratch, .. } => {
                let freed = self.held.iter().position(|(held, _)| held == scratch);
                let freed = freed.map(|at| self.held.swap_remove(at));
                if let (Some((_, bytes)), Some(&buffer)) = (freed, self.scratch.get(scratch)) {
                    self.needed.give_back(buffer);
                    match &mut self.memory {
                        Memory::Pooled(pool) => {
                            pool.give_back(buffer);
                            return Ok(());
                        }
                        // Within a span a GPU gives nothing back.
                        Memory::Fresh(_) if self.submission.device.kind() == DeviceKind::Gpu => {
                            self.spare.push((buffer, bytes));
                            return Ok(());
                        }
                        Memory::Fresh(_) => {}
                    }
                }
            }
            Operation::Launch(launch) => {
                self.counts.launches += 1;
                self.compiled(&launch.kernel, launch.line)?;
            }
            _ => {}
        }
        self.counts.operations += 1;
        let places = Places {
            parameters: self.parameters,
            scratch: &self.scratch,
            symbols: self.symbols.clone(),
        };
        let operation = self.submission.translate(operation, &places)?;
        let operations: Vec<_> = operation.into_iter().collect();
        let stream = self.submission.stream;
        Ok(self.submission.device.issue(stream, &operations)?)
    }

    fn allocate(&mut self, number: u32, bytes: u64, line: u32) -> Result<(), RunFailure> {
        self.held.push((number, bytes));
        let held = self.held.iter().map(|(_, bytes)| bytes);
        let held = held.fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        if held > self.admitted_bytes {
            return Err(RunFailure::Blamed(Blame {
                verdict: Verdict::MemoryLimit,
                kind: None,
                message: format!(
                    "the host function holds {held} bytes of scratch memory; the problem admits {}",
                    self.admitted_bytes
                ),
                line: Some(line),
            }));
        }
        let label = format!("scratch of line {line}");
        let device = self.submission.device.as_mut();
        let buffer = match &mut self.memory {
            Memory::Fresh(_) => match self.spare.iter().position(|(_, size)| *size == bytes) {
                Some(at) => self.spare.swap_remove(at).0,
                None => device.allocate(bytes, &label)?,
            },
            Memory::Pooled(pool) => pool.take(device, bytes, &label)?,
        };
        self.needed.take(buffer, bytes);
        self.scratch.insert(number, buffer);
        Ok(())
    }

    fn fetch(&mut self, source: Place, into: &mut [u8]) -> Result<(), RunFailure> {
        self.counts.read_backs += 1;
        self.counts.operations += 1;
        let from = self.resolve(&source)?;
        let stream = self.submission.stream;
        Ok(self.submission.device.fetch(stream, from, into)?)
    }

    /// Frees what is the run's own, whatever became of it.
    fn finish(self) -> Result<(), DeviceError> {
        match self.memory {
            Memory::Pooled(_) => Ok(()),
            Memory::Fresh(sizes) => {
                *sizes = self.needed.sizes();
                let mut buffers = self.scratch.into_values();
                buffers.try_for_each(|buffer| self.submission.device.free(buffer))
            }
        }
    }
}
