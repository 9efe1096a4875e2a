//! The options handed to NVRTC. Nothing of a submission reaches them but the checked architecture:
//! several options read and write files or take free text for the assembler.

use std::path::Path;

/// Architectures that may be compiled for; a device description names one of them.
const ARCHITECTURES: [&str; 10] = [
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a",
];

/// Errors after which NVRTC gives up.
const MAX_ERRORS: u32 = 50;

/// The options of every compile, or `None` for an unknown architecture. Those that are the same on
/// every machine come first, so that a report can show them.
pub(crate) fn portable(arch: &str) -> Option<Vec<String>> {
    if !ARCHITECTURES.contains(&arch) {
        return None;
    }
    Some(vec![
        format!("--gpu-architecture={arch}"),
        "--std=c++17".into(),
        // Functions without annotation are device functions, as host code never gets here.
        "--device-as-default-execution-space".into(),
        "--generate-line-info".into(),
        "--device-int128".into(),
    ])
}

/// What only concerns this machine and the log.
pub(crate) fn local(headers: &Path, prelude: &str) -> Vec<String> {
    vec![
        format!("--pre-include={prelude}"),
        format!("--include-path={}", headers.display()),
        format!("--include-path={}", headers.join("cccl").display()),
        "--no-cache".into(),
        format!("--fmax-errors={MAX_ERRORS}"),
        // Registers, spills and shared memory of each kernel, in the log.
        "--ptxas-options=-v".into(),
    ]
}

/// Has libcu++ leave out half, bfloat16 and what is smaller, whose headers it would read for its own sake.
pub(crate) const NO_SMALL_FLOATS: &str = "--define-macro=CCCL_DISABLE_FP16_SUPPORT";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_architectures_pass() {
        assert!(portable("sm_90a").is_some());
        for arch in ["compute_90a", "sm_90", "sm_90a --time=/tmp/x", ""] {
            assert_eq!(portable(arch), None, "{arch}");
        }
    }
}
