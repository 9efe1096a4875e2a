//! Where state lives: the folder that was asked for, unless it cannot serve.
//!
//! A folder cannot serve when the server's user (another one, for root) is kept out of it, or when
//! a socket in it would have a name longer than the kernel takes. Then a folder named by a hash of
//! the one asked for is used: the same each time, and another for each checkout.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use sha2::{Digest, Sha256};

use crate::error::{At, Error};
use crate::layout;
use crate::server_user::ServerUser;

/// A folder that the server can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolder {
    /// The folder; it exists.
    pub path: PathBuf,
    /// Why it is not the folder that was asked for, as a clause for a person.
    pub moved_because: Option<String>,
}

/// The folder to use when `asked` was asked for. Creates it.
///
/// # Errors
/// [`Error::Io`] when neither can be made, [`Error::NoHome`] when there is nowhere else,
/// [`Error::Closed`] when the server's user is kept out of the other one as well.
pub fn resolve(asked: &Path) -> Result<StateFolder, Error> {
    let asked = std::path::absolute(asked).at(asked)?;
    let user = ServerUser::for_state(&asked)?;
    let Some(reason) = why_not(&asked, &user)? else {
        return Ok(StateFolder {
            path: asked,
            moved_because: None,
        });
    };
    let path = fallback_root()?.join(name_for(&asked));
    std::fs::create_dir_all(&path).at(&path)?;
    if !user.can_enter(&path) {
        return Err(Error::Closed {
            folder: path,
            user: user.name().to_owned(),
        });
    }
    Ok(StateFolder {
        path,
        moved_because: Some(reason),
    })
}

/// Where state may be when `asked` was asked for, likeliest first. Looks at nothing and makes
/// nothing: for those who only read what is there.
#[must_use]
pub fn candidates(asked: &Path) -> Vec<PathBuf> {
    let Ok(asked) = std::path::absolute(asked) else {
        return vec![asked.to_owned()];
    };
    let fallback = fallback_root().map(|root| root.join(name_for(&asked)));
    std::iter::once(asked).chain(fallback.ok()).collect()
}

fn why_not(folder: &Path, user: &ServerUser) -> Result<Option<String>, Error> {
    if !layout::socket_fits(folder) {
        return Ok(Some(format!(
            "the name of a socket in {} would exceed {} bytes",
            folder.display(),
            layout::MAX_SOCKET_BYTES
        )));
    }
    std::fs::create_dir_all(folder).at(folder)?;
    if user.can_enter(folder) {
        return Ok(None);
    }
    Ok(Some(format!(
        "the user `{}`, who runs Postgres, cannot enter {}",
        user.name(),
        folder.display()
    )))
}

fn fallback_root() -> Result<PathBuf, Error> {
    if geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/lightspeed"));
    }
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|root| root.join("lightspeed"))
        .ok_or(Error::NoHome)
}

fn name_for(asked: &Path) -> String {
    hex::encode(&Sha256::digest(asked.as_os_str().as_bytes())[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usable_folder_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        // `tempdir` is closed to others, which matters to root alone.
        crate::layout::set_mode(folder.path(), 0o755).unwrap();
        let asked = folder.path().join("data");
        let state = resolve(&asked).unwrap();
        assert_eq!(state.path, asked);
        assert_eq!(state.moved_because, None);
        assert!(asked.is_dir());
    }

    #[test]
    fn names_differ_by_checkout_and_stay() {
        let one = name_for(Path::new("/srv/one/data"));
        assert_eq!(one, name_for(Path::new("/srv/one/data")));
        assert_ne!(one, name_for(Path::new("/srv/two/data")));
        assert_eq!(one.len(), 16);
    }
}
