//! The emulator's faults and errors, in the device's words.

use domain::VerdictKind;
use emulator::{FaultKind, LoadError, MemoryError};

use super::PRINTED_BYTES;
use crate::{DeviceError, Fault};

/// A fault within a launch, in the device's words. `fuel`: instructions of a whole span.
pub(super) fn device_error(fault: &emulator::Fault, fuel: u64) -> DeviceError {
    let found = |kind| Fault {
        kind,
        message: fault.message.clone(),
        line: fault.line,
    };
    match &fault.kind {
        FaultKind::OutOfBounds => DeviceError::Fault(found(VerdictKind::OutOfBounds)),
        FaultKind::Misaligned => DeviceError::Fault(found(VerdictKind::Misaligned)),
        FaultKind::UseAfterFree => DeviceError::Fault(found(VerdictKind::UseAfterFree)),
        FaultKind::WriteToReadOnly => {
            let is_input = fault.allocation.is_some();
            let kind = if is_input {
                VerdictKind::InputModified
            } else {
                VerdictKind::ConstWrite
            };
            DeviceError::Fault(found(kind))
        }
        FaultKind::UndefinedValue => DeviceError::Fault(found(VerdictKind::UninitialisedRead)),
        FaultKind::Race => DeviceError::Fault(found(VerdictKind::Race)),
        FaultKind::BarrierDivergence => DeviceError::Fault(found(VerdictKind::BarrierDivergence)),
        FaultKind::Deadlock => DeviceError::Fault(found(VerdictKind::Deadlock)),
        FaultKind::Trap => DeviceError::Fault(found(VerdictKind::Trap)),
        FaultKind::Assert => DeviceError::Fault(found(VerdictKind::Assert)),
        FaultKind::BadLaunch => DeviceError::Fault(found(VerdictKind::LaunchConfig)),
        FaultKind::InstructionFuel => {
            let mut found = found(VerdictKind::InstructionFuel);
            // The launch had what earlier ones of the shape left.
            found.message += &format!("; all launches of a shape together may issue {fuel}");
            DeviceError::TimeLimit(found)
        }
        FaultKind::OutputLimit => DeviceError::OutputLimit {
            limit_bytes: PRINTED_BYTES as u64,
        },
        FaultKind::Internal => DeviceError::Internal(fault.message.clone()),
        FaultKind::Unsupported { opcode } => DeviceError::Unsupported {
            opcode: opcode.clone(),
            line: fault.line,
        },
    }
}

pub(super) fn load_error(error: LoadError) -> DeviceError {
    match error {
        LoadError::Unsupported { opcode, line, .. } => DeviceError::Unsupported { opcode, line },
        // The text is NVRTC's, inline assembly of the source included: nothing a worker could retry.
        malformed @ (LoadError::Malformed { .. } | LoadError::UnknownKernel { .. }) => {
            DeviceError::Unsupported {
                opcode: malformed.to_string(),
                line: None,
            }
        }
    }
}

pub(super) fn memory_error(error: MemoryError) -> DeviceError {
    match error {
        MemoryError::OutOfMemory {
            requested_bytes,
            free_bytes,
        } => DeviceError::OutOfMemory {
            requested_bytes,
            available_bytes: free_bytes,
        },
        other => DeviceError::Internal(other.to_string()),
    }
}

/// A memset or copy of the submission's host function that leaves its buffers.
pub(super) fn host_access(call: &str, error: &MemoryError) -> DeviceError {
    let is_freed = matches!(error, MemoryError::Freed { .. });
    DeviceError::Fault(Fault {
        kind: if is_freed {
            VerdictKind::UseAfterFree
        } else {
            VerdictKind::OutOfBounds
        },
        message: format!("{call}: {error}"),
        line: None,
    })
}
