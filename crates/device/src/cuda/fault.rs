//! What a driver's result means to a judging: whose fault it is, and whether the context survives.
//!
//! Seen from outside, a fault of a kernel is one code for the whole context: the driver does not say
//! which launch, thread or line. What is known of a trap: `__trap()` and `asm("trap;")` come back as
//! 719 (launch failed) on current GPUs, undecodable instructions as 715; 719 also stands for
//! exceptions without a code of their own. It is therefore told as a trap only where a module that was
//! launched from contains one.
//!
//! Memory that runs out is the program's doing only in calls that load or launch its code. Buffers are
//! counted against a limit before the driver is asked for them, and host memory, streams, events and
//! graphs are the judge's own.

use cudarc::driver::sys::CUresult;
use domain::VerdictKind;

use super::driver::DriverError;
use crate::{DeviceError, Fault};

/// Whether every later call on the context fails as well, so that the process is of no more use.
pub(super) fn is_sticky(code: CUresult) -> bool {
    use CUresult as R;
    matches!(
        code,
        R::CUDA_ERROR_ILLEGAL_ADDRESS
            | R::CUDA_ERROR_LAUNCH_TIMEOUT
            | R::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | R::CUDA_ERROR_ASSERT
            | R::CUDA_ERROR_HARDWARE_STACK_ERROR
            | R::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | R::CUDA_ERROR_MISALIGNED_ADDRESS
            | R::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | R::CUDA_ERROR_INVALID_PC
            | R::CUDA_ERROR_LAUNCH_FAILED
            | R::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | R::CUDA_ERROR_ECC_UNCORRECTABLE
            | R::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | R::CUDA_ERROR_CONTAINED
            | R::CUDA_ERROR_EXTERNAL_DEVICE
            | R::CUDA_ERROR_DEVICE_UNAVAILABLE
            | R::CUDA_ERROR_UNKNOWN
    )
}

/// Calls that need memory for code, variables and stacks.
const LOADING_OR_LAUNCHING: [&str; 5] = [
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuFuncLoad",
    "cuLaunchKernelEx",
    "cuStreamQuery", // where what was launched is waited for
];

/// A failed call, told as what the kernels did where the code says so. `may_trap`: a module that was
/// launched from contains a trap instruction.
pub(super) fn device_error(error: &DriverError, may_trap: bool) -> DeviceError {
    let DriverError::Call { call, code } = error else {
        return DeviceError::Internal(error.to_string());
    };
    if *code == CUresult::CUDA_ERROR_OUT_OF_MEMORY && LOADING_OR_LAUNCHING.contains(call) {
        return DeviceError::NoMemoryLeft(error.to_string());
    }
    let Some((kind, what)) = kernel_fault(*code, may_trap) else {
        return DeviceError::Internal(error.to_string());
    };
    let fault = Fault {
        kind,
        message: format!("{what} ({code:?})"),
        line: None,
    };
    if kind == VerdictKind::WallClock {
        DeviceError::TimeLimit(fault)
    } else {
        DeviceError::Fault(fault)
    }
}

fn kernel_fault(code: CUresult, may_trap: bool) -> Option<(VerdictKind, &'static str)> {
    use CUresult as R;
    let found = match code {
        R::CUDA_ERROR_ILLEGAL_ADDRESS => (
            VerdictKind::IllegalAddress,
            "a kernel reads or writes an address that no allocation holds",
        ),
        R::CUDA_ERROR_MISALIGNED_ADDRESS => (
            VerdictKind::Misaligned,
            "a kernel reads or writes an address that is not a multiple of the access's size",
        ),
        R::CUDA_ERROR_ASSERT => (VerdictKind::Assert, "an assertion in a kernel failed"),
        R::CUDA_ERROR_ILLEGAL_INSTRUCTION => (
            VerdictKind::Trap,
            "a kernel executes a trap or an instruction that the device does not know",
        ),
        R::CUDA_ERROR_LAUNCH_FAILED if may_trap => (
            VerdictKind::Trap,
            "a kernel executes a trap, or failed in a way that the device does not name",
        ),
        R::CUDA_ERROR_LAUNCH_FAILED => (
            VerdictKind::LaunchFailure,
            "a kernel failed in a way that the device does not name",
        ),
        R::CUDA_ERROR_INVALID_ADDRESS_SPACE => (
            VerdictKind::LaunchFailure,
            "a kernel uses an address of the wrong state space",
        ),
        R::CUDA_ERROR_INVALID_PC => (
            VerdictKind::LaunchFailure,
            "a kernel jumps to where no code is",
        ),
        R::CUDA_ERROR_HARDWARE_STACK_ERROR => (
            VerdictKind::LaunchFailure,
            "a kernel's call stack is corrupted or too deep",
        ),
        R::CUDA_ERROR_TENSOR_MEMORY_LEAK => (
            VerdictKind::LaunchFailure,
            "a kernel ends without giving its tensor memory back",
        ),
        R::CUDA_ERROR_LAUNCH_TIMEOUT => (
            VerdictKind::WallClock,
            "a kernel ran longer than the system lets kernels run",
        ),
        _ => return None,
    };
    Some(found)
}

