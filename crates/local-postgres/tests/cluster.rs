//! A real server, killed, moved and locked out the way machines do it.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use local_postgres::{Cluster, Durability, Options, Status, state_folder};

/// Throw-away settings, so that the tests do not wait for a disk.
fn options() -> Options<'static> {
    Options {
        durability: Durability::Throwaway,
        ..Options::default()
    }
}

/// A folder that other users can enter, stopped and removed at the end.
struct State(tempfile::TempDir);

impl State {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o755);
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = Cluster::stop_at(self.path());
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs one statement through the ordinary client and returns what it prints.
fn query(url: &str, statement: &str) -> String {
    let output = Command::new("psql")
        .args([
            url,
            "-X",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statement,
        ])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{statement}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn pid(cluster: &Cluster) -> i32 {
    match cluster.status() {
        Status::Running { pid } => pid,
        other => panic!("not running: {other:?}"),
    }
}

fn kill_hard(pid: i32) {
    let done = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(done.unwrap().success());
}

#[test]
fn a_second_ensure_reuses_the_server_and_a_stop_keeps_the_data() {
    let state = State::new();
    assert_eq!(Cluster::status_at(state.path()), Status::Absent);
    let first = Cluster::ensure(state.path(), &options()).unwrap();
    query(&first.url(), "CREATE TABLE kept AS SELECT 7 AS n");
    let before = pid(&first);
    let second = Cluster::ensure(state.path(), &options()).unwrap();
    assert_eq!(before, pid(&second));
    first.stop().unwrap();
    assert_eq!(second.status(), Status::Stopped);
    let third = Cluster::ensure(state.path(), &options()).unwrap();
    assert_eq!(query(&third.url(), "SELECT n FROM kept"), "7");
    third.stop().unwrap();
    assert_eq!(Cluster::status_at(state.path()), Status::Stopped);
}

#[test]
fn a_killed_server_is_replaced_and_what_was_committed_is_there() {
    let state = State::new();
    let cluster = Cluster::ensure(state.path(), &Options::default()).unwrap();
    query(&cluster.url(), "CREATE TABLE kept AS SELECT 7 AS n");
    let killed = pid(&cluster);
    kill_hard(killed);
    let again = Cluster::ensure(state.path(), &Options::default()).unwrap();
    assert_ne!(pid(&again), killed);
    assert_eq!(query(&again.url(), "SELECT n FROM kept"), "7");
}

#[test]
fn a_pid_file_whose_number_another_process_has_is_no_obstacle() {
    let state = State::new();
    Cluster::ensure(state.path(), &options())
        .unwrap()
        .stop()
        .unwrap();
    let pid_file = state.path().join("postgres/data/postmaster.pid");
    let own = std::process::id();
    std::fs::write(&pid_file, format!("{own}\n/\n1\n5432\n/\n\n1 1\nready\n")).unwrap();
    assert_eq!(Cluster::status_at(state.path()), Status::Stopped);
    let cluster = Cluster::ensure(state.path(), &options()).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), "1");
}

#[test]
fn a_lost_socket_is_made_again() {
    let state = State::new();
    let cluster = Cluster::ensure(state.path(), &options()).unwrap();
    let before = pid(&cluster);
    std::fs::remove_file(state.path().join("postgres/.s.PGSQL.5432")).unwrap();
    let again = Cluster::ensure(state.path(), &options()).unwrap();
    assert_ne!(before, pid(&again));
    assert_eq!(query(&again.url(), "SELECT 1"), "1");
}

#[test]
fn an_interrupted_first_start_leaves_no_half_cluster() {
    let state = State::new();
    let unfinished = state.path().join("postgres/data.unfinished");
    std::fs::create_dir_all(unfinished.join("base")).unwrap();
    std::fs::write(unfinished.join("PG_VERSION"), "15\n").unwrap();
    let cluster = Cluster::ensure(state.path(), &options()).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), "1");
    assert!(!unfinished.exists());
}

