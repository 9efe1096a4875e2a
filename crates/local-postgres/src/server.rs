//! Making a data folder, and starting and stopping the server in it.
//!
//! Every function here expects the caller to hold the cluster's lock.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::binaries::Binaries;
use crate::error::{At, Error, tail};
use crate::layout::{self, Layout, SOCKET_PORT};
use crate::postmaster::{self, Postmaster};
use crate::server_user::ServerUser;
use crate::{DATABASE, Durability, ROLE};

/// Patience with a start, which may have to replay a log, and with the two kinds of stop.
const START: Duration = Duration::from_secs(300);
const STOP_FAST: Duration = Duration::from_secs(30);
const STOP_IMMEDIATE: Duration = Duration::from_secs(10);
/// A log longer than this is set aside at the next start.
const LOG_LIMIT_BYTES: u64 = 16 << 20;

/// What it takes to run one cluster.
pub(crate) struct Server<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) user: &'a ServerUser,
    pub(crate) binaries: &'a Binaries,
}

/// How hard a stop is.
#[derive(Clone, Copy)]
pub(crate) enum StopMode {
    /// Ends sessions, writes everything out.
    Fast,
    /// Ends at once; the next start recovers.
    Immediate,
}

impl Server<'_> {
    /// Makes the data folder with its one role and database. It gets its name when it is complete,
    /// so that a run that was cut short leaves nothing that looks like a cluster.
    pub(crate) fn initialise(&self, durability: Durability) -> Result<(), Error> {
        let unfinished = self.layout.unfinished();
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished).at(&unfinished)?;
        }
        self.write_private(&self.layout.password(), &random_password()?)?;
        let mut command = self.user.command(self.binaries.program("initdb"));
        command
            .args(["--encoding=UTF8", "--locale=C", "--auth=scram-sha-256"])
            .arg(format!("--username={ROLE}"))
            .arg("--pwfile")
            .arg(self.layout.password())
            .arg("--pgdata")
            .arg(&unfinished);
        match durability {
            Durability::CrashSafe => command.arg("--data-checksums"),
            Durability::Throwaway => command.arg("--no-sync"),
        };
        succeed("initdb", command.output())?;
        self.include_settings(&unfinished)?;
        self.create_database(&unfinished)?;
        let data = self.layout.data();
        std::fs::rename(&unfinished, &data).at(&data)
    }

    /// Starts the server and waits until it accepts sessions.
    pub(crate) fn start(
        &self,
        durability: Durability,
        connections: u32,
    ) -> Result<Postmaster, Error> {
        const ATTEMPTS: u32 = 3;
        postmaster::clear_stale(self.layout)?;
        self.prepare_log()?;
        let mut outcome = self.start_once(durability, connections);
        for _ in 1..ATTEMPTS {
            // Somebody may have taken the free port in between; a socket has no such race.
            if outcome.is_ok() || layout::socket_fits(&self.state()) {
                break;
            }
            outcome = self.start_once(durability, connections);
        }
        outcome
    }

    /// Stops the server and waits until it is gone.
    pub(crate) fn stop(&self, mode: StopMode) -> Result<(), Error> {
        let Some(server) = postmaster::find(self.layout) else {
            return Ok(());
        };
        let (signal, patience) = match mode {
            StopMode::Fast => (Signal::SIGINT, STOP_FAST),
            StopMode::Immediate => (Signal::SIGQUIT, STOP_IMMEDIATE),
        };
        // A server that ended in between is what was asked for.
        let _ = kill(Pid::from_raw(server.pid), signal);
        let gone = || postmaster::find(self.layout).is_none_or(|now| now.pid != server.pid);
        match (wait_until(patience, gone), mode) {
            (true, _) => Ok(()),
            (false, StopMode::Fast) => self.stop(StopMode::Immediate),
            (false, StopMode::Immediate) => Err(self.failed("it does not stop")),
        }
    }

    /// Starts the program itself: `pg_ctl` hands paths to a shell, which some names do not survive.
    /// A process group of its own keeps the terminal's Ctrl-C away from it.
    fn start_once(&self, durability: Durability, connections: u32) -> Result<Postmaster, Error> {
        self.write_settings(durability, connections)?;
        let log = self.layout.log();
        let (out, err) = (open_log(&log)?, open_log(&log)?);
        let mut child = self
            .user
            .command(self.binaries.program("postgres"))
            .arg("-D")
            .arg(self.layout.data())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .map_err(|error| self.failed(&error.to_string()))?;
        let mut ended = None;
        wait_until(START, || {
            ended = child.try_wait().ok().flatten();
            ended.is_some() || postmaster::find(self.layout).is_some_and(|p| p.ready)
        });
        if ended.is_none() {
            // Nobody else would take its exit status, and it may end while this process lives.
            std::thread::spawn(move || child.wait());
        }
        match (ended, postmaster::find(self.layout)) {
            (None, Some(server)) if server.ready => Ok(server),
            (Some(status), _) => Err(self.failed(&format!("it ended at once with {status}"))),
            (None, _) => Err(self.failed("it does not become ready")),
        }
    }

    fn include_settings(&self, data: &Path) -> Result<(), Error> {
        let path = data.join("postgresql.conf");
        let mut text = std::fs::read_to_string(&path).at(&path)?;
        text.push_str("\n# Written at each start.\ninclude_if_exists = 'lightspeed.conf'\n");
        std::fs::write(&path, text).at(&path)
    }

    /// In single-user mode, which needs no client programs.
    fn create_database(&self, data: &Path) -> Result<(), Error> {
        let mut command = self.user.command(self.binaries.program("postgres"));
        command.args(["--single", "-D"]).arg(data);
        command.args(["-c", "fsync=off", "postgres"]);
        let statements = tempfile::tempfile().at(data)?;
        std::io::Write::write_all(
            &mut &statements,
            format!("CREATE DATABASE {DATABASE};\n").as_bytes(),
        )
        .at(data)?;
        std::io::Seek::rewind(&mut &statements).at(data)?;
        let output = command.stdin(statements).output();
        let output = succeed("postgres --single", output)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("ERROR:") || said.contains("FATAL:") {
            return Err(Error::Program {
                program: "postgres --single",
                detail: tail(&said),
            });
        }
        Ok(())
    }

    fn write_settings(&self, durability: Durability, connections: u32) -> Result<(), Error> {
        let listen = if layout::socket_fits(&self.state()) {
            format!(
                "listen_addresses = ''\nport = {SOCKET_PORT}\nunix_socket_directories = {}\n\
                 unix_socket_permissions = 0700\n",
                quoted_path_list(&self.layout.cluster())
            )
        } else {
            let port = free_port()?;
            format!("listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\n")
        };
        let durable = match durability {
            Durability::CrashSafe => "",
            Durability::Throwaway => {
                "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nwal_level = minimal\nmax_wal_senders = 0\n"
            }
        };
        let text = format!(
            "{listen}{durable}max_connections = {connections}\nshared_buffers = 128MB\n\
             password_encryption = 'scram-sha-256'\nlog_timezone = 'UTC'\ntimezone = 'UTC'\n"
        );
        self.write_private(&self.layout.settings(), &text)
    }

    fn prepare_log(&self) -> Result<(), Error> {
        let log = self.layout.log();
        let folder = log.parent().expect("a log lies in a folder");
        std::fs::create_dir_all(folder).at(folder)?;
        if log.metadata().is_ok_and(|m| m.len() > LOG_LIMIT_BYTES) {
            let aside = log.with_extension("log.1");
            std::fs::rename(&log, &aside).at(&aside)?;
        }
        open_log(&log)?;
        layout::set_mode(&log, 0o600)?;
        self.user.own(&log)
    }

    fn write_private(&self, path: &Path, text: &str) -> Result<(), Error> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .at(path)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).at(path)?;
        self.user.own(path)
    }

    fn state(&self) -> std::path::PathBuf {
        let cluster = self.layout.cluster();
        cluster.parent().map(Path::to_path_buf).unwrap_or_default()
    }

    fn failed(&self, how: &str) -> Error {
        let log = self.layout.log();
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        Error::Program {
            program: "postgres",
            detail: format!("{how}\n  {}\n  (log: {})", tail(&text), log.display()),
        }
    }
}

