//! Names of files and folders under a state folder, and their modes.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{At, Error};

/// The longest name of a Unix socket: `sun_path` holds 108 bytes with its end.
pub(crate) const MAX_SOCKET_BYTES: usize = 107;

/// The port in the socket's name. Each cluster has a folder of its own, so it can be the same.
pub(crate) const SOCKET_PORT: u16 = 5432;

/// The files of one cluster.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    state: PathBuf,
}

impl Layout {
    pub(crate) fn new(state: &Path) -> Self {
        Self {
            state: state.to_owned(),
        }
    }

    /// Everything of the cluster but its log. Holds the socket.
    pub(crate) fn cluster(&self) -> PathBuf {
        self.state.join("postgres")
    }

    /// The server's data folder. It exists only once it is complete.
    pub(crate) fn data(&self) -> PathBuf {
        self.cluster().join("data")
    }

    /// Where a data folder is made before it takes its name.
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.cluster().join("data.unfinished")
    }

    /// The password of the one role. Readable by its owner alone.
    pub(crate) fn password(&self) -> PathBuf {
        self.cluster().join("password")
    }

    /// Held while a process changes the cluster.
    pub(crate) fn lock(&self) -> PathBuf {
        self.state.join("postgres.lock")
    }

    /// The server's log.
    pub(crate) fn log(&self) -> PathBuf {
        self.state.join("log/postgres.log")
    }

    /// The server's own statement of who runs it.
    pub(crate) fn pid_file(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }

    /// Settings of ours, read after the server's own file.
    pub(crate) fn settings(&self) -> PathBuf {
        self.data().join("lightspeed.conf")
    }

    /// The socket's name.
    pub(crate) fn socket(&self) -> PathBuf {
        self.cluster().join(format!(".s.PGSQL.{SOCKET_PORT}"))
    }
}

/// Whether the kernel takes the name of a socket in this state folder.
pub(crate) fn socket_fits(state: &Path) -> bool {
    Layout::new(state).socket().as_os_str().as_bytes().len() <= MAX_SOCKET_BYTES
}

/// Sets permission bits.
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).at(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_limit_is_met_exactly() {
        let fixed = "/postgres/.s.PGSQL.5432".len();
        let longest = format!("/{}", "x".repeat(MAX_SOCKET_BYTES - fixed - 1));
        assert!(socket_fits(Path::new(&longest)));
        assert!(!socket_fits(Path::new(&format!("{longest}x"))));
    }
}
