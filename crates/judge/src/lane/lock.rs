//! One card, one judging: a lock that every process of the host sees.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::Gpu;
use crate::outcome::Interruption;

/// Between two tries.
const INTERVAL: Duration = Duration::from_millis(20);

/// A card that is ours until this is dropped, or the process ends.
#[derive(Debug)]
pub(super) struct LaneLock {
    _file: File,
}

/// Folders that every user of a host may write to and nobody can take another's file from.
const FOLDERS: [&str; 3] = ["/run/lock", "/var/lock", "/tmp"];
const STICKY_FOR_ALL: u32 = 0o1002;

impl LaneLock {
    /// Where the lock of a card lies: the same place for all processes of the host.
    pub fn path(gpu: &Gpu) -> PathBuf {
        let is_shared = |folder: &&Path| {
            let mode = std::fs::metadata(folder).map(|folder| folder.mode());
            mode.is_ok_and(|mode| mode & STICKY_FOR_ALL == STICKY_FOR_ALL)
        };
        let shared = FOLDERS.iter().map(Path::new).find(is_shared);
        let folder = shared.map_or_else(std::env::temp_dir, Path::to_owned);
        folder.join(format!("lightspeed-{}.lane", gpu.uuid))
    }

    /// Waits until a card is free.
    pub fn of(gpu: &Gpu, cancel: &AtomicBool) -> Result<Self, Interruption> {
        let path = Self::path(gpu);
        let lock = Self::take(&path, cancel).map_err(|error| Self::failed(&path, &error))?;
        lock.ok_or_else(Interruption::cancelled)
    }

    /// The same for a card that is free at once.
    pub fn try_at(path: &Path) -> io::Result<Option<Self>> {
        Self::take(path, &AtomicBool::new(true))
    }

    /// What is told where a lock cannot be had.
    pub fn failed(path: &Path, error: &io::Error) -> Interruption {
        Interruption::ours(format!("the card's lock {}: {error}", path.display()))
    }

    /// Waits until the lock is free; `None` where `cancel` was set first.
    fn take(path: &Path, cancel: &AtomicBool) -> io::Result<Option<Self>> {
        let file = open(path)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if cancel.load(Ordering::Relaxed) => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(INTERVAL),
            }
        }
    }
}

/// Opens the file, made by whoever came first. Reading is enough to lock it, and all that another user
/// may do. A link is not followed and nothing but a file is taken: anybody may have put it there.
fn open(path: &Path) -> io::Result<File> {
    let mut existing = OpenOptions::new();
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    existing.read(true).custom_flags(flags);
    let file = match existing.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut new = OpenOptions::new();
            match new.write(true).create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    existing.open(path)?
                }
                made => {
                    let made = made?;
                    // Whatever the mask of this process says, others must be able to open it.
                    made.set_permissions(Permissions::from_mode(0o644))?;
                    made
                }
            }
        }
        opened => opened?,
    };
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn one_holds_a_card_and_the_next_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("card");
        let cancel = Arc::new(AtomicBool::new(false));
        let held = LaneLock::take(&path, &cancel).unwrap().unwrap();
        let waiting = {
            let (path, cancel) = (path.clone(), cancel.clone());
            std::thread::spawn(move || LaneLock::take(&path, &cancel).unwrap().is_some())
        };
        std::thread::sleep(Duration::from_millis(100));
        assert!(!waiting.is_finished());
        drop(held);
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn who_waits_can_be_called_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("card");
        let _held = LaneLock::take(&path, &AtomicBool::new(false)).unwrap();
        let cancelled = AtomicBool::new(true);
        assert!(LaneLock::take(&path, &cancelled).unwrap().is_none());
    }

    #[test]
    fn a_pipe_that_somebody_put_there_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("card");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert!(LaneLock::take(&path, &AtomicBool::new(false)).is_err());
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::fs::write(&target, "").unwrap();
        let path = folder.path().join("card");
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(LaneLock::take(&path, &AtomicBool::new(false)).is_err());
    }
}
