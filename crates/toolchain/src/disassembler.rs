//! The machine code as text, by the disassembler of a CUDA toolkit where this machine has one and the
//! toolchain has none.
//!
//! It reads a CUBIN that came of a submission, so whoever calls this decides whether the process that
//! does so may be trusted with it: `lightspeed judge --keep-code`, which a person runs on their own file.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the program, and goes before everything else.
const VARIABLE: &str = "LIGHTSPEED_NVDISASM";

/// A disassembler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembler {
    program: PathBuf,
}

/// Why there is no disassembly.
#[derive(Debug, thiserror::Error)]
pub enum DisassemblyError {
    /// It does not run, or its input cannot be written.
    #[error("{program}: {reason}", program = program.display())]
    Run {
        /// The disassembler.
        program: PathBuf,
        /// What the system says.
        #[source]
        reason: std::io::Error,
    },
    /// It refused the code.
    #[error("{program}: {message}", program = program.display())]
    Refused {
        /// The disassembler.
        program: PathBuf,
        /// The first line of what it says.
        message: String,
    },
}

impl Disassembler {
    /// The one of `LIGHTSPEED_NVDISASM`.
    #[must_use]
    pub fn named() -> Option<Self> {
        let program = env::var_os(VARIABLE).filter(|value| !value.is_empty())?;
        let program = PathBuf::from(program);
        Some(Self { program })
    }

    /// `nvdisasm`, else `cuobjdump`, in `CUDA_HOME/bin`, then in `PATH`.
    #[must_use]
    pub fn find() -> Option<Self> {
        let home = env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin"));
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = home.into_iter().chain(env::split_paths(&path)).collect();
        ["nvdisasm", "cuobjdump"].iter().find_map(|name| {
            let mut programs = folders.iter().map(|folder| folder.join(name));
            let program = programs.find(|program| program.is_file())?;
            Some(Self { program })
        })
    }

    /// The code of a CUBIN, with comments that name source lines where the program can write them
    /// (`cuobjdump` cannot).
    pub fn disassemble(&self, cubin: &[u8]) -> Result<String, DisassemblyError> {
        let failed = |reason| DisassemblyError::Run {
            program: self.program.clone(),
            reason,
        };
        let mut file = tempfile::Builder::new()
            .suffix(".cubin")
            .tempfile()
            .map_err(failed)?;
        file.write_all(cubin).map_err(failed)?;
        let is_cuobjdump = self.program.file_stem().is_some_and(|s| s == "cuobjdump");
        let options: &[&str] = if is_cuobjdump {
            &["-sass"]
        } else {
            &crate::nvdisasm::OPTIONS
        };
        let output = Command::new(&self.program)
            .args(options)
            .arg(file.path())
            .output()
            .map_err(failed)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let message = said.lines().find(|line| !line.trim().is_empty());
        Err(DisassemblyError::Refused {
            program: self.program.clone(),
            message: domain::printable(message.unwrap_or("failed without a word")),
        })
    }
}