fn open_log(path: &Path) -> Result<File, Error> {
    let mut options = File::options();
    options.create(true).append(true).open(path).at(path)
}

/// Asks again and again until `done`, at most for `patience`. Says whether it came to pass.
fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    const WAIT: Duration = Duration::from_millis(20);
    let begun = Instant::now();
    loop {
        if done() {
            return true;
        }
        if begun.elapsed() > patience {
            return false;
        }
        std::thread::sleep(WAIT);
    }
}

/// Whether the server answers at its socket or port.
pub(crate) fn answers(server: &Postmaster) -> bool {
    const PATIENCE: Duration = Duration::from_secs(2);
    match &server.socket_folder {
        Some(folder) => {
            UnixStream::connect(folder.join(format!(".s.PGSQL.{}", server.port))).is_ok()
        }
        None => {
            let address = (Ipv4Addr::LOCALHOST, server.port).into();
            TcpStream::connect_timeout(&address, PATIENCE).is_ok()
        }
    }
}

fn succeed(program: &'static str, output: std::io::Result<Output>) -> Result<Output, Error> {
    match output {
        Ok(output) if output.status.success() => Ok(output),
        Ok(output) => {
            let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
            said.push_str(&String::from_utf8_lossy(&output.stderr));
            let detail = format!("{}\n  {}", output.status, tail(&said));
            Err(Error::Program { program, detail })
        }
        Err(error) => Err(Error::Program {
            program,
            detail: error.to_string(),
        }),
    }
}

fn random_password() -> Result<String, Error> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(Error::Random)?;
    Ok(hex::encode(bytes))
}

fn free_port() -> Result<u16, Error> {
    let any = Path::new("127.0.0.1");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).at(any)?;
    Ok(listener.local_addr().at(any)?.port())
}

/// A path as the one element of a list setting: quoted as an element, then as a string.
fn quoted_path_list(path: &Path) -> String {
    let element = path.to_string_lossy().replace('"', "\"\"");
    format!("'\"{}\"'", element.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_both_quotings() {
        let plain = quoted_path_list(Path::new("/srv/a, b/postgres"));
        assert_eq!(plain, "'\"/srv/a, b/postgres\"'");
        let odd = quoted_path_list(Path::new("/srv/it's \"x\""));
        assert_eq!(odd, "'\"/srv/it''s \"\"x\"\"\"'");
    }

    #[test]
    fn passwords_differ() {
        let (one, two) = (random_password().unwrap(), random_password().unwrap());
        assert_eq!(one.len(), 48);
        assert_ne!(one, two);
    }
}
