//! The conversation with one running child, and its end.
//!
//! One thread, one `poll` loop over the three pipes: a child that neither reads nor writes, or that
//! floods any of them, cannot block the parent past the deadline.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::failure::ChildFailure;
use crate::frame::{self, Decoder, FrameError, Tag};
use crate::policy::{Confinement, Policy};

/// How often the caller's flag is looked at.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a child that closed its pipe may take to exit by itself, so that its status is known.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// How long the end of a killed child is waited for. One that hangs in a driver's call cannot die before
/// the call returns; a thread then waits on, and the judge does not.
const REAP_GRACE: Duration = Duration::from_secs(5);
/// Between two looks at a child that is to end.
const REAP_INTERVAL: Duration = Duration::from_millis(1);
/// What is kept of standard error.
const MAX_STDERR_BYTES: usize = 64 * 1024;
/// The child's own words (policy in force, refusal), on top of what the policy admits.
const OVERHEAD_BYTES: u64 = 4096;

/// A running child and the line to it. Dropping it kills the process group and reaps the child.
///
/// Requests and responses alternate. A child that fails in any way is dead when the call returns, and
/// every later call fails. It dies with the thread that started it, which must outlive the session.
pub struct Session {
    child: Child,
    pipes: Pipes,
    policy: Policy,
    frames: Frames,
    /// What the child has not yet taken.
    outbox: Vec<u8>,
    reaped: Option<Exit>,
    /// Waits for a child that was killed and could not die at once.
    reaper: Option<JoinHandle<()>>,
}

struct Pipes {
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    stderr: Vec<u8>,
}

/// How the child ended.
#[derive(Clone, Copy, Debug)]
struct Exit {
    status: libc::c_int,
}

/// As `waitpid` tells it of a child that was killed.
const KILLED: Exit = Exit {
    status: libc::SIGKILL,
};

impl Session {
    /// Takes over a child that was just started. `greeting` is the first thing it reads.
    pub(crate) fn new(
        mut child: Child,
        policy: Policy,
        greeting: Vec<u8>,
    ) -> Result<Self, ChildFailure> {
        let pipes = Pipes {
            input: child.stdin.take(),
            output: child.stdout.take(),
            errors: child.stderr.take(),
            stderr: Vec::new(),
        };
        // From here on dropping `session` cleans up.
        let session = Self {
            child,
            pipes,
            frames: Frames::new(&policy),
            policy,
            outbox: greeting,
            reaped: None,
            reaper: None,
        };
        session
            .pipes
            .set_nonblocking()
            .map_err(ChildFailure::Spawn)?;
        Ok(session)
    }

    /// How the child is confined, known once it has answered anything.
    #[must_use]
    pub fn confinement(&self) -> Option<Confinement> {
        self.frames.confinement.clone()
    }

    /// Sends a request and waits for the response, at most `wall`. Progress messages go to
    /// `on_message` as they arrive. Setting `cancel` ends the call within some 20 ms.
    pub fn ask(
        &mut self,
        request: &[u8],
        wall: Duration,
        cancel: Option<&AtomicBool>,
        on_message: &mut dyn FnMut(&[u8]),
    ) -> Result<Vec<u8>, ChildFailure> {
        if let Err(failure) = self.listen_for_nothing() {
            self.kill(REAP_GRACE);
            return Err(failure);
        }
        let frame = frame::encode(Tag::Request, request).map_err(ChildFailure::Spawn)?;
        self.outbox.extend(frame);
        self.frames.decoder.renew();
        let turn = Turn {
            deadline: Instant::now() + wall,
            wall,
            cancel,
        };
        let answer = self.converse(&turn, on_message);
        if answer.is_err() {
            self.kill(REAP_GRACE);
        }
        answer
    }

