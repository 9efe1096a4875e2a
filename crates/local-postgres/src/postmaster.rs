//! Who runs the cluster now, by the server's own pid file, checked against the process table.
//!
//! A pid alone proves nothing: after a reboot or in a fresh container another process may have the
//! number. A postmaster works in its data folder, so `/proc/<pid>/cwd` settles it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::error::{At, Error};
use crate::layout::Layout;

/// A live server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Postmaster {
    pub(crate) pid: i32,
    pub(crate) port: u16,
    /// Folder of its socket; `None` when it listens on the loopback interface only.
    pub(crate) socket_folder: Option<PathBuf>,
    /// Whether it accepts sessions.
    pub(crate) ready: bool,
}

/// The server of this cluster, if one is alive.
pub(crate) fn find(layout: &Layout) -> Option<Postmaster> {
    let text = std::fs::read_to_string(layout.pid_file()).ok()?;
    let postmaster = parse(&text)?;
    is_ours(postmaster.pid, &layout.data()).then_some(postmaster)
}

/// Makes way for a new server after one that died: waits for the children it left behind, ends
/// those that linger, and removes its pid file and its socket's lock. Their number may now belong to
/// somebody else, or to the dead server itself where nobody has collected it yet: a new server would
/// take either for a live one.
///
/// Must be called only when [`find`] finds nothing, under the cluster's lock.
pub(crate) fn clear_stale(layout: &Layout) -> Result<(), Error> {
    const WAITS: u32 = 50;
    const WAIT: Duration = Duration::from_millis(100);
    for turn in 0..WAITS {
        let left = working_in(&layout.data());
        if left.is_empty() {
            break;
        }
        // Children notice that the postmaster is gone when they next wait; a busy one needs help.
        let signal = match turn {
            20 => Some(Signal::SIGQUIT),
            40 => Some(Signal::SIGKILL),
            _ => None,
        };
        if let Some(signal) = signal {
            for pid in left {
                let _ = kill(Pid::from_raw(pid), signal);
            }
        }
        std::thread::sleep(WAIT);
    }
    let pid_file = layout.pid_file();
    let Ok(text) = std::fs::read_to_string(&pid_file) else {
        return Ok(());
    };
    if let Some(lock) = parse(&text).and_then(|dead| socket_lock(&dead)) {
        std::fs::remove_file(&lock).at(&lock)?;
    }
    std::fs::remove_file(&pid_file).at(&pid_file)
}

/// The lock that a dead server left at its socket; none if another server has made it since.
fn socket_lock(dead: &Postmaster) -> Option<PathBuf> {
    let folder = dead.socket_folder.as_ref()?;
    let lock = folder.join(format!(".s.PGSQL.{}.lock", dead.port));
    let text = std::fs::read_to_string(&lock).ok()?;
    let owner: i32 = text.lines().next()?.trim().parse().ok()?;
    (owner == dead.pid).then_some(lock)
}

/// Lines: pid, data folder, start time, port, socket folder, listen address, shared memory, status.
fn parse(text: &str) -> Option<Postmaster> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let line = |n: usize| lines.get(n).copied().unwrap_or_default();
    Some(Postmaster {
        pid: line(0).parse().ok().filter(|&pid| pid > 0)?,
        port: line(3).parse().unwrap_or(0),
        socket_folder: Some(line(4)).filter(|l| !l.is_empty()).map(PathBuf::from),
        ready: line(7) == "ready",
    })
}

fn is_ours(pid: i32, data: &Path) -> bool {
    if !Path::new("/proc/self").exists() {
        return kill(Pid::from_raw(pid), None).is_ok();
    }
    works_in(pid, data)
}

fn works_in(pid: i32, data: &Path) -> bool {
    let Ok(data) = data.canonicalize() else {
        return false;
    };
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == data)
}

fn working_in(data: &Path) -> Vec<i32> {
    let Ok(entries) = Path::new("/proc").read_dir() else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid| works_in(pid, data))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_file_is_read() {
        let text = "42\n/s/postgres/data\n1700000000\n5432\n/s/postgres\n\n  1 2\nready   \n";
        let postmaster = parse(text).unwrap();
        assert_eq!(postmaster.pid, 42);
        assert_eq!(postmaster.port, 5432);
        assert_eq!(postmaster.socket_folder, Some("/s/postgres".into()));
        assert!(postmaster.ready);
        let starting = parse("42\n/d\n17\n5433\n\n127.0.0.1\n  1 2\nstarting\n").unwrap();
        assert_eq!(starting.socket_folder, None);
        assert!(!starting.ready);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_pid_that_somebody_else_has_is_not_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.data()).unwrap();
        let own = std::process::id();
        std::fs::write(
            layout.pid_file(),
            format!("{own}\n/x\n1\n5432\n/x\n\n1\nready\n"),
        )
        .unwrap();
        assert_eq!(find(&layout), None);
        clear_stale(&layout).unwrap();
        assert!(!layout.pid_file().exists());
    }

    #[test]
    fn a_dead_server_leaves_no_lock_at_its_socket_and_others_keep_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.data()).unwrap();
        let sockets = folder.path().display();
        let own = std::process::id();
        for (port, owner, stays) in [(5432, own, false), (5433, own + 1, true)] {
            let file = format!("{own}\n/x\n1\n{port}\n{sockets}\n\n1\nready\n");
            std::fs::write(layout.pid_file(), file).unwrap();
            let lock = folder.path().join(format!(".s.PGSQL.{port}.lock"));
            std::fs::write(&lock, format!("{owner}\n/x\n")).unwrap();
            clear_stale(&layout).unwrap();
            assert_eq!(lock.exists(), stays, "port {port}");
            assert!(!layout.pid_file().exists());
        }
    }
}
