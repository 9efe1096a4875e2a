//! What a child may do, and what the host could enforce of it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one child may reach and use. Everything not granted is denied.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// Files and folders that may be read. A character device named here may be read, written and
    /// controlled (`ioctl`), since a device is of no use otherwise. Missing paths grant nothing.
    pub readable: Vec<PathBuf>,
    /// Shared libraries, or folders of them, that may be read and mapped executable. Landlock
    /// tells apart reading and executing as a program; the latter is denied to every path.
    pub loadable: Vec<PathBuf>,
    /// Files, or folders of them, that may be written and truncated too; nothing can be made in them.
    pub writable: Vec<PathBuf>,
    /// The one program that the child becomes as its last step, by [`crate::ChildChannel::become_program`].
    pub program: Option<Program>,
    /// Whether the child may listen on local sockets. The CUDA driver insists; nobody can be called
    /// from there, since `connect` stays denied.
    pub local_listener: bool,
    /// Processor time over all threads, in seconds.
    pub cpu_s: u64,
    /// Time from the start of a child that is asked once to its response. A session's requests each
    /// bring a limit of their own.
    pub wall: Duration,
    /// Variables of the environment besides [`crate::ENVIRONMENT`].
    pub environment: Vec<(String, String)>,
    /// Address space (`RLIMIT_AS`). `None` for children that use CUDA, which reserves far more
    /// addresses than memory.
    pub memory_bytes: Option<u64>,
    /// Everything the child may say: the response and all progress messages together.
    pub max_response_bytes: u64,
    /// Run on a host that lacks Landlock or seccomp too; the response then says so.
    pub allow_unconfined: bool,
}

/// A foreign program, which runs under everything that its child is confined by. Besides what other children
/// may not, it may not make files in memory either, and run no program but itself or
/// its loader: what it says on standard output is all
/// that is left of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// What it is called with; its input is [`crate::PROGRAM_INPUT`].
    pub arguments: Vec<String>,
    /// What the kernel starts to run it: the dynamic loader, by every path that it may have. Its libraries
    /// are [`Policy::loadable`].
    pub loaders: Vec<PathBuf>,
}

/// How a child was in fact confined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The Landlock ABI in force, 0 for none. 1 to 3 leave `truncate` or moving files open on some
    /// kernels; from 4 on TCP is denied, from 6 on signals to processes outside are.
    pub landlock_abi: u32,
    /// Whether the system-call filter is in force.
    pub seccomp: bool,
    /// Whether the child runs as an unprivileged user of its own. `false` when the supervisor is
    /// not root, or when a granted path lies in a folder that others cannot enter.
    pub own_user: bool,
}

impl Confinement {
    /// Whether files and system calls are both restricted.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        self.landlock_abi > 0 && self.seccomp
    }

    /// A sentence for the report's warnings when something is missing.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let missing = match (self.landlock_abi > 0, self.seccomp) {
            (true, true) => return None,
            (false, true) => "Landlock (files)",
            (true, false) => "seccomp (system calls)",
            (false, false) => "Landlock (files) and seccomp (system calls)",
        };
        Some(format!(
            "judged without full isolation: this host lacks {missing}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_both_locks_are_no_warning() {
        let confinement = |landlock_abi, seccomp| Confinement {
            landlock_abi,
            seccomp,
            own_user: false,
        };
        assert_eq!(confinement(7, true).warning(), None);
        assert!(!confinement(0, true).is_confined());
        let warning = confinement(0, true).warning().unwrap();
        assert!(warning.contains("Landlock"), "{warning}");
        assert!(confinement(7, false).warning().unwrap().contains("seccomp"));
    }
}
