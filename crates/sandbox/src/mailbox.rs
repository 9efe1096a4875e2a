//! Memory shared with children, for what is too large for frames.
//!
//! It has no name and no file: a descriptor that the parent passes to the children it chooses. Its
//! size is sealed, so that no holder can make another's access fault. What lies in it is untrusted
//! and is copied before it is looked at.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use memmap2::{MmapOptions, MmapRaw};

/// Shared memory of a fixed size.
#[derive(Debug)]
pub struct Mailbox {
    file: File,
    map: MmapRaw,
    is_writable: bool,
}

impl Mailbox {
    /// New shared memory of `bytes` bytes, zeroed. It takes up memory as it is written.
    #[allow(unsafe_code)]
    pub fn create(bytes: u64) -> io::Result<Self> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a static, NUL-terminated name.
        let fd = unsafe { libc::memfd_create(c"mailbox".as_ptr(), flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor that nobody else has.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(bytes.max(1))?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: plain numbers.
        if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Self::map(file)
    }

    /// The same memory for somebody who must not write to it: the descriptor that a child gets of it
    /// cannot be mapped for writing.
    pub fn for_reading(&self) -> io::Result<Self> {
        Self::map(File::open(format!("/proc/self/fd/{}", self.descriptor()))?)
    }

    /// The mailbox behind a descriptor that the parent passed on.
    #[allow(unsafe_code)]
    pub(crate) fn inherited(fd: RawFd) -> io::Result<Self> {
        // SAFETY: the parent named this descriptor, and the child kept it for this one call.
        Self::map(unsafe { File::from_raw_fd(fd) })
    }

    #[allow(unsafe_code)]
    fn map(file: File) -> io::Result<Self> {
        // SAFETY: flags of a descriptor that is held open; no memory is involved.
        let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
        if flags < 0 {
            return Err(io::Error::last_os_error());
        }
        let is_writable = flags & libc::O_ACCMODE == libc::O_RDWR;
        let map = match is_writable {
            true => MmapRaw::map_raw(&file)?,
            false => MmapOptions::new().map_raw_read_only(&file)?,
        };
        Ok(Self {
            file,
            map,
            is_writable,
        })
    }

    /// Size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Never: there is at least one byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of `bytes` bytes from `offset`; `None` past the end.
    #[must_use]
    #[allow(unsafe_code)]
    pub fn read(&self, offset: usize, bytes: usize) -> Option<Vec<u8>> {
        self.check(offset, bytes)?;
        let mut copy = vec![0; bytes];
        // SAFETY: both ranges are valid for `bytes` bytes and do not overlap. Another process may
        // write at the same time; bytes have no invalid values, and the copy is ours alone.
        unsafe {
            std::ptr::copy_nonoverlapping(self.map.as_ptr().add(offset), copy.as_mut_ptr(), bytes);
        }
        Some(copy)
    }

    /// Lets `take` copy `bytes` bytes from `offset` elsewhere; `None` past the end. What it looks at may
    /// change under its eyes: it must copy once and look at the copy.
    #[allow(unsafe_code)]
    pub fn pass<T>(&self, offset: usize, bytes: usize, take: impl FnOnce(&[u8]) -> T) -> Option<T> {
        self.check(offset, bytes)?;
        // SAFETY: as for `fill`.
        let slice = unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(offset), bytes) };
        Some(take(slice))
    }

    /// The memory's place in this process, for a device that is to reach it. It stays there as long as
    /// the mailbox lives.
    #[must_use]
    pub fn place(&self) -> (*mut u8, usize) {
        (self.map.as_mut_ptr(), self.len())
    }

    /// Whether this process may write to it.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Lets `write` fill `bytes` bytes from `offset`; `None` past the end, or where it is for reading.
    #[allow(unsafe_code)]
    pub fn fill<T>(
        &mut self,
        offset: usize,
        bytes: usize,
        write: impl FnOnce(&mut [u8]) -> T,
    ) -> Option<T> {
        self.check(offset, bytes).filter(|()| self.is_writable)?;
        // SAFETY: the range is inside the mapping, which lives as long as `self`. The protocol lets
        // one process at a time use the mailbox; one that breaks it garbles bytes, which have no
        // invalid values.
        let slice =
            unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().add(offset), bytes) };
        Some(write(slice))
    }

    fn check(&self, offset: usize, bytes: usize) -> Option<()> {
        (offset.checked_add(bytes)? <= self.len()).then_some(())
    }

    /// The number under which a child finds it.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_the_end_is_kept() {
        let mut mailbox = Mailbox::create(8).unwrap();
        assert_eq!(
            mailbox.fill(2, 3, |slot| slot.copy_from_slice(b"abc")),
            Some(())
        );
        assert_eq!(mailbox.read(0, 8).unwrap(), b"\0\0abc\0\0\0");
        assert_eq!(mailbox.read(6, 3), None);
        assert_eq!(mailbox.fill(usize::MAX, 2, |_| ()), None);
    }

    #[test]
    fn a_reader_sees_what_is_written_and_writes_nothing() {
        let mut mailbox = Mailbox::create(8).unwrap();
        let mut reader = mailbox.for_reading().unwrap();
        mailbox.fill(0, 3, |slot| slot.copy_from_slice(b"abc"));
        assert_eq!(reader.read(0, 3).unwrap(), b"abc");
        assert_eq!(reader.fill(0, 1, |_| ()), None);
        let forced = MmapRaw::map_raw(&reader.file);
        assert!(forced.is_err(), "the descriptor itself does not allow it");
    }

    #[test]
    fn nobody_can_shrink_it() {
        let mailbox = Mailbox::create(8).unwrap();
        assert!(mailbox.file.set_len(4).is_err());
        assert!(mailbox.file.set_len(16).is_err());
    }
}
