//! Installing Postgres through the operating system's own package manager.

use std::process::{Command, Stdio};

use nix::unistd::geteuid;

use crate::error::{Error, tail};

/// Package managers, in the order they are looked for, with the command a person would type.
const MANAGERS: &[(&str, &str)] = &[
    (
        "apt-get",
        "apt-get install -y --no-install-recommends postgresql",
    ),
    ("dnf", "dnf install -y postgresql-server"),
    ("zypper", "zypper install -y postgresql-server"),
    ("pacman", "pacman -S --noconfirm postgresql"),
    ("apk", "apk add postgresql"),
    ("brew", "brew install postgresql"),
];

/// Installs the server with apt-get, as root or by a sudo that asks for nothing. Elsewhere it says
/// what to run.
pub(crate) fn install() -> Result<(), Error> {
    let Some(sudo) = privilege() else {
        return Err(not_installed());
    };
    if !on_path("apt-get") {
        return Err(not_installed());
    }
    // Lists may be absent (containers) or old; a failure here shows in the install itself.
    let _ = apt(sudo, &["update"]);
    let arguments = ["install", "-y", "--no-install-recommends", "postgresql"];
    let output = apt(sudo, &arguments);
    let command = format!("apt-get {}", arguments.join(" "));
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Error::Install {
            command,
            detail: tail(&String::from_utf8_lossy(&output.stderr)),
        }),
        Err(error) => Err(Error::Install {
            command,
            detail: error.to_string(),
        }),
    }
}

/// The error that tells what an administrator of this machine would run.
pub(crate) fn not_installed() -> Error {
    let command = MANAGERS.iter().find(|(tool, _)| on_path(tool)).map_or(
        "your package manager's postgresql server package",
        |(_, c)| c,
    );
    let needs_sudo = !geteuid().is_root() && !command.starts_with("brew");
    Error::NotInstalled {
        command: format!("{}{command}", if needs_sudo { "sudo " } else { "" }),
    }
}

/// How to become root: not at all, or by `sudo -n`; `None` if neither works.
fn privilege() -> Option<bool> {
    if geteuid().is_root() {
        return Some(false);
    }
    let asked = Command::new("sudo")
        .args(["-n", "true"])
        .stdin(Stdio::null())
        .output();
    asked.is_ok_and(|o| o.status.success()).then_some(true)
}

fn apt(sudo: bool, arguments: &[&str]) -> std::io::Result<std::process::Output> {
    let mut command = if sudo {
        let mut command = Command::new("sudo");
        command.args(["-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        command
    } else {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    command.args(arguments).stdin(Stdio::null()).output()
}

fn on_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}
