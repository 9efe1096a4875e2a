//! The parent's side: start a child, talk to it, and leave nothing of it behind.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use std::os::unix::process::CommandExt;

use crate::failure::ChildFailure;
use crate::frame::{self, Tag};
use crate::mailbox::Mailbox;
use crate::policy::{Confinement, Policy};
use crate::program;
use crate::supervise::Session;

/// The whole environment of a child. The CUDA variables matter to executors only: kernels are
/// loaded when asked, and nothing is cached between judgings.
pub const ENVIRONMENT: [(&str, &str); 4] = [
    ("LANG", "C.UTF-8"),
    ("RUST_BACKTRACE", "0"),
    ("CUDA_MODULE_LOADING", "EAGER"),
    ("CUDA_CACHE_DISABLE", "1"),
];

/// A throw-away child: one request, one response.
#[derive(Clone, Debug)]
pub struct ChildCommand {
    /// The binary to run, as a rule `std::env::current_exe()`.
    pub program: PathBuf,
    /// Its first and only argument, e.g. `__compile`. Its `main` must call [`crate::enter`] on it.
    pub role: String,
    /// What it may do.
    pub policy: Policy,
}

/// What a child answered, and under which restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildResponse {
    /// The response. Untrusted.
    pub response: Vec<u8>,
    /// What was in force while it was made.
    pub confinement: Confinement,
}

impl ChildCommand {
    /// Starts the child, hands it `request`, passes its progress messages to `on_message` as they
    /// arrive, and returns its response. Blocks the calling thread, which must outlive the call
    /// (the child dies with the thread that started it). Setting `cancel` ends the call within
    /// some 20 ms. On return, also by a panic of `on_message`, the process group is killed and the
    /// child is reaped, unless a driver holds it for longer than some seconds.
    pub fn run(
        &self,
        request: &[u8],
        on_message: &mut dyn FnMut(&[u8]),
        cancel: Option<&AtomicBool>,
    ) -> Result<ChildResponse, ChildFailure> {
        self.ask_once(&mut self.start(None)?, request, on_message, cancel)
    }

    /// Starts a child that becomes the policy's program, of which `input` is the standard input, and returns
    /// what the program wrote to standard output. A program that ends otherwise than with status 0 fails. For
    /// the rest as [`ChildCommand::run`].
    pub fn run_program(
        &self,
        input: &[u8],
        cancel: Option<&AtomicBool>,
    ) -> Result<ChildResponse, ChildFailure> {
        let input = program::sealed(input).map_err(ChildFailure::Spawn)?;
        let mut session = self.start_with(None, Some(&input))?;
        self.ask_once(&mut session, b"", &mut |_| {}, cancel)
    }

    fn ask_once(
        &self,
        session: &mut Session,
        request: &[u8],
        on_message: &mut dyn FnMut(&[u8]),
        cancel: Option<&AtomicBool>,
    ) -> Result<ChildResponse, ChildFailure> {
        let response = session.ask(request, self.policy.wall, cancel, on_message)?;
        let confinement = session
            .confinement()
            .ok_or_else(|| ChildFailure::Protocol("it never said how it is confined".into()))?;
        Ok(ChildResponse {
            response,
            confinement,
        })
    }

    /// Starts the child and keeps the line open. It confines itself while the caller goes on; a host
    /// that cannot confine it shows at the first request. The child can reach `mailbox` by
    /// [`crate::ChildChannel::mailbox`].
    pub fn start(&self, mailbox: Option<&Mailbox>) -> Result<Session, ChildFailure> {
        self.start_with(mailbox, None)
    }

    fn start_with(
        &self,
        mailbox: Option<&Mailbox>,
        input: Option<&File>,
    ) -> Result<Session, ChildFailure> {
        let header = self.header(mailbox, input).map_err(ChildFailure::Spawn)?;
        let mut command = Command::new(&self.program);
        command
            .arg(&self.role)
            .env_clear()
            .envs(ENVIRONMENT)
            .envs(self.policy.environment.iter().map(|(k, v)| (k, v)))
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let passed = [
            mailbox.map(Mailbox::descriptor),
            input.map(AsRawFd::as_raw_fd),
        ];
        for descriptor in passed.into_iter().flatten() {
            pass(&mut command, descriptor);
        }
        let child = command.spawn().map_err(ChildFailure::Spawn)?;
        Session::new(child, self.policy.clone(), header)
    }

    fn header(&self, mailbox: Option<&Mailbox>, input: Option<&File>) -> std::io::Result<Vec<u8>> {
        let header = Header {
            policy: self.policy.clone(),
            parent: std::process::id(),
            mailbox: mailbox.map(Mailbox::descriptor),
            input: input.map(AsRawFd::as_raw_fd),
        };
        let header = serde_json::to_vec(&header).map_err(std::io::Error::other)?;
        frame::encode(Tag::Policy, &header)
    }
}

/// What a child reads first.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Header {
    pub(crate) policy: Policy,
    /// The supervisor's process id, so that a child that lost it before it could ask for a death
    /// signal notices.
    pub(crate) parent: u32,
    /// The descriptor of the mailbox, which the child keeps.
    pub(crate) mailbox: Option<i32>,
    /// The descriptor of what the policy's program reads, which the child keeps, too.
    pub(crate) input: Option<i32>,
}

/// Lets a child that is about to be started inherit a descriptor, which must be open until then.
#[allow(unsafe_code)]
fn pass(command: &mut Command, descriptor: RawFd) {
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; `fcntl` is one. The
    // flag is cleared in the child alone.
    unsafe {
        command.pre_exec(move || match libc::fcntl(descriptor, libc::F_SETFD, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}
