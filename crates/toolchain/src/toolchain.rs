//! The pinned toolchain as a folder.
//!
//! Layout: what `pip install --target` makes of the wheel, the headers that the wheel bundles under
//! `headers/`, and a stamp that is written last. A folder with the right stamp is complete. What is optional
//! lies beside it, each with a mark of its own.

use std::path::{Path, PathBuf};

use crate::{install, libraries};

/// The one version of NVRTC that compiles submissions. Part of every result.
pub const NVRTC_VERSION: &str = "13.5.37";

const STAMP: &str = "nvrtc-version";
const NVRTC: &str = "nvidia/cu13/lib/libnvrtc.so.13";
const BUILTINS: &str = "nvidia/cu13/lib/libnvrtc-builtins.so.13.5";
const HEADERS: &str = "headers";
/// One file of each part of the headers, by which a damaged folder is noticed.
const SAMPLE_HEADERS: [&str; 3] = ["cuda_fp16.h", "mma.h", "cccl/cuda/std/cstdint"];

/// A complete toolchain folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    root: PathBuf,
}

/// Why there is no toolchain, each with a way out.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// Nothing there.
    #[error("no CUDA compiler in {}; install it, or point LIGHTSPEED_TOOLCHAIN to a ready folder", .0.display())]
    Missing(PathBuf),
    /// There, but not usable.
    #[error("the CUDA compiler in {} is damaged ({what}); remove the folder and install again", .root.display())]
    Damaged {
        /// The folder.
        root: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another version.
    #[error("the folder {} holds NVRTC {found}, this judge needs {NVRTC_VERSION}; install into another folder", .root.display())]
    Version {
        /// The folder.
        root: PathBuf,
        /// What its stamp says.
        found: String,
    },
    /// Installing would overwrite something that is not a toolchain.
    #[error("{} holds other files; name an empty or new folder", .0.display())]
    Occupied(PathBuf),
    /// No pip.
    #[error(
        "installing the CUDA compiler needs Python 3 with pip ({0}); install python3-pip, or point LIGHTSPEED_TOOLCHAIN to a ready folder"
    )]
    NoPip(String),
    /// pip ran and failed.
    #[error("pip could not install {package}: {reason}; {advice}")]
    Pip {
        /// Name and version.
        package: String,
        /// The last words of pip.
        reason: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// NVRTC could not be loaded or refused to unpack its headers.
    #[error("the CUDA compiler does not work on this machine: {0}")]
    Unusable(String),
    /// Files.
    #[error("{what} {}", .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What came of it.
        #[source]
        source: std::io::Error,
    },
}

impl Toolchain {
    /// The folder for the toolchain under a state folder.
    #[must_use]
    pub fn default_dir(state: &Path) -> PathBuf {
        state
            .join("toolchain")
            .join(format!("nvrtc-{NVRTC_VERSION}"))
    }

    /// Checks files and version stamp; loads nothing.
    pub fn open(dir: &Path) -> Result<Self, ToolchainError> {
        // Children run in another working directory.
        let root = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let Ok(stamp) = std::fs::read_to_string(root.join(STAMP)) else {
            return Err(ToolchainError::Missing(root));
        };
        let found = stamp.trim();
        if found != NVRTC_VERSION {
            let found = found.to_owned();
            return Err(ToolchainError::Version { root, found });
        }
        let toolchain = Self { root };
        let samples = SAMPLE_HEADERS.map(|name| toolchain.headers().join(name));
        let needed = [toolchain.nvrtc(), toolchain.builtins()];
        match needed.iter().chain(&samples).find(|path| !path.is_file()) {
            Some(path) => Err(ToolchainError::Damaged {
                what: format!("{} is missing", path.display()),
                root: toolchain.root,
            }),
            None => Ok(toolchain),
        }
    }

    /// Opens the folder, after installing into it if need be: downloads the wheel with pip, unpacks
    /// the headers, and renames the finished folder into place. Installers that run at the same time
    /// wait for each other. `progress` gets sentences for a person.
    pub fn install(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<Self, ToolchainError> {
        install::install(dir, progress)
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What a compile child must be able to read.
    #[must_use]
    pub fn readable_paths(&self) -> Vec<PathBuf> {
        vec![self.root.join(STAMP), self.headers()]
    }

    /// What a compile child must be able to load: NVRTC, and the system's libraries it needs. Single
    /// files, so that no configuration beside them becomes readable.
    #[must_use]
    pub fn loadable_paths(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.nvrtc(), self.builtins()];
        paths.extend(libraries::system_libraries());
        paths
    }

    pub(crate) fn nvrtc(&self) -> PathBuf {
        self.root.join(NVRTC)
    }

    pub(crate) fn builtins(&self) -> PathBuf {
        self.root.join(BUILTINS)
    }

    pub(crate) fn headers(&self) -> PathBuf {
        self.root.join(HEADERS)
    }

    /// A folder that is being filled and has no stamp yet.
    pub(crate) fn unfinished(root: PathBuf) -> Self {
        Self { root }
    }

    /// Declares the folder complete.
    pub(crate) fn stamp(&self) -> std::io::Result<()> {
        std::fs::write(self.root.join(STAMP), format!("{NVRTC_VERSION}\n"))
    }

    /// Whether a folder is empty, or was made by an installer of this code or by pip.
    pub(crate) fn may_replace(dir: &Path) -> bool {
        match std::fs::read_dir(dir) {
            Ok(mut entries) => entries.next().is_none() || dir.join("nvidia/cu13").is_dir(),
            Err(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(stamp: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let toolchain = Toolchain::unfinished(folder.path().to_owned());
        let samples = SAMPLE_HEADERS.map(|name| toolchain.headers().join(name));
        for path in [toolchain.nvrtc(), toolchain.builtins()]
            .iter()
            .chain(&samples)
        {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::write(folder.path().join(STAMP), stamp).unwrap();
        folder
    }

    #[test]
    fn a_folder_is_judged_by_stamp_and_files() {
        let whole = fake("13.5.37\n");
        let toolchain = Toolchain::open(whole.path()).unwrap();
        std::fs::remove_file(toolchain.builtins()).unwrap();
        let damaged = Toolchain::open(whole.path()).unwrap_err();
        assert!(
            matches!(damaged, ToolchainError::Damaged { .. }),
            "{damaged}"
        );

        let other = fake("13.0.88\n");
        let version = Toolchain::open(other.path()).unwrap_err();
        assert!(version.to_string().contains("13.0.88"), "{version}");

        let missing = Toolchain::open(Path::new("/does/not/exist")).unwrap_err();
        assert!(matches!(missing, ToolchainError::Missing(_)), "{missing}");
    }

    #[test]
    fn foreign_folders_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Toolchain::may_replace(folder.path()));
        std::fs::write(folder.path().join("thesis.tex"), "").unwrap();
        assert!(!Toolchain::may_replace(folder.path()));
    }
}
