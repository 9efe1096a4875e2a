//! Takes rights away from this process for good: user, capabilities, files.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::policy::{Policy, Program};
use crate::support::{LANDLOCK_ABI, landlock_abi};

/// Users that nobody has: a child's own is this plus its process id.
const FIRST_USER: u32 = 1_700_000_000;
/// Where user ids are mapped and few, as in most containers.
const NOBODY: u32 = 65_534;

/// Becomes an unprivileged user if this process is root and every granted path stays reachable;
/// drops all capabilities either way. Returns whether the user changed.
pub(crate) fn drop_privileges(policy: &Policy) -> io::Result<bool> {
    let own_user = is_root() && become_nobody(policy);
    drop_capabilities()?;
    Ok(own_user)
}

#[allow(unsafe_code)]
fn is_root() -> bool {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Tries a user of its own, then `nobody`. On failure the process stays what it was, but for its
/// supplementary groups.
fn become_nobody(policy: &Policy) -> bool {
    let own = FIRST_USER + std::process::id();
    [own, NOBODY].into_iter().any(|id| {
        let reachable = set_effective(id).is_ok() && can_reach_all(policy);
        // Back to root first: only root may set all three ids.
        set_effective(0).is_ok() && reachable && set_all(id).is_ok()
    })
}

fn can_reach_all(policy: &Policy) -> bool {
    let paths = policy.readable.iter().chain(&policy.loadable);
    let paths = paths.chain(&policy.writable);
    let mut programs = policy.program.iter().flat_map(runnable);
    paths.into_iter().all(|path| can(libc::R_OK, path))
        && programs.all(|path| can(libc::R_OK | libc::X_OK, path))
}

/// What has to be run for a program.
fn runnable(program: &Program) -> impl Iterator<Item = &PathBuf> {
    std::iter::once(&program.path).chain(&program.loaders)
}

/// Whether the effective user can do this to a path. A path that does not exist needs nothing.
#[allow(unsafe_code)]
fn can(access: libc::c_int, path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return true;
    };
    // SAFETY: a live, NUL-terminated string.
    let answer =
        unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), access, libc::AT_EACCESS) };
    answer == 0 || io::Error::last_os_error().kind() == io::ErrorKind::NotFound
}

#[allow(unsafe_code)]
fn set_effective(id: u32) -> io::Result<()> {
    const KEEP: u32 = u32::MAX;
    // SAFETY: plain numbers and an empty list of groups; the process has one thread.
    unsafe {
        if id == 0 {
            check(libc::setresuid(KEEP, id, KEEP))?;
            check(libc::setresgid(KEEP, id, KEEP))
        } else {
            check(libc::setgroups(0, std::ptr::null()))?;
            check(libc::setresgid(KEEP, id, KEEP))?;
            check(libc::setresuid(KEEP, id, KEEP))
        }
    }
}

#[allow(unsafe_code)]
fn set_all(id: u32) -> io::Result<()> {
    // SAFETY: plain numbers; the process has one thread.
    unsafe {
        check(libc::setresgid(id, id, id))?;
        check(libc::setresuid(id, id, id))
    }
}

#[allow(unsafe_code)]
fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: libc::c_int,
    }
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let none = [Data {
        effective: 0,
        permitted: 0,
        inheritable: 0,
    }; 2];
    // SAFETY: both structures have the layout of the kernel's version 3 interface, which takes two
    // data elements, and live across the call.
    let answer = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    check(libc::c_int::try_from(answer).unwrap_or(-1))
}

/// Forbids gaining rights by running a set-user-id program.
#[allow(unsafe_code)]
pub(crate) fn set_no_new_privileges() -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

/// Asks to be killed with the supervisor. Must follow every change of user, which clears it.
#[allow(unsafe_code)]
pub(crate) fn die_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) })?;
    if std::os::unix::process::parent_id() != parent {
        return Err(io::Error::other("the supervisor is gone"));
    }
    Ok(())
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Restricts files to the policy's, and TCP, abstract sockets and signals to nothing, as far as the
/// kernel can. Returns the ABI in force, 0 when Landlock is not there.
pub(crate) fn restrict_files(policy: &Policy) -> Result<u32, landlock::RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::from_all(LANDLOCK_ABI))?
        .scope(Scope::from_all(LANDLOCK_ABI))?
        .create()?;
    let readable = policy.readable.iter().chain(&policy.loadable);
    let readable = readable.map(|path| (path, BitFlags::EMPTY));
    let write = AccessFs::WriteFile | AccessFs::Truncate;
    let writable = policy.writable.iter().map(|path| (path, write));
    let programs = policy.program.iter().flat_map(runnable);
    let programs = programs.map(|path| (path, AccessFs::Execute.into()));
    for (path, more) in readable.chain(writable).chain(programs) {
        let (Ok(kind), Ok(descriptor)) = (path.metadata(), PathFd::new(path)) else {
            continue; // a path that does not exist grants nothing
        };
        let rights = rights_of(kind.file_type()) | more;
        ruleset = ruleset.add_rule(PathBeneath::new(descriptor, rights))?;
    }
    let status = ruleset.restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::NotEnforced => 0,
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => landlock_abi(),
    })
}

fn rights_of(kind: std::fs::FileType) -> BitFlags<AccessFs> {
    if kind.is_dir() {
        AccessFs::ReadFile | AccessFs::ReadDir
    } else if kind.is_char_device() {
        AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev
    } else {
        AccessFs::ReadFile.into()
    }
}
