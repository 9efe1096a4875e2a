//! One card, one judging: a lock that every process of the host sees.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two tries.
const INTERVAL: Duration = Duration::from_millis(20);

/// A card that is ours until this is dropped, or the process ends.
#[derive(Debug)]
pub(super) struct LaneLock {
    _file: File,
}

/// Where the lock of a card lies: a place that all users of the host share.
pub(super) fn path(uuid: &str) -> PathBuf {
    std::env::temp_dir().join(format!("lightspeed-{uuid}.lane"))
}

impl LaneLock {
    /// Waits until the card is free; `None` where `cancel` was set first.
    pub fn take(path: &Path, cancel: &AtomicBool) -> io::Result<Option<Self>> {
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
/// may do. A link is not followed: anybody may have put it there.
fn open(path: &Path) -> io::Result<File> {
    let mut existing = OpenOptions::new();
    existing.read(true).custom_flags(libc::O_NOFOLLOW);
    match existing.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    let mut new = OpenOptions::new();
    new.write(true).create_new(true).mode(0o644);
    match new.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing.open(path),
        made => made,
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
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::fs::write(&target, "").unwrap();
        let path = folder.path().join("card");
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(LaneLock::take(&path, &AtomicBool::new(false)).is_err());
    }
}
