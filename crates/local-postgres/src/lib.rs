//! A private Postgres cluster in a state folder: found or installed, made, started, reused, stopped.
//!
//! Invariants: server programs never run as root; one process at a time changes a cluster (a file
//! lock in the state folder); a data folder bears its name only once it is complete; the password
//! is random and readable by its owner alone. The cluster outlives the process that started it.
//!
//! Used by the `lightspeed` command and by tests. It knows nothing of what the database holds.

mod binaries;
mod error;
mod install;
mod layout;
mod postmaster;
mod server;
mod server_user;
pub mod state_folder;
mod temporary;

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

pub use error::Error;
pub use temporary::TemporaryCluster;

use binaries::Binaries;
use error::At;
use layout::Layout;
use postmaster::Postmaster;
use server::{Server, StopMode};
use server_user::ServerUser;

/// The one role, which owns everything.
pub(crate) const ROLE: &str = "lightspeed";
/// The one database.
pub(crate) const DATABASE: &str = "lightspeed";

/// What a crash of the machine may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was committed.
    CrashSafe,
    /// Everything: for tests.
    Throwaway,
}

/// A step worth telling a person who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Through the package manager; minutes.
    Installing,
    /// Once for each state folder; seconds.
    Initialising,
    /// Under a second, unless a log must be replayed.
    Starting,
}

/// How to make and run a cluster.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// What a crash may cost.
    pub durability: Durability,
    /// Whether the package manager may be asked for what is missing.
    pub may_install: bool,
    /// Sessions at a time.
    pub max_connections: u32,
    /// Told of each step before it begins.
    pub on_step: &'a dyn Fn(Step),
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            durability: Durability::CrashSafe,
            may_install: true,
            max_connections: 100,
            on_step: &|_| (),
        }
    }
}

/// What a cluster is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nobody made one here.
    Absent,
    /// Made, not running.
    Stopped,
    /// Running.
    Running {
        /// Process id of the server.
        pid: i32,
    },
}

/// A cluster that ran when this value was made.
#[derive(Debug)]
pub struct Cluster {
    layout: Layout,
    user: ServerUser,
    binaries: Binaries,
    server: Postmaster,
    password: String,
}

impl Cluster {
    /// A running cluster in `state`: the one that runs, the one that was made, or a new one.
    ///
    /// # Errors
    /// See [`Error`]; every message names a way out.
    pub fn ensure(state: &Path, options: &Options<'_>) -> Result<Self, Error> {
        let state = std::path::absolute(state).at(state)?;
        std::fs::create_dir_all(&state).at(&state)?;
        let layout = Layout::new(&state);
        let user = ServerUser::for_state(&state)?;
        let _lock = lock(&layout)?;
        make_folder(&layout, &user)?;
        let binaries = choose_binaries(&layout, &user, options)?;
        let server = Server {
            layout: &layout,
            user: &user,
            binaries: &binaries,
        };
        if !layout.data().exists() {
            (options.on_step)(Step::Initialising);
            server.initialise(options.durability)?;
        }
        let running = match serving(&layout) {
            Some(running) => running,
            None => {
                (options.on_step)(Step::Starting);
                server.stop(StopMode::Fast)?;
                server.start(options.durability, options.max_connections)?
            }
        };
        let password = read_password(&layout)?;
        Ok(Self {
            layout,
            user,
            binaries,
            server: running,
            password,
        })
    }

