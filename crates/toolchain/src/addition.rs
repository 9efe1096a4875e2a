//! What lies beside the compiler and is optional: one file of a wheel each.
//!
//! A mark in the toolchain's folder says which version is there, or why none is; a failed download is
//! therefore not tried again at every start. Folders of earlier judges are completed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::install::io;
use crate::toolchain::ToolchainError;
use crate::wheel::{self, Wheel};

/// An optional file.
pub(crate) struct Addition {
    /// What people call it.
    pub title: &'static str,
    /// What it is for, as half a sentence.
    pub purpose: &'static str,
    /// What follows from its absence, as half a sentence.
    pub without: &'static str,
    /// Where it comes from.
    pub wheel: Wheel,
    /// The file, in the wheel as in the toolchain's folder.
    pub file: &'static str,
    /// Name of the mark.
    pub mark: &'static str,
}

impl Addition {
    /// The file, if the folder holds the pinned version.
    pub fn find(&self, root: &Path) -> Option<PathBuf> {
        let mark = std::fs::read_to_string(root.join(self.mark)).ok()?;
        let file = root.join(self.file);
        (mark.trim() == self.wheel.version && file.is_file()).then_some(file)
    }

    /// Whether nobody has tried to add this version yet.
    pub fn is_due(&self, root: &Path) -> bool {
        let version = self.wheel.version;
        match std::fs::read_to_string(root.join(self.mark)) {
            Ok(mark) if mark.starts_with(version) => {
                mark.trim() == version && !root.join(self.file).is_file()
            }
            _ => true,
        }
    }

    /// Downloads the wheel, keeps of it the one file and its licence, and marks the folder. What goes wrong
    /// is told and marked, and is no error.
    pub fn add(&self, root: &Path, progress: &mut dyn FnMut(&str)) {
        let Self { title, purpose, .. } = self;
        let (what, version) = (self.wheel.what(), self.wheel.version);
        progress(&format!(
            "Downloading {title} ({what}) with pip; {purpose}."
        ));
        let mark = match self.fetch(root) {
            Ok(()) => format!("{version}\n"),
            Err(error) => {
                progress(&format!(
                    "{error}. The judge works, but {}; to try again, remove {}.",
                    self.without,
                    root.join(self.mark).display()
                ));
                format!("{version} missing: {error}\n")
            }
        };
        if let Err(error) = std::fs::write(root.join(self.mark), mark) {
            progress(&format!("{} cannot be marked: {error}.", root.display()));
        }
    }

    fn fetch(&self, root: &Path) -> Result<(), ToolchainError> {
        let python = wheel::find_python()?;
        let unpacked = tempfile::Builder::new()
            .prefix(".addition-partial-")
            .tempdir_in(root)
            .map_err(io("cannot create a folder in", root))?;
        self.wheel.download(&python, unpacked.path())?;
        let (from, to) = (unpacked.path().join(self.file), root.join(self.file));
        // Sandboxed children have a user of their own.
        let for_all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&from, for_all).map_err(io("cannot open to others", &from))?;
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(io("cannot create", folder))?;
        }
        let licence = format!(
            "{}-{}.dist-info",
            self.wheel.name.replace('-', "_"),
            self.wheel.version
        );
        // It may lie there of an earlier time; the program does without.
        let _ = std::fs::rename(unpacked.path().join(&licence), root.join(&licence));
        std::fs::rename(&from, &to).map_err(io("cannot move a part of the toolchain to", &to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: Addition = Addition {
        title: "the tool",
        purpose: "it is for tests",
        without: "nothing follows",
        wheel: Wheel {
            name: "nvidia-cuda-tool",
            version: "13.0.85",
            megabytes: 1,
            sha256: ["", ""],
        },
        file: "nvidia/cu13/bin/tool",
        mark: "tool-version",
    };

    #[test]
    fn an_addition_is_there_once_file_and_mark_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(TOOL.is_due(root));
        let file = root.join(TOOL.file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        let found = TOOL.find(root);
        assert_eq!(found, None, "an unmarked file may be half of one");
        std::fs::write(root.join(TOOL.mark), "13.0.85\n").unwrap();
        assert_eq!(TOOL.find(root), Some(file.clone()));
        assert!(!TOOL.is_due(root));
        std::fs::remove_file(&file).unwrap();
        assert!(TOOL.is_due(root), "a lost file is fetched again");
    }

    #[test]
    fn a_failed_download_is_not_repeated_but_another_version_is_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join(TOOL.mark);
        std::fs::write(&mark, "13.0.85 missing: no network\n").unwrap();
        assert!(!TOOL.is_due(folder.path()));
        assert_eq!(TOOL.find(folder.path()), None);
        std::fs::write(&mark, "12.8.90\n").unwrap();
        assert!(TOOL.is_due(folder.path()));
    }
}
