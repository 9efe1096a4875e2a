//! Clusters for tests. The owner holds a lock on a file in the folder; a folder whose lock is free
//! belonged to a process that was killed, and the next one to come removes it.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::geteuid;

use crate::error::{At, Error};
use crate::server::StopMode;
use crate::{Cluster, Durability, Options, layout, state_folder};

const PREFIX: &str = "lightspeed-pg-";
const OWNER: &str = "owner.lock";

/// A cluster that ends with this value. Nothing in it survives a crash of the machine.
#[derive(Debug)]
pub struct TemporaryCluster {
    cluster: Cluster,
    folder: tempfile::TempDir,
    _owner: File,
}

impl TemporaryCluster {
    pub(crate) fn new() -> Result<Self, Error> {
        let parent = usable_parent()?;
        sweep(&parent);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&parent)
            .at(&parent)?;
        layout::set_mode(folder.path(), 0o755)?;
        let owner = own(folder.path())?;
        let options = Options {
            durability: Durability::Throwaway,
            max_connections: 300,
            ..Options::default()
        };
        Ok(Self {
            cluster: Cluster::ensure(folder.path(), &options)?,
            folder,
            _owner: owner,
        })
    }

    /// The connection string, password included.
    #[must_use]
    pub fn url(&self) -> String {
        self.cluster.url()
    }

    /// The cluster, to stop or to ask.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Its state folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for TemporaryCluster {
    fn drop(&mut self) {
        // The folder goes next; a server that would not stop is swept by the next one to come.
        let _ = self.cluster.stop_with(StopMode::Immediate);
    }
}

/// The temporary folder, or the fallback for state if the server's user cannot enter it.
fn usable_parent() -> Result<std::path::PathBuf, Error> {
    let temporary = std::env::temp_dir();
    // What is made below has a longer name; ask for one of the same length.
    let sample = temporary.join(format!("{PREFIX}123456"));
    let resolved = state_folder::resolve(&sample)?;
    if resolved.moved_because.is_some() {
        return Ok(resolved.path);
    }
    let _ = std::fs::remove_dir(&sample);
    Ok(temporary)
}

/// Takes the lock before the file has its name, so that nobody finds it free.
fn own(folder: &Path) -> Result<File, Error> {
    let (new, name) = (folder.join("owner.new"), folder.join(OWNER));
    let file = File::create(&new).at(&new)?;
    file.lock().at(&new)?;
    std::fs::rename(&new, &name).at(&name)?;
    Ok(file)
}

/// Removes what killed processes of this user left behind.
fn sweep(parent: &Path) {
    let Ok(entries) = parent.read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry
                .metadata()
                .is_ok_and(|m| m.uid() == geteuid().as_raw());
        if !ours {
            continue;
        }
        let Ok(owner) = File::open(entry.path().join(OWNER)) else {
            continue;
        };
        if owner.try_lock().is_ok() && Cluster::stop_at(&entry.path()).is_ok() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
