//! What a judging can come to.

use serde::{Deserialize, Serialize};

/// The final word on a judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Verdict {
    /// Every shape correct and within the limits.
    Accepted,
    /// At least one output element outside its tolerance.
    WrongAnswer,
    /// NVRTC refused the device code, or compiling it hit a limit.
    CompileError,
    /// The host function does something the plan cannot express.
    PlanError,
    /// The kernel faulted while running; the kind says how.
    RuntimeError,
    /// Out of fuel, wall clock, or far slower than the baseline.
    TimeLimit,
    /// More device memory than the problem admits.
    MemoryLimit,
    /// More printed text than the judge keeps.
    OutputLimit,
    /// Stopped on request.
    Cancelled,
    /// A person decides: the time is implausible or unsteady.
    Held,
    /// A trust rule was broken; the report carries the evidence.
    Rejected,
    /// The device or the judge lacks something the kernel legally uses. Final, not retried.
    Unsupported,
    /// Our fault; never the user's.
    JudgeError,
}

impl Verdict {
    /// The contract's spelling, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::WrongAnswer => "wrong_answer",
            Self::CompileError => "compile_error",
            Self::PlanError => "plan_error",
            Self::RuntimeError => "runtime_error",
            Self::TimeLimit => "time_limit",
            Self::MemoryLimit => "memory_limit",
            Self::OutputLimit => "output_limit",
            Self::Cancelled => "cancelled",
            Self::Held => "held",
            Self::Rejected => "rejected",
            Self::Unsupported => "unsupported",
            Self::JudgeError => "judge_error",
        }
    }

    /// The exit status of commands that end with this verdict.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::JudgeError | Self::Unsupported => 3,
            _ => 1,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Verdict {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        use serde::de::IntoDeserializer;
        let word: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
            text.into_deserializer();
        Self::deserialize(word).map_err(|_| UnknownWord(text.to_owned()))
    }
}

/// A word that is not in the contract's list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown word `{0}`")]
pub struct UnknownWord(pub String);

/// What exactly happened, within a verdict. One flat list: a kind belongs to one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum VerdictKind {
    // plan_error
    /// Entry missing, or its parameters do not match the problem's.
    Signature,
    /// A host construct outside the subset.
    UnsupportedConstruct,
    /// The host function ran out of interpreter steps.
    Fuel,
    /// Grid, block, shared memory or arguments that the device would refuse.
    LaunchConfig,
    /// The host function computes something undefined (overflow, division by zero, bad access).
    HostFault,
    // compile_error
    /// NVRTC's diagnostics say what is wrong.
    Diagnostics,
    /// The compiler itself crashed on the source.
    CompilerCrash,
    /// The compile ran into a limit named in the message.
    CompileLimit,
    // time_limit
    /// The kernel executed more instructions than the emulated device grants.
    InstructionFuel,
    /// The kernel ran longer than the wall clock grants.
    WallClock,
    /// So far behind the baseline that finishing would tell nothing new.
    SlowerThanBaseline,
    // unsupported
    /// An instruction the emulated device does not know.
    Opcode,
    // runtime_error
    /// An address that no allocation holds (GPU).
    IllegalAddress,
    /// An access not aligned to its size.
    Misaligned,
    /// The device refused or lost the launch.
    LaunchFailure,
    /// An access outside the allocation it was meant for.
    OutOfBounds,
    /// Two threads touch the same memory without order.
    Race,
    /// A value was read that nobody wrote.
    UninitialisedRead,
    /// Memory was touched after it was freed.
    UseAfterFree,
    /// Constant memory was written.
    ConstWrite,
    /// An input of the problem was modified.
    InputModified,
    /// Threads of one block wait at different barriers, or one left.
    BarrierDivergence,
    /// No thread can make progress.
    Deadlock,
    /// The kernel executed a trap.
    Trap,
    /// A device-side assertion failed.
    Assert,
}

impl VerdictKind {
    /// The contract's spelling, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::UnsupportedConstruct => "unsupported_construct",
            Self::Fuel => "fuel",
            Self::LaunchConfig => "launch_config",
            Self::HostFault => "host_fault",
            Self::Diagnostics => "diagnostics",
            Self::CompilerCrash => "compiler_crash",
            Self::CompileLimit => "compile_limit",
            Self::InstructionFuel => "instruction_fuel",
            Self::WallClock => "wall_clock",
            Self::SlowerThanBaseline => "slower_than_baseline",
            Self::Opcode => "opcode",
            Self::IllegalAddress => "illegal_address",
            Self::Misaligned => "misaligned",
            Self::LaunchFailure => "launch_failure",
            Self::OutOfBounds => "out_of_bounds",
            Self::Race => "race",
            Self::UninitialisedRead => "uninitialised_read",
            Self::UseAfterFree => "use_after_free",
            Self::ConstWrite => "const_write",
            Self::InputModified => "input_modified",
            Self::BarrierDivergence => "barrier_divergence",
            Self::Deadlock => "deadlock",
            Self::Trap => "trap",
            Self::Assert => "assert",
        }
    }
}

impl std::fmt::Display for VerdictKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_in_json_is_the_spelling_in_text() {
        for verdict in [Verdict::Accepted, Verdict::WrongAnswer, Verdict::JudgeError] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
            assert_eq!(verdict.as_str().parse(), Ok(verdict));
        }
        let kind = VerdictKind::UninitialisedRead;
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }

    #[test]
    fn exit_codes_follow_the_contract() {
        assert_eq!(Verdict::Accepted.exit_code(), 0);
        assert_eq!(Verdict::WrongAnswer.exit_code(), 1);
        assert_eq!(Verdict::Unsupported.exit_code(), 3);
        assert_eq!(Verdict::JudgeError.exit_code(), 3);
    }
}
