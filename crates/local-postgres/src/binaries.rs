//! Finding the server's programs on this machine, newest first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::server_user::ServerUser;

/// The oldest major version that the migrations are written for.
pub(crate) const OLDEST_MAJOR: u32 = 14;

/// A folder with `postgres` and `initdb` of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binaries {
    pub(crate) folder: PathBuf,
    pub(crate) major: u32,
}

impl Binaries {
    /// The path of one program.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Every usable installation, newest first. One counts only if `user` can run it.
pub(crate) fn find(user: &ServerUser) -> Vec<Binaries> {
    let mut found: Vec<Binaries> = candidate_folders()
        .into_iter()
        .filter_map(|folder| inspect(folder, user))
        .filter(|binaries| binaries.major >= OLDEST_MAJOR)
        .collect();
    found.sort_by(|a, b| b.major.cmp(&a.major).then(a.folder.cmp(&b.folder)));
    found
}

/// Folders where distributions keep the server, each a pattern with at most one `*` in its last
/// component but one or in its last.
const KNOWN: &[(&str, &str, &str)] = &[
    // parent, prefix of the versioned folder, folder below it
    ("/usr/lib/postgresql", "", "bin"),         // Debian, Ubuntu
    ("/usr", "pgsql-", "bin"),                  // PGDG on RHEL and Fedora
    ("/usr/lib", "postgresql", "bin"),          // openSUSE: /usr/lib/postgresql17/bin
    ("/usr/lib64", "postgresql-", "bin"),       // Gentoo
    ("/usr/libexec", "postgresql", ""),         // Alpine
    ("/usr/local", "pgsql", "bin"),             // from source
    ("/opt/homebrew/opt", "postgresql", "bin"), // Homebrew on Apple silicon
    ("/usr/local/opt", "postgresql", "bin"),    // Homebrew on Intel
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql", "bin"),
    ("/Library/PostgreSQL", "", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

fn candidate_folders() -> BTreeSet<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: BTreeSet<PathBuf> = std::env::split_paths(&path)
        .filter_map(|folder| real_folder(&folder))
        .collect();
    for (parent, prefix, below) in KNOWN {
        folders.extend(versioned(Path::new(parent), prefix, below));
    }
    folders.extend(from_pg_config());
    folders
}

/// Follows the link of the program itself: a wrapper folder such as `/usr/local/bin` may hold links.
fn real_folder(folder: &Path) -> Option<PathBuf> {
    let program = folder.join("postgres").canonicalize().ok()?;
    program.parent().map(Path::to_path_buf)
}

fn versioned(parent: &Path, prefix: &str, below: &str) -> Vec<PathBuf> {
    let Ok(entries) = parent.read_dir() else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .filter_map(|entry| real_folder(&entry.path().join(below)))
        .collect()
}

fn from_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    real_folder(Path::new(String::from_utf8(output.stdout).ok()?.trim()))
}

fn inspect(folder: PathBuf, user: &ServerUser) -> Option<Binaries> {
    if !["initdb", "postgres"]
        .iter()
        .all(|p| folder.join(p).is_file())
    {
        return None;
    }
    let output = user
        .command(folder.join("postgres"))
        .arg("--version")
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let major = major_version(&String::from_utf8_lossy(&output.stdout))?;
    Some(Binaries { folder, major })
}

/// `postgres (PostgreSQL) 15.7 (Debian 15.7-0+deb12u1)` is 15; `17beta2` is 17.
fn major_version(text: &str) -> Option<u32> {
    let number = text.split(") ").nth(1)?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_several_packagers_are_read() {
        let debian = "postgres (PostgreSQL) 15.7 (Debian 15.7-0+deb12u1)\n";
        assert_eq!(major_version(debian), Some(15));
        assert_eq!(major_version("postgres (PostgreSQL) 17beta2"), Some(17));
        assert_eq!(major_version("postgres: not found"), None);
    }

    #[test]
    fn links_lead_to_the_real_folder() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("opt/16/bin");
        let linked = folder.path().join("bin");
        std::fs::create_dir_all(&real).unwrap();
        std::fs::create_dir_all(&linked).unwrap();
        std::fs::write(real.join("postgres"), "").unwrap();
        std::os::unix::fs::symlink(real.join("postgres"), linked.join("postgres")).unwrap();
        let expected = real.canonicalize().unwrap();
        assert_eq!(real_folder(&linked), Some(expected.clone()));
        let versioned = versioned(&folder.path().join("opt"), "1", "bin");
        assert_eq!(versioned, vec![expected]);
    }

    #[test]
    fn a_folder_without_a_working_server_is_not_offered() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["initdb", "postgres"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let user = ServerUser::choose().unwrap();
        assert_eq!(inspect(folder.path().to_owned(), &user), None);
    }
}
