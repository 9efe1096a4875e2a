//! The last step of a child that runs a foreign program: to become it.
//!
//! Nothing is confined here: what is in force stays so, and the filter of system calls lets through one
//! `execve`, by the string that [`PreparedProgram`] holds. The program finds its input, a file in memory that
//! nobody can write to, as standard input.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use crate::child::replace;
use crate::command::Header;

/// The path by which a program that wants a file opens its input.
pub const PROGRAM_INPUT: &str = "/proc/self/fd/0";

/// What `execve` needs, made before the process is confined.
#[derive(Debug)]
pub(crate) struct PreparedProgram {
    path: CString,
    arguments: Vec<CString>,
    input: OwnedFd,
}

impl PreparedProgram {
    /// The policy's program, where there is one. Takes the input's descriptor over.
    pub(crate) fn of(header: &Header) -> io::Result<Option<Self>> {
        let Some(program) = &header.policy.program else {
            return Ok(None);
        };
        let input: RawFd = header
            .input
            .ok_or_else(|| io::Error::other("a program without an input"))?;
        let path = CString::new(program.path.as_os_str().as_bytes())?;
        let mut arguments = vec![path.clone()];
        for argument in &program.arguments {
            arguments.push(CString::new(argument.as_str())?);
        }
        // SAFETY: the parent named this descriptor, and the child kept it for this one call.
        let input = unsafe { OwnedFd::from_raw_fd(input) };
        Ok(Some(Self {
            path,
            arguments,
            input,
        }))
    }

    /// The string that the filter knows. It does not move while this value lives.
    pub(crate) fn path(&self) -> &CStr {
        &self.path
    }

    /// Becomes the program, which gets an empty environment. Comes back only if that fails.
    pub(crate) fn run(self) -> io::Error {
        if let Err(error) = replace(self.input.as_raw_fd(), libc::STDIN_FILENO) {
            return error;
        }
        let arguments = self.arguments.iter().map(|argument| argument.as_ptr());
        let arguments: Vec<*const libc::c_char> = arguments.chain([ptr::null()]).collect();
        let environment = [ptr::null::<libc::c_char>()];
        // SAFETY: all strings end in a zero, both lists in a null pointer, and they live across the calls. A
        // program expects to be ended by a broken pipe, which Rust's runtime ignores.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::execve(self.path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        }
        io::Error::last_os_error()
    }
}

/// A file in memory that holds `bytes` and that nobody, its maker included, can change any more.
pub(crate) fn sealed(bytes: &[u8]) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: a static, NUL-terminated name.
    let fd = unsafe { libc::memfd_create(c"input".as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else has.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: plain numbers.
    if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // The position is shared with the child, and starts at the beginning.
    io::Seek::rewind(&mut file)?;
    Ok(file)
}
