//! What libraries print to standard output, caught in memory.
//!
//! A CUDA driver prints for kernels there and offers no other place.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, FromRawFd};

/// Standard output of this process, which goes nowhere else from now on.
#[derive(Debug)]
pub struct CaughtOutput {
    file: File,
}

impl CaughtOutput {
    /// Takes standard output over for good.
    pub fn start() -> io::Result<Self> {
        // SAFETY: a static, NUL-terminated name.
        let fd = unsafe { libc::memfd_create(c"printed".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that nobody else has.
        let file = unsafe { File::from_raw_fd(fd) };
        // SAFETY: plain numbers; standard output is not owned by any Rust value.
        if unsafe { libc::dup2(file.as_raw_fd(), libc::STDOUT_FILENO) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { file })
    }

    /// What was printed since the last call, cut after `limit` bytes, and whether that was all.
    pub fn take(&mut self, limit: usize) -> io::Result<(String, bool)> {
        // SAFETY: flushes every stream of the C library, which keeps text that is not for a terminal.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // The two descriptors share one position, so that what is printed next begins at the start.
        self.file.rewind()?;
        let mut bytes = Vec::new();
        let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        (&self.file).take(bound).read_to_end(&mut bytes)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        let is_all = bytes.len() <= limit;
        bytes.truncate(limit);
        Ok((String::from_utf8_lossy(&bytes).into_owned(), is_all))
    }
}
