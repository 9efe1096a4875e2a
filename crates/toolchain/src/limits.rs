//! What every CUDA device refuses of a kernel, whatever it is launched with.
//!
//! `nvcc` and the driver check these; NVRTC's own assembler lets some of them pass for devices whose
//! blocks can have more shared memory.

use domain::{Diagnostic, Severity, Stage};

use crate::hint::Hints;
use crate::listing::Listing;
use crate::log::demangle;
use crate::usage::KernelUsage;

/// Static shared memory a block. More is to be had at launch only.
const STATIC_SHARED_BYTES: u32 = 48 << 10;
/// Local memory a thread: arrays that registers cannot hold, the stack, spills.
const LOCAL_BYTES: u32 = 512 << 10;

/// An error for each kernel over a limit, at the line where it begins in `ptx`.
pub(crate) fn exceeded(
    kernels: &[KernelUsage],
    ptx: &Listing<'_>,
    hints: &Hints<'_>,
) -> Vec<Diagnostic> {
    let over =
        |kernel: &KernelUsage| Some((ptx.kernel_line(&kernel.lowered_name), excess(kernel)?));
    kernels
        .iter()
        .filter_map(over)
        .map(|(line, message)| error(line, message, hints))
        .collect()
}

fn excess(kernel: &KernelUsage) -> Option<String> {
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
}

fn error(line: Option<u32>, message: String, hints: &Hints<'_>) -> Diagnostic {
    let mut error = Diagnostic {
        stage: Stage::Compile,
        severity: Severity::Error,
        line,
        column: None,
        message,
        hint: None,
    };
    hints.give(&mut error, false);
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str =
        ".entry _ZN1n1kILi4EEEvPf(\n)\n{\n\t.loc\t1 7 0\n\tret;\n}\n\t.file\t1 \"submission.cu\"\n";

    fn exceeding(kernels: &[KernelUsage]) -> Vec<Diagnostic> {
        exceeded(kernels, &Listing::of_ptx(PTX), &Hints::new(""))
    }

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
        assert_eq!(exceeding(&[kernel(49_152, 524_288)]), []);
        let errors = exceeding(&[kernel(49_153, 0), kernel(0, 524_289)]);
        assert!(
            errors.iter().all(|error| error.line == Some(7)),
            "{errors:?}"
        );
        let messages: Vec<String> = errors.into_iter().map(|error| error.message).collect();
        assert_eq!(
            messages,
            [
                "kernel 'n::k' uses too much shared data: 49153 bytes a block; the limit is 49152",
                "kernel 'n::k' uses too much local data: 524289 bytes a thread; the limit is 524288",
            ]
        );
    }
}
