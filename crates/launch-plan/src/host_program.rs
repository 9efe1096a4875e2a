//! The host functions of a submission, which can be taken to another process and run there.
//!
//! What [`HostProgram::from_bytes`] is given may be anybody's: decoding is bounded in size and depth, and
//! nothing in a decoded program is trusted. Indices are checked here, names are looked up anew, and the
//! interpreter counts its own steps and depth.

use std::io::Cursor;

use domain::TargetLimits;
use serde::{Deserialize, Serialize};

use crate::device_side::DeviceSide;
use crate::facts::KernelFacts;
use crate::failure::PlanFailure;
use crate::hints;
use crate::interpreter::{Course, Guess, MAX_STEPS, interpret};
use crate::plan::{Argument, Plan};
use crate::rehearsal::rehearse;
use crate::source::text::Lines;
use crate::tables::Tables;

/// Size of an encoded program; a source is at most 256 KiB.
const MAX_BYTES: usize = 8 << 20;
/// Values within values: trees of the host subset nest some 160 levels, each of a few values.
const MAX_DEPTH: usize = 1500;
/// A run that works on values which were read back may take more steps than a plan.
const MAX_LIVE_STEPS: u64 = 10 * MAX_STEPS;

/// A file's host functions with the entry among them.
#[derive(Debug, Serialize, Deserialize)]
pub struct HostProgram {
    tables: Tables,
    lines: Lines,
    entry: usize,
}

/// Why a program cannot be written down or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// It is not one.
    #[error("no host program: {0}")]
    Malformed(String),
    /// Its encoding is longer than any that is admitted.
    #[error("the host functions take {bytes} bytes; the limit is {MAX_BYTES}")]
    TooLarge {
        /// As much as was counted.
        bytes: usize,
    },
}

/// Why a live run ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiveFailure {
    /// The submission's fault, at a place in its source.
    #[error(transparent)]
    Fault(PlanFailure),
    /// The device side refused; it knows why.
    #[error("the device refused")]
    Refused,
}

impl HostProgram {
    pub(crate) fn new(tables: Tables, lines: Lines, entry: usize) -> Self {
        Self {
            tables,
            lines,
            entry,
        }
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    pub(crate) fn plan(
        &self,
        arguments: &[Argument],
        limits: &TargetLimits,
        facts: &dyn KernelFacts,
    ) -> Result<Plan, PlanFailure> {
        rehearse(&self.course(arguments, limits, facts, MAX_STEPS))
            .map_err(|fault| fault.into_failure(&self.lines))
    }

    /// Calls the entry function with one shape's arguments while a device does what it says.
    ///
    /// # Errors
    /// Faults are those of a plan, found out with the values of this very run.
    pub fn run(
        &self,
        arguments: &[Argument],
        limits: &TargetLimits,
        facts: &dyn KernelFacts,
        side: &mut dyn DeviceSide,
    ) -> Result<(), LiveFailure> {
        let ended = interpret(&self.course(arguments, limits, facts, MAX_LIVE_STEPS), side);
        match ended.outcome {
            Ok(()) => Ok(()),
            Err(_) if ended.is_refused => Err(LiveFailure::Refused),
            Err(fault) => Err(LiveFailure::Fault(hints::complete(
                fault.into_failure(&self.lines),
                None,
            ))),
        }
    }

    fn course<'p>(
        &'p self,
        arguments: &'p [Argument],
        limits: &'p TargetLimits,
        facts: &'p dyn KernelFacts,
        max_steps: u64,
    ) -> Course<'p> {
        Course {
            tables: &self.tables,
            lines: &self.lines,
            entry: self.tables.function(self.entry),
            arguments,
            limits,
            facts,
            guess: Guess::Zero,
            max_steps,
        }
    }

    /// For [`HostProgram::from_bytes`].
    ///
    /// # Errors
    /// [`EncodingError::TooLarge`] where it could not be read back.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EncodingError> {
        let mut bytes = Vec::new();
        ciborium::into_writer(self, &mut bytes)
            .map_err(|error| EncodingError::Malformed(error.to_string()))?;
        bounded(&bytes)?;
        Ok(bytes)
    }

    /// Reads what [`HostProgram::to_bytes`] wrote, or anything else: that is an error, or some program.
    ///
    /// # Errors
    /// [`EncodingError`] for what is no program, or more than one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EncodingError> {
        bounded(bytes)?;
        let malformed = |message: &str| EncodingError::Malformed(message.to_owned());
        let mut reader = Cursor::new(bytes);
        let program: Self = ciborium::de::from_reader_with_recursion_limit(&mut reader, MAX_DEPTH)
            .map_err(|error| EncodingError::Malformed(error.to_string()))?;
        if reader.position() != bytes.len() as u64 {
            return Err(malformed("something follows it"));
        }
        if program.entry >= program.tables.functions().len() {
            return Err(malformed("it has no entry"));
        }
        Ok(Self {
            tables: program.tables.indexed(),
            ..program
        })
    }
}

fn bounded(bytes: &[u8]) -> Result<(), EncodingError> {
    match bytes.len() {
        0..=MAX_BYTES => Ok(()),
        bytes => Err(EncodingError::TooLarge { bytes }),
    }
}