    /// A child speaks when it is asked. What lies here before the question must not pass for the answer.
    fn listen_for_nothing(&mut self) -> Result<(), ChildFailure> {
        if self.frames.confinement.is_none() {
            return Ok(()); // it says how it is confined as soon as it is
        }
        let decoder = &mut self.frames.decoder;
        self.pipes.receive(decoder).map_err(|e| broken(&e))?;
        if decoder.is_mid_frame() {
            return Err(ChildFailure::Protocol("it spoke out of turn".into()));
        }
        Ok(())
    }

    fn converse(
        &mut self,
        turn: &Turn<'_>,
        on_message: &mut dyn FnMut(&[u8]),
    ) -> Result<Vec<u8>, ChildFailure> {
        loop {
            if turn.is_cancelled() {
                return Err(ChildFailure::Cancelled);
            }
            let Some(wait) = turn.remaining() else {
                return Err(ChildFailure::WallClock { limit: turn.wall });
            };
            self.pipes
                .poll(!self.outbox.is_empty(), wait)
                .map_err(|e| broken(&e))?;
            self.pipes.send(&mut self.outbox);
            self.pipes.collect_stderr();
            let closed = self
                .pipes
                .receive(&mut self.frames.decoder)
                .map_err(|e| broken(&e))?;
            if let Some(response) = self.frames.advance(on_message)? {
                return Ok(response);
            }
            if closed {
                return self.ended(turn);
            }
        }
    }

    /// The child closed its pipe. A program has said all that it has to say, if it ended well.
    fn ended(&mut self, turn: &Turn<'_>) -> Result<Vec<u8>, ChildFailure> {
        let failure = self.ended_early(turn);
        match failure {
            ChildFailure::ExitCode { code: 0, .. } if self.frames.is_program => {
                Ok(self.frames.decoder.take_buffered())
            }
            failure => Err(failure),
        }
    }

    /// The child closed its pipe without a response: its exit status says why.
    fn ended_early(&mut self, turn: &Turn<'_>) -> ChildFailure {
        let mid_frame = !self.frames.is_program && self.frames.decoder.is_mid_frame();
        let grace = turn.deadline.min(Instant::now() + EXIT_GRACE);
        let exit = loop {
            if let Some(exit) = self.try_reap() {
                break exit;
            }
            if Instant::now() >= grace {
                return ChildFailure::Protocol("the pipe was closed without a response".into());
            }
            std::thread::sleep(REAP_INTERVAL);
        };
        self.pipes.collect_stderr();
        let failure = exit.explain(&self.policy, self.pipes.stderr_text());
        match failure {
            ChildFailure::ExitCode { code: 0, .. } if mid_frame => {
                ChildFailure::Protocol("the response ended in the middle".into())
            }
            failure => failure,
        }
    }

    #[allow(unsafe_code)]
    fn try_reap(&mut self) -> Option<Exit> {
        if self.reaped.is_none() {
            let mut status = 0;
            // SAFETY: our own child, not yet waited for (`reaped` says so, and `Child::wait` is
            // never called), so its id cannot have been reused; the pointer is to a live local.
            let answer = unsafe {
                libc::waitpid(
                    self.child.id() as libc::pid_t,
                    &raw mut status,
                    libc::WNOHANG,
                )
            };
            let nobodys =
                answer < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD);
            if answer > 0 {
                self.reaped = Some(Exit { status });
            } else if nobodys {
                // Somebody else reaped it; how it ended is not to be known any more.
                self.reaped = Some(KILLED);
            }
        }
        self.reaped
    }
}

impl Session {
    /// Kills the process group, and waits longer than a drop does for a child that cannot die at once.
    /// Says whether it is gone; if not, a thread waits on.
    pub fn end(mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        self.kill(patience);
        while self
            .reaper
            .as_ref()
            .is_some_and(|reaper| !reaper.is_finished())
        {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(REAP_INTERVAL);
        }
        true
    }

