//! Wheels of NVIDIA's on PyPI, each pinned by version and by the digests of its files.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::install::io;
use crate::toolchain::ToolchainError;

/// A wheel that pip may unpack, for x86-64 and for arm64.
pub(crate) struct Wheel {
    /// Its name on PyPI.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// About how much is downloaded.
    pub megabytes: u32,
    /// SHA-256 of the files, one a platform. pip takes no other.
    pub sha256: [&'static str; 2],
}

impl Wheel {
    /// What is told before it is downloaded.
    pub fn what(&self) -> String {
        let Self {
            name,
            version,
            megabytes,
            ..
        } = self;
        format!("{name} {version}, {megabytes} MB")
    }

    fn requirement(&self) -> String {
        let digests = self.sha256.map(|digest| format!(" --hash=sha256:{digest}"));
        format!("{}=={}{}\n", self.name, self.version, digests.concat())
    }

    /// Unpacks it into a folder that holds nothing of the same name.
    pub fn download(&self, python: &Path, root: &Path) -> Result<(), ToolchainError> {
        let mut file = tempfile::NamedTempFile::new()
            .map_err(io("cannot create a file in", &std::env::temp_dir()))?;
        file.write_all(self.requirement().as_bytes())
            .map_err(io("cannot write", file.path()))?;
        let arguments: [&OsStr; 13] = [
            "-m".as_ref(),
            "pip".as_ref(),
            "install".as_ref(),
            "--no-deps".as_ref(),
            "--no-input".as_ref(),
            "--no-compile".as_ref(),
            "--only-binary=:all:".as_ref(),
            "--require-hashes".as_ref(),
            "--disable-pip-version-check".as_ref(),
            "--target".as_ref(),
            root.as_os_str(),
            "--requirement".as_ref(),
            file.path().as_os_str(),
        ];
        let output = run(python, arguments).map_err(io("cannot run", python))?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(ToolchainError::Pip {
            package: format!("{} {}", self.name, self.version),
            reason: error_line(&words),
            advice: advice(&words),
        })
    }
}

pub(crate) fn find_python() -> Result<PathBuf, ToolchainError> {
    let mut why = String::from("no python3 found");
    for name in ["python3", "python"] {
        match run(Path::new(name), ["-m", "pip", "--version"]) {
            Ok(output) if output.status.success() => return Ok(name.into()),
            Ok(output) => why = format!("{name}: {}", last_line(&output.stderr)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => why = format!("{name}: {e}"),
        }
    }
    Err(ToolchainError::NoPip(why))
}

fn run<A: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> std::io::Result<Output> {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
}

fn advice(words: &str) -> &'static str {
    let says = |text: &str| words.contains(text);
    if says("DO NOT MATCH THE HASHES") {
        "pip's index serves another file than PyPI does, which is not installed; see its index settings"
    } else if says("No space left") || says("Errno 28") {
        "free 250 MB there and in the folder for temporary files"
    } else if says("NewConnectionError") || says("Temporary failure") || says("timed out") {
        "check the network and pip's index settings"
    } else if says("No matching distribution") {
        "pip's index must carry this wheel for this platform (x86-64 or arm64 Linux, glibc), and pip must be 20.3 or newer"
    } else {
        "try again, or point LIGHTSPEED_TOOLCHAIN to a ready folder"
    }
}

/// The line in which pip says what is wrong.
fn error_line(words: &str) -> String {
    let line = words.lines().rev().find(|line| line.starts_with("ERROR"));
    match line {
        Some(line) => line.trim_start_matches("ERROR:").trim().to_owned(),
        None => last_line(words.as_bytes()),
    }
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.unwrap_or("no message").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pips_words_become_a_reason_and_a_way_out() {
        let words = "WARNING: Retrying ... NewConnectionError('Temporary failure in name resolution')\n\
                     ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)\n\
                     ERROR: No matching distribution found for x==1\n";
        assert_eq!(error_line(words), "No matching distribution found for x==1");
        assert!(advice(words).contains("network"));
        let full = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n";
        assert!(advice(full).contains("free"));
        let other = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you ...\n";
        assert!(advice(other).contains("is not installed"));
    }

    #[test]
    fn pip_is_told_the_digest_of_each_platform() {
        let wheel = Wheel {
            name: "nvidia-cuda-x",
            version: "13.1",
            megabytes: 5,
            sha256: ["aa", "bb"],
        };
        assert_eq!(
            wheel.requirement(),
            "nvidia-cuda-x==13.1 --hash=sha256:aa --hash=sha256:bb\n"
        );
        assert_eq!(wheel.what(), "nvidia-cuda-x 13.1, 5 MB");
    }
}
