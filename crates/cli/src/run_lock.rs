//! Who runs the service of a state folder: a locked file that says where it listens.
//!
//! The lock goes with the process that holds it, so a killed `up` leaves no stale claim; what the
//! file says counts only while it is locked.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a running `up` says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    /// Its process id.
    pub(crate) pid: u32,
    /// Where it listens; `None` until it does.
    pub(crate) url: Option<String>,
}

/// The claim of this process. Ends with the value.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
}

impl RunLock {
    /// Takes the claim, or says who has it.
    pub(crate) fn take(state: &Path) -> std::io::Result<Result<Self, Running>> {
        let mut file = open(state)?;
        match file.try_lock() {
            Ok(()) => {
                let mut lock = Self { file };
                lock.say(None)?;
                Ok(Ok(lock))
            }
            Err(TryLockError::WouldBlock) => Ok(Err(read(&mut file))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Writes where this process listens.
    pub(crate) fn say(&mut self, url: Option<&str>) -> std::io::Result<()> {
        let running = Running {
            pid: std::process::id(),
            url: url.map(str::to_owned),
        };
        let text = toml::to_string(&running).map_err(std::io::Error::other)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }
}

/// Who has the claim now; `None` if nobody.
pub(crate) fn holder(state: &Path) -> Option<Running> {
    let mut file = File::options()
        .read(true)
        .write(true)
        .open(path(state))
        .ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Some(read(&mut file)),
        _ => None,
    }
}

fn path(state: &Path) -> PathBuf {
    state.join("up.lock")
}

fn open(state: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options
        .create(true)
        .read(true)
        .write(true)
        .truncate(false)
        .open(path(state))
}

/// A holder that has not written yet has no pid to name.
fn read(file: &mut File) -> Running {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
    toml::from_str(&text).unwrap_or(Running { pid: 0, url: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_the_others_learn_who() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(holder(folder.path()), None);
        let mut lock = RunLock::take(folder.path()).unwrap().unwrap();
        lock.say(Some("http://127.0.0.1:8080")).unwrap();
        let expected = Running {
            pid: std::process::id(),
            url: Some("http://127.0.0.1:8080".into()),
        };
        assert_eq!(holder(folder.path()), Some(expected.clone()));
        assert_eq!(RunLock::take(folder.path()).unwrap().unwrap_err(), expected);
        drop(lock);
        assert_eq!(holder(folder.path()), None);
        assert!(RunLock::take(folder.path()).unwrap().is_ok());
    }
}
