//! What can go wrong on a device, told apart by whose fault it is.

use domain::VerdictKind;

/// A kernel misbehaved. The message is written for the submission's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: VerdictKind,
    /// One sentence: who touched what, where.
    pub message: String,
    /// Line in the submitted source, where the device can tell.
    pub line: Option<u32>,
}

/// Why an operation did not complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The submission's fault: the kernel faulted.
    #[error("{}", .0.message)]
    Fault(Fault),
    /// The submission's fault: it does not end within the limit.
    #[error("{}", .0.message)]
    TimeLimit(Fault),
    /// The submission's fault: more device memory than admitted.
    #[error("out of device memory: {requested_bytes} bytes asked for, {available_bytes} left")]
    OutOfMemory {
        /// Size of the allocation refused.
        requested_bytes: u64,
        /// What the limit leaves.
        available_bytes: u64,
    },
    /// The submission's fault: code, variables and stacks need memory as well.
    #[error("the device has no memory left for what the program needs besides its buffers ({0})")]
    NoMemoryLeft(String),
    /// The submission's fault: it prints more than is kept.
    #[error("the kernel printed more than {limit_bytes} bytes")]
    OutputLimit {
        /// What is kept at most.
        limit_bytes: u64,
    },
    /// Legal, but this device lacks it.
    #[error("the device does not support `{opcode}`")]
    Unsupported {
        /// The instruction, as the compiler wrote it.
        opcode: String,
        /// Line in the submitted source.
        line: Option<u32>,
    },
    /// Everything ran, but how long it took is not known. Nobody's fault; to be tried again.
    #[error("not measured: {0}")]
    Unmeasured(String),
    /// The judge's fault.
    #[error("device: {0}")]
    Internal(String),
}
