//! `nvdisasm` beside the compiler: the machine code of a submission as text.
//!
//! It reads a CUBIN that came of a submission, inline assembly included, so that it is to be run confined: as
//! the last step of a sandboxed child, which this describes. It is optional: without it there is PTX only.

use std::path::PathBuf;

use crate::addition::Addition;
use crate::libraries;
use crate::toolchain::Toolchain;
use crate::wheel::Wheel;

/// The compiler's own version: an older one does not know its code.
const VERSION: &str = crate::toolchain::NVRTC_VERSION;

pub(crate) const NVDISASM: Addition = Addition {
    title: "nvdisasm",
    purpose: "it writes the machine code of submissions as text",
    without: "compiled code is shown as PTX only without nvdisasm",
    wheel: Wheel {
        name: "nvidia-cuda-nvdisasm",
        version: VERSION,
        megabytes: 5,
        sha256: [
            "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca",
            "a3a8248074edb9fba63b74c38a5416b712a91ab09e70b8ab37186c3d293fc605",
        ],
    },
    file: "nvidia/cu13/bin/nvdisasm",
    mark: "nvdisasm-version",
};

/// What code and line numbers are asked for with; the file comes last.
pub(crate) const OPTIONS: [&str; 2] = ["--print-code", "--print-line-info-inline"];

/// The disassembler as a sandbox has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfinedDisassembler {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, up to the name of the file.
    pub options: Vec<String>,
    /// What loads it, to be run with it.
    pub loaders: Vec<PathBuf>,
    /// The system's libraries that it needs, as single files.
    pub libraries: Vec<PathBuf>,
}

impl Toolchain {
    /// The pinned disassembler, where the folder holds it.
    #[must_use]
    pub fn nvdisasm(&self) -> Option<ConfinedDisassembler> {
        let is_loader = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("ld-")
        };
        let libraries = libraries::system_libraries();
        Some(ConfinedDisassembler {
            program: NVDISASM.find(self.root())?,
            options: OPTIONS.map(str::to_owned).to_vec(),
            loaders: libraries.iter().filter(|l| is_loader(l)).cloned().collect(),
            libraries,
        })
    }
}