    /// A cluster of its own for tests, in the temporary folder; gone when the value is dropped.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn temporary() -> Result<TemporaryCluster, Error> {
        TemporaryCluster::new()
    }

    /// What the cluster in `state` is at. Changes nothing.
    #[must_use]
    pub fn status_at(state: &Path) -> Status {
        let layout = Layout::new(state);
        match postmaster::find(&layout) {
            Some(server) => Status::Running { pid: server.pid },
            None if layout.data().exists() => Status::Stopped,
            None => Status::Absent,
        }
    }

    /// Stops the cluster in `state`, if one runs.
    ///
    /// # Errors
    /// [`Error::Program`] when it does not stop.
    pub fn stop_at(state: &Path) -> Result<(), Error> {
        let state = std::path::absolute(state).at(state)?;
        let layout = Layout::new(&state);
        if postmaster::find(&layout).is_none() {
            return Ok(());
        }
        let user = ServerUser::for_state(&state)?;
        let _lock = lock(&layout)?;
        let options = Options {
            may_install: false,
            ..Options::default()
        };
        let binaries = choose_binaries(&layout, &user, &options)?;
        let server = Server {
            layout: &layout,
            user: &user,
            binaries: &binaries,
        };
        server.stop(StopMode::Fast)
    }

    /// The connection string, password included.
    #[must_use]
    pub fn url(&self) -> String {
        let place = match &self.server.socket_folder {
            Some(folder) => format!("localhost/{DATABASE}?host={}", encoded(folder)),
            None => format!("127.0.0.1:{}/{DATABASE}", self.server.port),
        };
        format!("postgres://{ROLE}:{}@{place}", self.password)
    }

    /// What it is at now.
    #[must_use]
    pub fn status(&self) -> Status {
        postmaster::find(&self.layout).map_or(Status::Stopped, |server| Status::Running {
            pid: server.pid,
        })
    }

    /// Stops it in order: sessions end, everything is written out.
    ///
    /// # Errors
    /// [`Error::Program`] when it does not stop.
    pub fn stop(&self) -> Result<(), Error> {
        self.stop_with(StopMode::Fast)
    }

    fn stop_with(&self, mode: StopMode) -> Result<(), Error> {
        let _lock = lock(&self.layout)?;
        let server = Server {
            layout: &self.layout,
            user: &self.user,
            binaries: &self.binaries,
        };
        server.stop(mode)
    }
}

/// The live server, once it accepts sessions; `None` when there is none or it never answers.
fn serving(layout: &Layout) -> Option<Postmaster> {
    const WAITS: u32 = 600;
    const WAIT: Duration = Duration::from_millis(100);
    for _ in 0..WAITS {
        let server = postmaster::find(layout)?;
        if server.ready {
            return server::answers(&server).then_some(server);
        }
        std::thread::sleep(WAIT);
    }
    None
}

/// The folder of the cluster, entered by the server's user alone, reachable for it from the root.
fn make_folder(layout: &Layout, user: &ServerUser) -> Result<(), Error> {
    let folder = layout.cluster();
    if !folder.exists() {
        std::fs::create_dir(&folder).at(&folder)?;
    }
    layout::set_mode(&folder, 0o700)?;
    user.own(&folder)?;
    if user.can_enter(&folder) {
        return Ok(());
    }
    Err(Error::Closed {
        folder,
        user: user.name().to_owned(),
    })
}

/// The programs that made the cluster, by major version; for a new one, the newest.
fn choose_binaries(
    layout: &Layout,
    user: &ServerUser,
    options: &Options<'_>,
) -> Result<Binaries, Error> {
    let mut found = binaries::find(user);
    if found.is_empty() {
        if !options.may_install {
            return Err(install::not_installed());
        }
        (options.on_step)(Step::Installing);
        install::install()?;
        found = binaries::find(user);
    }
    let made_by = std::fs::read_to_string(layout.data().join("PG_VERSION"))
        .ok()
        .and_then(|text| text.trim().parse::<u32>().ok());
    let versions: Vec<String> = found.iter().map(|b| b.major.to_string()).collect();
    match made_by {
        None => found.into_iter().next().ok_or_else(install::not_installed),
        Some(major) => {
            found
                .into_iter()
                .find(|b| b.major == major)
                .ok_or_else(|| Error::OtherVersion {
                    data: layout.data(),
                    cluster: major,
                    found: versions.join(", "),
                })
        }
    }
}

fn lock(layout: &Layout) -> Result<File, Error> {
    let path = layout.lock();
    let file = File::create(&path).at(&path)?;
    file.lock().at(&path)?;
    Ok(file)
}

fn read_password(layout: &Layout) -> Result<String, Error> {
    let path = layout.password();
    std::fs::read_to_string(&path).at(&path)
}

/// A path as the value of a query parameter.
fn encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'-')
        .remove(b'_')
        .remove(b'.');
    percent_encode(path.as_os_str().as_bytes(), KEPT).to_string()
}
