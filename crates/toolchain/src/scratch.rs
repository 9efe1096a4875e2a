//! Memory in place of the temporary file under which NVRTC keeps headers that are precompiled.
//!
//! NVRTC backs that heap with a file that it makes by the C library's `mkstemp` and unlinks at once. A
//! compile child can make no file anywhere, and shall not. The program's own `mkstemp` comes before the C
//! library's; once the process has settled, it answers with anonymous memory that counts as a file.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

static IN_MEMORY: AtomicBool = AtomicBool::new(false);

/// From here on temporary files of C libraries are memory.
pub(crate) fn keep_in_memory() {
    IN_MEMORY.store(true, Ordering::Relaxed);
    // Without a use of it the linker would leave it out.
    std::hint::black_box(mkstemp as unsafe extern "C" fn(*mut c_char) -> c_int);
}

/// # Safety
/// As for the C library's: `template` is a writable NUL-terminated string that ends in `XXXXXX`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mkstemp(template: *mut c_char) -> c_int {
    if IN_MEMORY.load(Ordering::Relaxed) {
        // SAFETY: a live string; the answer is a new descriptor or an error, as `mkstemp` gives.
        return unsafe { libc::memfd_create(c"headers".as_ptr(), libc::MFD_CLOEXEC) };
    }
    // SAFETY: a live string; what is found next is the C library's function of this type.
    unsafe {
        let next = libc::dlsym(libc::RTLD_NEXT, c"mkstemp".as_ptr());
        if next.is_null() {
            return -1;
        }
        let next: unsafe extern "C" fn(*mut c_char) -> c_int = std::mem::transmute(next);
        next(template)
    }
}
