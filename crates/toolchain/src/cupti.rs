//! CUPTI beside the compiler: the library by which GPU workers time kernels.
//!
//! The driver does not bring it. It is optional: without it a GPU measures by events, which are never
//! ranked. A mark in the toolchain's folder says which version is there, or why none is; a failed
//! download is therefore not tried again at every start.

use std::path::{Path, PathBuf};

use crate::install;
use crate::toolchain::{Toolchain, ToolchainError};

/// The one version of CUPTI that times ranked results: of the oldest driver that runs the compiler's
/// code. Part of every result.
pub const CUPTI_VERSION: &str = "13.0.85";

const LIBRARY: &str = "nvidia/cu13/lib/libcupti.so.13";
const MARK: &str = "cupti-version";

/// The library, if the folder holds the pinned version.
pub(crate) fn library(root: &Path) -> Option<PathBuf> {
    let mark = std::fs::read_to_string(root.join(MARK)).ok()?;
    let library = root.join(LIBRARY);
    (mark.trim() == CUPTI_VERSION && library.is_file()).then_some(library)
}

/// Whether nobody has tried to add this version yet.
pub(crate) fn is_due(root: &Path) -> bool {
    match std::fs::read_to_string(root.join(MARK)) {
        Ok(mark) if mark.starts_with(CUPTI_VERSION) => {
            mark.trim() == CUPTI_VERSION && !root.join(LIBRARY).is_file()
        }
        _ => true,
    }
}

/// Downloads the wheel, keeps of it the one library that times kernels, and marks the folder. What goes
/// wrong is told and marked, and is no error.
pub(crate) fn add(root: &Path, progress: &mut dyn FnMut(&str)) {
    progress(&format!(
        "Downloading CUPTI (nvidia-cuda-cupti {CUPTI_VERSION}, 11 MB) with pip; GPU workers time kernels with it."
    ));
    let mark = match fetch(root) {
        Ok(()) => format!("{CUPTI_VERSION}\n"),
        Err(error) => {
            progress(&format!(
                "{error}. The judge works, but a GPU's times are not ranked without CUPTI; to try again, \
                 remove {}.",
                root.join(MARK).display()
            ));
            format!("{CUPTI_VERSION} missing: {error}\n")
        }
    };
    if let Err(error) = std::fs::write(root.join(MARK), mark) {
        progress(&format!("{} cannot be marked: {error}.", root.display()));
    }
}

fn fetch(root: &Path) -> Result<(), ToolchainError> {
    let python = install::find_python()?;
    let unpacked = tempfile::Builder::new()
        .prefix(".cupti-partial-")
        .tempdir_in(root)
        .map_err(install::io("cannot create a folder in", root))?;
    let requirement = format!("nvidia-cuda-cupti=={CUPTI_VERSION}");
    install::download(&python, &requirement, unpacked.path())?;
    let library = root.join(LIBRARY);
    std::fs::rename(unpacked.path().join(LIBRARY), &library)
        .map_err(install::io("cannot move CUPTI to", &library))
}

impl Toolchain {
    /// CUPTI, where the folder holds it. A process that loads it needs no other file of the folder.
    #[must_use]
    pub fn cupti(&self) -> Option<PathBuf> {
        library(self.root())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cupti_is_there_once_library_and_mark_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(is_due(root));
        let file = root.join(LIBRARY);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        assert_eq!(
            library(root),
            None,
            "an unmarked library may be half of one"
        );
        std::fs::write(root.join(MARK), "13.0.85\n").unwrap();
        assert_eq!(library(root), Some(file.clone()));
        assert!(!is_due(root));
        std::fs::remove_file(&file).unwrap();
        assert!(is_due(root), "a lost library is fetched again");
    }

    #[test]
    fn a_failed_download_is_not_repeated_but_another_version_is_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join(MARK);
        std::fs::write(&mark, "13.0.85 missing: no network\n").unwrap();
        assert!(!is_due(folder.path()));
        assert_eq!(library(folder.path()), None);
        std::fs::write(&mark, "12.8.90\n").unwrap();
        assert!(is_due(folder.path()));
    }
}
