//! The child's side: give up everything, then listen.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::command::Header;
use crate::frame::{self, Tag};
use crate::mailbox::Mailbox;
use crate::policy::{Confinement, Policy};
use crate::program::PreparedProgram;
use crate::{confine, limits, seccomp};

/// Why a child could not start its work.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// Standard input or output is not the supervisor's pipe, or it broke.
    #[error("not started by a supervisor, or lost it: {0}")]
    Pipe(#[source] io::Error),
    /// The policy is not one.
    #[error("unreadable policy: {0}")]
    Policy(#[source] serde_json::Error),
    /// A restriction could not be applied.
    #[error("cannot restrict the process ({step}): {message}")]
    Restrict {
        /// Which restriction.
        step: &'static str,
        /// What the system said.
        message: String,
    },
    /// The host lacks Landlock or seccomp and the policy insists; the supervisor has been told.
    #[error("this host cannot confine the child: {0}")]
    Unconfined(String),
}

/// The confined child's line to its supervisor.
#[derive(Debug)]
pub struct ChildChannel {
    requests: File,
    responses: File,
    mailbox: Option<Mailbox>,
    program: Option<PreparedProgram>,
}

/// Confines this process for good and opens the line to the supervisor. Must be the first thing
/// `main` does when its argument is a role, while the process has one thread: Landlock and
/// capabilities are a thread's, and later threads inherit them.
pub fn enter() -> Result<ChildChannel, EnterError> {
    let (mut requests, mut responses) = take_pipes().map_err(EnterError::Pipe)?;
    let (tag, body) = frame::read(&mut requests).map_err(EnterError::Pipe)?;
    if tag != Tag::Policy {
        return Err(EnterError::Pipe(io::Error::other("no policy came first")));
    }
    let header: Header = serde_json::from_slice(&body).map_err(EnterError::Policy)?;
    close_others(&[
        Some(requests.as_raw_fd()),
        Some(responses.as_raw_fd()),
        header.mailbox,
        header.input,
    ]);
    let mailbox = header.mailbox.map(Mailbox::inherited).transpose();
    let mailbox = mailbox.map_err(EnterError::Pipe)?;
    let program = PreparedProgram::of(&header).map_err(restrict("program"))?;
    let confinement = confine(&header, program.as_ref())?;
    if !confinement.is_confined() && !header.policy.allow_unconfined {
        let reason = confinement.warning().unwrap_or_default();
        frame::write(&mut responses, Tag::Unconfined, reason.as_bytes())
            .map_err(EnterError::Pipe)?;
        return Err(EnterError::Unconfined(reason));
    }
    let body = serde_json::to_vec(&confinement).map_err(EnterError::Policy)?;
    frame::write(&mut responses, Tag::Entered, &body).map_err(EnterError::Pipe)?;
    Ok(ChildChannel {
        requests,
        responses,
        mailbox,
        program,
    })
}

impl ChildChannel {
    /// The memory shared with the supervisor, where it passed some on. A second call finds none.
    pub fn mailbox(&mut self) -> Option<Mailbox> {
        self.mailbox.take()
    }

    /// Waits for a request. Fails once the supervisor has closed the line.
    pub fn request(&mut self) -> io::Result<Vec<u8>> {
        match frame::read(&mut self.requests)? {
            (Tag::Request, body) => Ok(body),
            (tag, _) => Err(io::Error::other(format!("unexpected frame {tag:?}"))),
        }
    }

    /// Sends a message on the way.
    pub fn progress(&mut self, message: &[u8]) -> io::Result<()> {
        frame::write(&mut self.responses, Tag::Progress, message)
    }

    /// Answers a request and goes on to the next.
    pub fn respond(&mut self, response: &[u8]) -> io::Result<()> {
        frame::write(&mut self.responses, Tag::Response, response)
    }

    /// Becomes the policy's program, whose standard output is the response. Comes back only if that fails.
    pub fn become_program(&mut self) -> io::Error {
        let Some(program) = self.program.take() else {
            return io::Error::other("the policy names no program");
        };
        if let Err(error) = frame::write(&mut self.responses, Tag::Becoming, b"") {
            return error;
        }
        match replace(self.responses.as_raw_fd(), libc::STDOUT_FILENO) {
            Ok(()) => program.run(),
            Err(error) => error,
        }
    }

    /// Sends the response and ends the process at once: no destructor of a library that untrusted
    /// input may have damaged is run.
    #[allow(unsafe_code)]
    pub fn finish(mut self, response: &[u8]) -> ! {
        let sent = frame::write(&mut self.responses, Tag::Response, response);
        let code = i32::from(sent.is_err());
        // SAFETY: ends the process without running anything of it.
        unsafe { libc::_exit(code) }
    }
}

fn confine(header: &Header, program: Option<&PreparedProgram>) -> Result<Confinement, EnterError> {
    let policy: &Policy = &header.policy;
    limits::apply(policy).map_err(restrict("limits"))?;
    confine::set_no_new_privileges().map_err(restrict("no_new_privs"))?;
    let own_user = confine::drop_privileges(policy).map_err(restrict("capabilities"))?;
    confine::die_with_parent(header.parent).map_err(restrict("death signal"))?;
    let landlock_abi = confine::restrict_files(policy).map_err(restrict("Landlock"))?;
    Ok(Confinement {
        landlock_abi,
        seccomp: seccomp::apply(policy, program.map(PreparedProgram::path)).is_ok(),
        own_user,
    })
}

fn restrict<E: std::fmt::Display>(step: &'static str) -> impl FnOnce(E) -> EnterError {
    move |error| EnterError::Restrict {
        step,
        message: error.to_string(),
    }
}

/// Moves the pipes away from the standard descriptors. A library that
/// prints ends up on standard error, never in a frame.
fn take_pipes() -> io::Result<(File, File)> {
    let requests = duplicate(libc::STDIN_FILENO)?;
    let responses = duplicate(libc::STDOUT_FILENO)?;
    let null = File::open("/dev/null")?;
    replace(null.as_raw_fd(), libc::STDIN_FILENO)?;
    replace(libc::STDERR_FILENO, libc::STDOUT_FILENO)?;
    drop(null);
    Ok((File::from(requests), File::from(responses)))
}

/// A copy above the standard descriptors that no program run later would inherit.
#[allow(unsafe_code)]
fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers; the answer, if not negative, is a new descriptor that nobody else has.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

#[allow(unsafe_code)]
pub(crate) fn replace(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers; the standard descriptors are not owned by any Rust value.
    if unsafe { libc::dup2(from, to) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Closes every descriptor but the standard ones and those given.
#[allow(unsafe_code)]
fn close_others(kept: &[Option<RawFd>]) {
    let mut kept: Vec<u32> = kept.iter().flatten().map(|fd| fd.unsigned_abs()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for last in kept.into_iter().chain([u32::MAX]) {
        if first < last {
            // SAFETY: `enter` runs first in `main`: no Rust value owns a descriptor in the gaps.
            // Kernels without the call (before 5.9) lack Landlock too.
            unsafe { libc::syscall(libc::SYS_close_range, first, last - 1, 0) };
        }
        first = last.saturating_add(1);
    }
}
