//! The driver library, and what its calls return.
//!
//! Invariant: no function of `cudarc::driver::sys` is called before [`load`] has succeeded in this
//! process, because the bindings panic where the library or a symbol is missing. [`load`] refuses
//! drivers that are too old for the symbols used here.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};

/// The oldest driver that has every call made here and takes code of the pinned compiler.
const OLDEST: Version = Version(13_000);

/// Version of CUDA's interface as drivers say it: 13000 is 13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) i32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

/// Why the driver did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DriverError {
    /// No library.
    #[error("no CUDA driver on this machine: libcuda.so.1 is not found")]
    Absent,
    /// A driver without a GPU.
    #[error("the CUDA driver finds no GPU")]
    NoGpu,
    /// A driver that lacks calls made here.
    #[error("the CUDA driver supports CUDA {0}, and {OLDEST} or newer is needed")]
    TooOld(Version),
    /// A call failed.
    #[error("{call}: {code:?} ({})", *.code as u32)]
    Call {
        /// Its name.
        call: &'static str,
        /// What it returned.
        code: CUresult,
    },
}

/// Calls the driver and names the call in the error.
macro_rules! cu {
    ($name:ident($($argument:expr),* $(,)?)) => {
        $crate::cuda::driver::check(
            stringify!($name),
            cudarc::driver::sys::$name($($argument),*),
        )
    };
}
pub(super) use cu;

pub(super) fn check(call: &'static str, code: CUresult) -> Result<(), DriverError> {
    match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(DriverError::Call { call, code }),
    }
}

/// Whether there is a driver to load; initialises nothing, as CUPTI wants to come first.
pub(super) fn present() -> Result<(), DriverError> {
    // SAFETY: opens the driver's library, whose initialisers have no demands on the process.
    if unsafe { sys::is_culib_present() } {
        Ok(())
    } else {
        Err(DriverError::Absent)
    }
}

/// Opens and initialises the driver, once a process.
pub(super) fn load() -> Result<Version, DriverError> {
    static LOADED: OnceLock<Result<Version, DriverError>> = OnceLock::new();
    LOADED.get_or_init(initialise).clone()
}

fn initialise() -> Result<Version, DriverError> {
    present()?;
    let mut version = 0;
    // SAFETY: the library is there, both calls exist in every version of it, and the pointer is valid.
    let outcome = unsafe {
        cu!(cuDriverGetVersion(&raw mut version)).and_then(|()| {
            if Version(version) < OLDEST {
                return Err(DriverError::TooOld(Version(version)));
            }
            cu!(cuInit(0))
        })
    };
    match outcome {
        Ok(()) => Ok(Version(version)),
        Err(DriverError::Call {
            code: CUresult::CUDA_ERROR_NO_DEVICE,
            ..
        }) => Err(DriverError::NoGpu),
        Err(DriverError::Call {
            code: CUresult::CUDA_ERROR_STUB_LIBRARY,
            ..
        }) => Err(DriverError::Absent),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_is_named_with_its_code() {
        let failed = check("cuMemAlloc_v2", CUresult::CUDA_ERROR_OUT_OF_MEMORY).unwrap_err();
        assert_eq!(
            failed.to_string(),
            "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2)"
        );
        assert_eq!(check("cuInit", CUresult::CUDA_SUCCESS), Ok(()));
    }

    #[test]
    fn versions_read_as_the_vendor_writes_them() {
        assert_eq!(Version(13_000).to_string(), "13.0");
        assert_eq!(Version(12_080).to_string(), "12.8");
        let old = DriverError::TooOld(Version(12_080)).to_string();
        assert!(old.contains("12.8") && old.contains("13.0"), "{old}");
    }
}
