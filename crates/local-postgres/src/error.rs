//! Why a cluster cannot be had. Every message names a way out, because `up` prints it as it is.

use std::path::PathBuf;

/// Why there is no running cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No usable server programs, and they could not be installed from here.
    #[error(
        "Postgres is not installed. Install it with `{command}`, or set DATABASE_URL to a server that runs already"
    )]
    NotInstalled {
        /// What an administrator would run.
        command: String,
    },
    /// The package manager ran and failed, or installed nothing usable.
    #[error(
        "installing Postgres with `{command}` failed: {detail}. Set DATABASE_URL to use a server that runs already"
    )]
    Install {
        /// What was run.
        command: String,
        /// The end of what it printed.
        detail: String,
    },
    /// The data folder was made by a major version that is not on this machine.
    #[error(
        "the database in {} was made by Postgres {cluster}, which is not installed here (found: {found}). Install that version, or move the folder away to start anew", data.display()
    )]
    OtherVersion {
        /// The data folder.
        data: PathBuf,
        /// Its major version.
        cluster: u32,
        /// What is installed.
        found: String,
    },
    /// Postgres refuses to run as root, and no other user can be taken.
    #[error(
        "Postgres refuses to run as root and no other user can be used here ({detail}). Start as an ordinary user, or set DATABASE_URL"
    )]
    NoServerUser {
        /// What was tried.
        detail: String,
    },
    /// The server's user cannot enter the state folder.
    #[error(
        "the user `{user}`, who runs Postgres, cannot enter {}. Choose another folder with --state or LIGHTSPEED_STATE", folder.display()
    )]
    Closed {
        /// The folder.
        folder: PathBuf,
        /// The user.
        user: String,
    },
    /// A server program failed.
    #[error("{program} failed: {detail}")]
    Program {
        /// Which one.
        program: &'static str,
        /// The end of what it printed or logged.
        detail: String,
    },
    /// The file system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// Neither `XDG_STATE_HOME` nor `HOME` says where state may live.
    #[error("no folder for state: set LIGHTSPEED_STATE, XDG_STATE_HOME or HOME")]
    NoHome,
    /// The operating system gave no random bytes for the password.
    #[error("no random bytes from the operating system: {0}")]
    Random(getrandom::Error),
}

/// Attaches the path to an I/O error.
pub(crate) trait At<T> {
    fn at(self, path: &std::path::Path) -> Result<T, Error>;
}

impl<T> At<T> for std::io::Result<T> {
    fn at(self, path: &std::path::Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })
    }
}

/// The last lines of a text, short enough for an error message.
pub(crate) fn tail(text: &str) -> String {
    const LINES: usize = 6;
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n  ")
}