    #[allow(unsafe_code)]
    fn kill(&mut self, patience: Duration) {
        if self.reaped.is_some() {
            return;
        }
        // The group's id is the child's, which stays taken while the group has a member or the
        // child is not reaped; a group that is gone gives an error that changes nothing.
        // SAFETY: no memory is involved.
        unsafe { libc::killpg(self.child.id() as libc::pid_t, libc::SIGKILL) };
        let deadline = Instant::now() + patience;
        while self.try_reap().is_none() {
            if Instant::now() >= deadline {
                return self.leave_to_a_thread();
            }
            std::thread::sleep(REAP_INTERVAL);
        }
    }

    /// Lets a thread reap a child that was killed and cannot die yet.
    #[allow(unsafe_code)]
    fn leave_to_a_thread(&mut self) {
        let id = self.child.id() as libc::pid_t;
        self.reaped = Some(KILLED);
        self.reaper = Some(std::thread::spawn(move || {
            let mut status = 0;
            // SAFETY: our own child, which nobody else waits for from here on (`reaped` is set); the
            // pointer is to a live local.
            while unsafe { libc::waitpid(id, &raw mut status, 0) } < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.kill(REAP_GRACE);
    }
}

/// The bounds of one request.
struct Turn<'a> {
    deadline: Instant,
    wall: Duration,
    cancel: Option<&'a AtomicBool>,
}

impl Turn<'_> {
    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// How long to wait for the next event; `None` past the deadline.
    fn remaining(&self) -> Option<Duration> {
        let left = self.deadline.checked_duration_since(Instant::now())?;
        Some(match self.cancel {
            Some(_) => left.min(CANCEL_INTERVAL),
            None => left,
        })
    }
}

impl Exit {
    fn explain(self, policy: &Policy, stderr: String) -> ChildFailure {
        if !libc::WIFSIGNALED(self.status) {
            let code = libc::WEXITSTATUS(self.status);
            return ChildFailure::ExitCode { code, stderr };
        }
        let signal = libc::WTERMSIG(self.status);
        let out_of_memory = policy.memory_bytes.is_some()
            && ["memory allocation of", "bad_alloc", "out of memory"]
                .iter()
                .any(|words| stderr.contains(words));
        match signal {
            libc::SIGXCPU => ChildFailure::CpuLimit,
            libc::SIGABRT if out_of_memory => ChildFailure::MemoryLimit,
            _ => ChildFailure::Signal { signal, stderr },
        }
    }
}

/// Puts frames in order: entered, then progress... and a response for each request.
struct Frames {
    decoder: Decoder,
    confinement: Option<Confinement>,
    /// Whether the child may become a program, whose bytes are no frames.
    may_become_program: bool,
    /// Whether it did.
    is_program: bool,
    max_response_bytes: u64,
}

impl Frames {
    fn new(policy: &Policy) -> Self {
        let cap = policy.max_response_bytes.saturating_add(OVERHEAD_BYTES);
        Self {
            decoder: Decoder::new(cap),
            confinement: None,
            may_become_program: policy.program.is_some(),
            is_program: false,
            max_response_bytes: policy.max_response_bytes,
        }
    }