/// A launch that was refused before it ran. `asked` says what was asked for.
pub(super) fn launch_error(error: &DriverError, asked: &str) -> Option<DeviceError> {
    use CUresult as R;
    let DriverError::Call { code, .. } = error else {
        return None;
    };
    let why = match code {
        R::CUDA_ERROR_INVALID_VALUE => "the device refuses the launch",
        R::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => "the block needs more registers than there are",
        R::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => {
            "the blocks of a cooperative launch do not fit on the device at once"
        }
        R::CUDA_ERROR_INVALID_CLUSTER_SIZE => "the device cannot place clusters of this size",
        _ => return None,
    };
    Some(DeviceError::Fault(Fault {
        kind: VerdictKind::LaunchConfig,
        message: format!("{asked}: {why} ({code:?})"),
        line: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(code: CUresult, may_trap: bool) -> DeviceError {
        let call = "cuStreamQuery";
        device_error(&DriverError::Call { call, code }, may_trap)
    }

    fn kind(code: CUresult, may_trap: bool) -> Option<VerdictKind> {
        match meaning(code, may_trap) {
            DeviceError::Fault(fault) | DeviceError::TimeLimit(fault) => Some(fault.kind),
            _ => None,
        }
    }

    #[test]
    fn each_fault_of_a_kernel_has_the_contracts_kind() {
        use CUresult as R;
        let expected = [
            (R::CUDA_ERROR_ILLEGAL_ADDRESS, VerdictKind::IllegalAddress),
            (R::CUDA_ERROR_MISALIGNED_ADDRESS, VerdictKind::Misaligned),
            (R::CUDA_ERROR_ASSERT, VerdictKind::Assert),
            (R::CUDA_ERROR_ILLEGAL_INSTRUCTION, VerdictKind::Trap),
            (R::CUDA_ERROR_LAUNCH_FAILED, VerdictKind::LaunchFailure),
            (R::CUDA_ERROR_INVALID_PC, VerdictKind::LaunchFailure),
            (
                R::CUDA_ERROR_INVALID_ADDRESS_SPACE,
                VerdictKind::LaunchFailure,
            ),
            (
                R::CUDA_ERROR_HARDWARE_STACK_ERROR,
                VerdictKind::LaunchFailure,
            ),
            (R::CUDA_ERROR_LAUNCH_TIMEOUT, VerdictKind::WallClock),
        ];
        for (code, wanted) in expected {
            assert_eq!(kind(code, false), Some(wanted), "{code:?}");
            assert!(is_sticky(code), "{code:?}");
        }
        assert_eq!(
            kind(R::CUDA_ERROR_LAUNCH_FAILED, true),
            Some(VerdictKind::Trap)
        );
    }

    #[test]
    fn the_machines_faults_are_never_the_authors() {
        for code in [
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
            CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
            CUresult::CUDA_ERROR_UNKNOWN,
            CUresult::CUDA_ERROR_INVALID_HANDLE,
        ] {
            let meaning = meaning(code, true);
            assert!(matches!(meaning, DeviceError::Internal(_)), "{meaning}");
        }
        assert!(!is_sticky(CUresult::CUDA_ERROR_INVALID_VALUE));
        assert!(!is_sticky(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    }

    #[test]
    fn memory_that_code_needs_is_the_authors_and_what_the_judge_needs_is_not() {
        let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        for call in LOADING_OR_LAUNCHING {
            let meaning = device_error(&DriverError::Call { call, code }, false);
            assert!(matches!(meaning, DeviceError::NoMemoryLeft(_)), "{meaning}");
        }
        for call in [
            "cuMemAlloc_v2",
            "cuMemAllocHost_v2",
            "cuMemHostRegister_v2",
            "cuStreamCreate",
            "cuEventCreate",
            "cuGraphInstantiateWithFlags",
        ] {
            let meaning = device_error(&DriverError::Call { call, code }, false);
            assert!(matches!(meaning, DeviceError::Internal(_)), "{meaning}");
        }
    }

    #[test]
    fn a_refused_launch_says_what_was_asked() {
        let refused = DriverError::Call {
            call: "cuLaunchKernelEx",
            code: CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        };
        let Some(DeviceError::Fault(fault)) = launch_error(&refused, "`k`, grid 1000x1x1") else {
            panic!("a refused launch is the author's");
        };
        assert_eq!(fault.kind, VerdictKind::LaunchConfig);
        assert!(
            fault.message.starts_with("`k`, grid 1000x1x1: the blocks"),
            "{}",
            fault.message
        );
    }
}
