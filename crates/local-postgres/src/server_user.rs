//! The operating system's user that the server runs as.
//!
//! Invariant: server programs run only through [`ServerUser::command`], never as root. An ordinary
//! user runs them as itself; root hands them to `postgres`, to `lightspeed`, or to `nobody`.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::{Uid, User, geteuid};

use crate::error::{At, Error};

/// Who runs the server programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUser {
    name: String,
    /// User and group to change to; `None` stays as it is.
    switch_to: Option<(u32, u32)>,
}

impl ServerUser {
    /// The user for this process: itself, or somebody unprivileged when it is root.
    pub(crate) fn choose() -> Result<Self, Error> {
        let own = geteuid();
        if !own.is_root() {
            let name = User::from_uid(own).ok().flatten().map(|u| u.name);
            return Ok(Self {
                name: name.unwrap_or_else(|| own.to_string()),
                switch_to: None,
            });
        }
        let existing = ["postgres", "lightspeed"].into_iter().find_map(by_name);
        let Some(user) = existing
            .or_else(create_lightspeed)
            .or_else(|| by_name("nobody"))
        else {
            return Err(Error::NoServerUser {
                detail: "there is no user `postgres` or `nobody`, and useradd failed".into(),
            });
        };
        user.check()?;
        Ok(user)
    }

    /// The user for a state folder: the owner of the cluster in it, so that root carries on with a
    /// cluster that somebody else began; else as [`ServerUser::choose`] says.
    pub(crate) fn for_state(state: &Path) -> Result<Self, Error> {
        let cluster = crate::layout::Layout::new(state).cluster();
        let owner = cluster.metadata().ok().filter(|m| m.uid() != 0);
        match owner {
            Some(owner) if geteuid().is_root() => {
                let user = User::from_uid(Uid::from_raw(owner.uid())).ok().flatten();
                let user = Self {
                    name: user.map_or_else(|| owner.uid().to_string(), |u| u.name),
                    switch_to: Some((owner.uid(), owner.gid())),
                };
                user.check()?;
                Ok(user)
            }
            _ => Self::choose(),
        }
    }

    /// The user's name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A command that runs as this user, in `/`, with an environment that says nothing about other
    /// clusters and prints English.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir("/")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        if let Some((user, group)) = self.switch_to {
            command.uid(user).gid(group);
        }
        command
    }

    /// Makes the user the owner of `path`.
    pub(crate) fn own(&self, path: &Path) -> Result<(), Error> {
        match self.switch_to {
            Some((user, group)) => std::os::unix::fs::chown(path, Some(user), Some(group)).at(path),
            None => Ok(()),
        }
    }

    /// Whether the user can enter `folder`; asked of the kernel, so that ACLs and mounts count.
    pub(crate) fn can_enter(&self, folder: &Path) -> bool {
        if self.switch_to.is_none() {
            return true;
        }
        self.command("/bin/sh")
            .args(["-c", "cd -- \"$1\"", "sh"])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    fn check(&self) -> Result<(), Error> {
        let ran = self.command("/bin/sh").args(["-c", ":"]).status();
        match ran {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Error::NoServerUser {
                detail: format!("a shell as `{}` ended with {status}", self.name),
            }),
            Err(error) => Err(Error::NoServerUser {
                detail: format!("changing to `{}`: {error}", self.name),
            }),
        }
    }
}

fn by_name(name: &str) -> Option<ServerUser> {
    let user = User::from_name(name).ok().flatten()?;
    (user.uid != Uid::from_raw(0)).then(|| ServerUser {
        name: user.name,
        switch_to: Some((user.uid.as_raw(), user.gid.as_raw())),
    })
}

/// Makes the system user `lightspeed`, with the tool of the shadow suite or of BusyBox.
fn create_lightspeed() -> Option<ServerUser> {
    let tools: [(&str, &[&str]); 2] = [
        ("useradd", &["--system", "--no-create-home", "lightspeed"]),
        ("adduser", &["-S", "-D", "-H", "lightspeed"]),
    ];
    tools.iter().find_map(|(tool, arguments)| {
        let done = Command::new(tool)
            .args(*arguments)
            .stdin(Stdio::null())
            .output();
        done.is_ok_and(|output| output.status.success())
            .then(|| by_name("lightspeed"))
            .flatten()
    })
}
