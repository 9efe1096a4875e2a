//! What libraries print to standard output, caught in a pipe.
//!
//! A CUDA driver prints for kernels there and offers no other place. A file would not do: children may
//! not write any, not even in memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Room of the pipe; what is printed beyond it is lost. Users may have some such pipes each.
const ROOM_BYTES: usize = 128 << 10;

/// Standard output of this process, which goes nowhere else from now on.
#[derive(Debug)]
pub struct CaughtOutput {
    end: File,
}

impl CaughtOutput {
    /// Takes standard output over for good.
    pub fn start() -> io::Result<Self> {
        let mut ends = [0; 2];
        // Nobody reads while the library prints, and so it must not wait for a reader.
        // SAFETY: the pointer is to two live integers.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: new descriptors that nobody else has.
        let (end, into) = unsafe { (File::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
        let room = libc::c_int::try_from(ROOM_BYTES).unwrap_or(libc::c_int::MAX);
        // SAFETY: plain numbers.
        if unsafe { libc::fcntl(into.as_raw_fd(), libc::F_SETPIPE_SZ, room) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: plain numbers; standard output is not owned by any Rust value.
        if unsafe { libc::dup2(into.as_raw_fd(), libc::STDOUT_FILENO) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { end })
    }

    /// What was printed since the last call, cut after `limit` bytes, and whether that was all. `limit`
    /// is less than the pipe's room.
    pub fn take(&mut self, limit: usize) -> io::Result<(String, bool)> {
        debug_assert!(limit < ROOM_BYTES);
        // SAFETY: flushes every stream of the C library, which keeps text that is not for a terminal.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        let mut bytes = Vec::new();
        match self.end.read_to_end(&mut bytes) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        let is_all = bytes.len() <= limit;
        bytes.truncate(limit);
        Ok((String::from_utf8_lossy(&bytes).into_owned(), is_all))
    }
}
