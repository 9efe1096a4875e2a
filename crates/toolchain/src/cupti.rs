//! CUPTI beside the compiler: the library by which GPU workers time kernels.
//!
//! The driver does not bring it. It is optional: without it a GPU measures by events, which are never
//! ranked.

use std::path::PathBuf;

use crate::addition::Addition;
use crate::toolchain::Toolchain;
use crate::wheel::Wheel;

/// The one version of CUPTI that times ranked results: of the oldest driver that runs the compiler's
/// code. Part of every result.
pub const CUPTI_VERSION: &str = "13.0.85";

pub(crate) const CUPTI: Addition = Addition {
    title: "CUPTI",
    purpose: "GPU workers time kernels with it",
    without: "a GPU's times are not ranked without CUPTI",
    wheel: Wheel {
        name: "nvidia-cuda-cupti",
        version: CUPTI_VERSION,
        megabytes: 11,
        sha256: [
            "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
            "796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151",
        ],
    },
    file: "nvidia/cu13/lib/libcupti.so.13",
    mark: "cupti-version",
};

impl Toolchain {
    /// CUPTI, where the folder holds it. A process that loads it needs no other file of the folder.
    #[must_use]
    pub fn cupti(&self) -> Option<PathBuf> {
        CUPTI.find(self.root())
    }
}
