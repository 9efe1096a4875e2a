//! What every CUDA device refuses of a kernel, whatever it is launched with.
//!
//! `nvcc` and the driver check these; NVRTC's own assembler lets some of them pass for devices whose
//! blocks can have more shared memory.

use domain::{Diagnostic, Severity, Stage};

use crate::hint;
use crate::log::demangle;
use crate::usage::KernelUsage;

/// Static shared memory a block. More is to be had at launch only.
const STATIC_SHARED_BYTES: u32 = 48 << 10;
/// Local memory a thread: arrays that registers cannot hold, the stack, spills.
const LOCAL_BYTES: u32 = 512 << 10;

/// An error for each kernel over a limit.
pub(crate) fn exceeded(kernels: &[KernelUsage]) -> Vec<Diagnostic> {
    let over = |kernel: &KernelUsage| {
        let name = demangle(&kernel.lowered_name);
        let shared = kernel.static_shared_bytes;
        let local = kernel.stack_bytes;
        if shared > STATIC_SHARED_BYTES {
            Some(format!(
                "kernel '{name}' uses too much shared data: {shared} bytes a block; the limit is \
                 {STATIC_SHARED_BYTES}"
            ))
        } else if local > LOCAL_BYTES {
            Some(format!(
                "kernel '{name}' uses too much local data: {local} bytes a thread; the limit is \
                 {LOCAL_BYTES}"
            ))
        } else {
            None
        }
    };
    kernels.iter().filter_map(over).map(error).collect()
}

fn error(message: String) -> Diagnostic {
    Diagnostic {
        stage: Stage::Compile,
        severity: Severity::Error,
        line: None,
        column: None,
        hint: hint::for_message(&message),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(static_shared_bytes: u32, stack_bytes: u32) -> KernelUsage {
        KernelUsage {
            lowered_name: "_ZN1n1kILi4EEEvPf".into(),
            static_shared_bytes,
            stack_bytes,
            ..KernelUsage::default()
        }
    }

    #[test]
    fn limits_are_what_may_just_be_used() {
        assert_eq!(exceeded(&[kernel(49_152, 524_288)]), []);
        let messages: Vec<String> = exceeded(&[kernel(49_153, 0), kernel(0, 524_289)])
            .into_iter()
            .map(|error| error.message)
            .collect();
        assert_eq!(
            messages,
            [
                "kernel 'n::k' uses too much shared data: 49153 bytes a block; the limit is 49152",
                "kernel 'n::k' uses too much local data: 524289 bytes a thread; the limit is 524288",
            ]
        );
    }
}
