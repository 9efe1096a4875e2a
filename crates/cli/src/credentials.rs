//! `credentials.toml` in the state folder: what `up` left for the verbs that talk to its service.
//! Mode 0600; replaced as a whole, so that no reader sees half of it.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file's contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credentials {
    /// Where the service listens.
    pub(crate) url: Option<String>,
    /// Token of the local user.
    pub(crate) token: Option<String>,
    /// Key of the local worker.
    pub(crate) worker_key: Option<String>,
}

impl Credentials {
    /// Name of the file in a state folder.
    pub(crate) fn path(state: &Path) -> PathBuf {
        state.join("credentials.toml")
    }

    /// The file of the first folder that has a readable one; nothing if none has.
    pub(crate) fn find(states: &[PathBuf]) -> Self {
        states
            .iter()
            .find_map(|state| Self::read(state))
            .unwrap_or_default()
    }

    /// The file of one folder.
    pub(crate) fn read(state: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(Self::path(state)).ok()?;
        toml::from_str(&text).ok()
    }

    /// Replaces the file of one folder.
    pub(crate) fn write(&self, state: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        let (path, new) = (Self::path(state), state.join(".credentials.new"));
        let _ = std::fs::remove_file(&new);
        let mut file = std::fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, &path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let credentials = Credentials {
            url: Some("http://127.0.0.1:8080".into()),
            token: Some("lsp_x".into()),
            worker_key: None,
        };
        credentials.write(folder.path()).unwrap();
        credentials.write(folder.path()).unwrap();
        assert_eq!(Credentials::read(folder.path()), Some(credentials.clone()));
        let elsewhere = folder.path().join("none");
        let found = Credentials::find(&[elsewhere, folder.path().to_owned()]);
        assert_eq!(found, credentials);
        let mode = Credentials::path(folder.path())
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