#[test]
fn many_who_start_it_at_once_get_the_same_server() {
    let state = State::new();
    let pids: Vec<i32> = std::thread::scope(|scope| {
        let starters: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| pid(&Cluster::ensure(state.path(), &options()).unwrap())))
            .collect();
        starters.into_iter().map(|s| s.join().unwrap()).collect()
    });
    assert!(pids.iter().all(|&p| p == pids[0]), "{pids:?}");
}

#[test]
fn a_path_too_long_for_a_socket_gets_a_loopback_port() {
    let state = State::new();
    let long = state.path().join("x".repeat(60)).join("y".repeat(60));
    let cluster = Cluster::ensure(&long, &options()).unwrap();
    let url = cluster.url();
    assert!(url.contains("@127.0.0.1:"), "{url}");
    assert_eq!(query(&url, "SELECT 1"), "1");
    let wrong = url.replace("lightspeed:", "lightspeed:0");
    let refused = Command::new("psql")
        .args([&wrong, "-X", "-c", "SELECT 1"])
        .output()
        .unwrap();
    assert!(!refused.status.success(), "any password would do");
    cluster.stop().unwrap();
}

#[test]
fn odd_names_are_only_names() {
    let state = State::new();
    let odd = state.path().join("it's a \"dir\" of $HOME über");
    let cluster = Cluster::ensure(&odd, &options()).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), "1");
    cluster.stop().unwrap();
}

#[test]
fn files_are_closed_to_others_and_root_does_not_run_the_server() {
    let state = State::new();
    let cluster = Cluster::ensure(state.path(), &options()).unwrap();
    let folder = state.path().join("postgres").metadata().unwrap();
    assert_eq!(folder.mode() & 0o777, 0o700);
    let password = state.path().join("postgres/password").metadata().unwrap();
    assert_eq!(password.mode() & 0o777, 0o600);
    let server = Path::new("/proc").join(pid(&cluster).to_string());
    assert_ne!(server.metadata().unwrap().uid(), 0);
}

#[test]
fn a_temporary_cluster_is_gone_with_its_value() {
    let cluster = Cluster::temporary().unwrap();
    let folder = cluster.folder().to_owned();
    assert_eq!(query(&cluster.url(), "SELECT 1"), "1");
    let server = Path::new("/proc").join(pid(cluster.cluster()).to_string());
    assert!(server.join("cwd").read_link().is_ok());
    drop(cluster);
    assert!(!folder.exists());
    assert!(server.join("cwd").read_link().is_err(), "it still runs");
}

#[test]
fn state_too_deep_for_a_socket_moves_to_a_folder_of_its_own() {
    let state = State::new();
    let long = state.path().join("x".repeat(60)).join("y".repeat(60));
    let resolved = state_folder::resolve(&long).unwrap();
    assert_ne!(resolved.path, long);
    assert!(resolved.moved_because.unwrap().contains("107 bytes"));
    assert!(resolved.path.is_dir());
    let again = state_folder::resolve(&long).unwrap();
    assert_eq!(again.path, resolved.path);
    std::fs::remove_dir(&resolved.path).unwrap();
}

/// Only root hands the server to another user, so only root can be locked out.
#[test]
fn state_in_a_closed_home_moves_for_root_and_stays_for_others() {
    let state = State::new();
    let home = state.path().join("home");
    std::fs::create_dir(&home).unwrap();
    set_mode(&home, 0o700);
    let asked: PathBuf = home.join("checkout/data");
    let resolved = state_folder::resolve(&asked).unwrap();
    if home.metadata().unwrap().uid() == 0 {
        assert!(resolved.path.starts_with("/var/lib/lightspeed"));
        assert!(resolved.moved_because.unwrap().contains("cannot enter"));
        let error = Cluster::ensure(&asked, &options()).unwrap_err().to_string();
        assert!(error.contains("--state"), "{error}");
        std::fs::remove_dir(&resolved.path).unwrap();
    } else {
        assert_eq!(resolved.path, asked);
    }
}
