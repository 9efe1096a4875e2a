//! Resource limits of a child. Applied by the child to itself, before any untrusted byte is read.

use std::io;

use crate::policy::Policy;

/// Descriptors a child may hold: the pipes, and what a CUDA driver opens.
const MAX_DESCRIPTORS: u64 = 1024;

/// Sets processor time, memory, descriptors; no core dump, no file growth.
pub(crate) fn apply(policy: &Policy) -> io::Result<()> {
    // SIGXCPU ends the process at the soft limit and tells the parent why; the hard limit, a
    // second later, cannot be caught.
    set(
        libc::RLIMIT_CPU,
        policy.cpu_s,
        policy.cpu_s.saturating_add(1),
    )?;
    if let Some(bytes) = policy.memory_bytes {
        set(libc::RLIMIT_AS, bytes, bytes)?;
    }
    set(libc::RLIMIT_NOFILE, MAX_DESCRIPTORS, MAX_DESCRIPTORS)?;
    set(libc::RLIMIT_CORE, 0, 0)?;
    set(libc::RLIMIT_FSIZE, 0, 0)
}

#[allow(unsafe_code)]
fn set(resource: libc::__rlimit_resource_t, soft: u64, hard: u64) -> io::Result<()> {
    let mut current = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a live local of the right type.
    if unsafe { libc::getrlimit(resource, &raw mut current) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // A host that is stricter than the policy stays so: raising is not ours to do.
    let limit = libc::rlimit {
        rlim_cur: soft.min(current.rlim_max),
        rlim_max: hard.min(current.rlim_max),
    };
    // SAFETY: as above.
    if unsafe { libc::setrlimit(resource, &raw const limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