    /// Takes whole frames; the response, if it is among them.
    fn advance(
        &mut self,
        on_message: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<Vec<u8>>, ChildFailure> {
        while !self.is_program {
            let Some((tag, body)) = self.decoder.next().map_err(|e| refuse(&e))? else {
                return Ok(None);
            };
            match (tag, &self.confinement) {
                (Tag::Entered, None) => {
                    let confinement = serde_json::from_slice(&body)
                        .map_err(|e| ChildFailure::Protocol(e.to_string()))?;
                    self.confinement = Some(confinement);
                }
                (Tag::Unconfined, None) => {
                    let reason = String::from_utf8_lossy(&body).into_owned();
                    return Err(ChildFailure::Unconfined(reason));
                }
                (Tag::Progress, Some(_)) => on_message(&body),
                (Tag::Response, Some(_)) => return Ok(Some(body)),
                (Tag::Becoming, Some(_)) if self.may_become_program => self.is_program = true,
                (tag, _) => {
                    return Err(ChildFailure::Protocol(format!("unexpected frame {tag:?}")));
                }
            }
        }
        if self.decoder.buffered() as u64 > self.max_response_bytes {
            return Err(ChildFailure::ResponseTooLarge);
        }
        Ok(None)
    }
}

fn refuse(error: &FrameError) -> ChildFailure {
    match error {
        FrameError::TooLarge(_) => ChildFailure::ResponseTooLarge,
        FrameError::UnknownTag(_) => ChildFailure::Protocol(error.to_string()),
    }
}

fn broken(error: &io::Error) -> ChildFailure {
    ChildFailure::Protocol(format!("pipe: {error}"))
}

impl Pipes {
    fn set_nonblocking(&self) -> io::Result<()> {
        let descriptors = [
            self.input.as_ref().map(AsRawFd::as_raw_fd),
            self.output.as_ref().map(AsRawFd::as_raw_fd),
            self.errors.as_ref().map(AsRawFd::as_raw_fd),
        ];
        descriptors
            .into_iter()
            .flatten()
            .try_for_each(set_nonblocking)
    }

    /// Waits for something to do on any pipe, at most `wait`.
    #[allow(unsafe_code)]
    fn poll(&self, sending: bool, wait: Duration) -> io::Result<()> {
        let entry = |fd: Option<RawFd>, events| libc::pollfd {
            fd: fd.unwrap_or(-1), // negative descriptors are skipped
            events,
            revents: 0,
        };
        let input = self.input.as_ref().filter(|_| sending);
        let mut entries = [
            entry(input.map(AsRawFd::as_raw_fd), libc::POLLOUT),
            entry(self.output.as_ref().map(AsRawFd::as_raw_fd), libc::POLLIN),
            entry(self.errors.as_ref().map(AsRawFd::as_raw_fd), libc::POLLIN),
        ];
        // Rounded up, so that the last wait before a deadline does not spin.
        let millis = wait.as_millis().saturating_add(1);
        let millis = libc::c_int::try_from(millis).unwrap_or(libc::c_int::MAX);
        let count = entries.len() as libc::nfds_t;
        // SAFETY: the pointer and the count describe a live local array.
        if unsafe { libc::poll(entries.as_mut_ptr(), count, millis) } < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sends what fits. A child that does not read gets nothing more.
    fn send(&mut self, outbox: &mut Vec<u8>) {
        while let (Some(input), false) = (&mut self.input, outbox.is_empty()) {
            match input.write(outbox) {
                Ok(written) => drop(outbox.drain(..written)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                // The child is going; what it says last, or its status, tells more.
                Err(_) => outbox.clear(),
            }
        }
    }

    /// Takes what has arrived, at most a mebibyte a call; whether the pipe is closed.
    fn receive(&mut self, decoder: &mut Decoder) -> io::Result<bool> {
        let Some(output) = &mut self.output else {
            return Ok(true);
        };
        let mut buffer = [0; 64 * 1024];
        for _ in 0..16 {
            match output.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(length) => decoder.push(&buffer[..length]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(false)
    }

    /// Drains standard error and keeps its beginning.
    fn collect_stderr(&mut self) {
        let mut buffer = [0; 16 * 1024];
        for _ in 0..16 {
            let Some(errors) = &mut self.errors else {
                return;
            };
            match errors.read(&mut buffer) {
                Ok(length) if length > 0 => {
                    let room = MAX_STDERR_BYTES - self.stderr.len();
                    self.stderr.extend_from_slice(&buffer[..length.min(room)]);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                _ => self.errors = None,
            }
        }
    }

    fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

#[allow(unsafe_code)]
fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    // SAFETY: flags of a descriptor that the caller holds open; no memory is involved.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    // SAFETY: as above.
    if flags < 0 || unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
