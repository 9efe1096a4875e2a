//! What this host offers for confinement.

use serde::{Deserialize, Serialize};

/// What this host offers, for `doctor`-like output and for the report's warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// The Landlock ABI in use, 0 for none.
    pub landlock_abi: u32,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether Landlock denies TCP as well (ABI 4). Sockets are denied by seccomp either way.
    pub landlock_network: bool,
}

impl Support {
    /// Whether a child can be confined.
    #[must_use]
    pub fn can_confine(&self) -> bool {
        self.landlock_abi > 0 && self.seccomp
    }
}

/// Asks the kernel.
#[must_use]
pub fn support() -> Support {
    let landlock_abi = landlock_abi();
    Support {
        landlock_abi,
        seccomp: seccomp_available(),
        landlock_network: landlock_abi >= 4,
    }
}

/// The newest ABI whose restrictions this code asks for and has been tested with.
pub(crate) const LANDLOCK_ABI: landlock::ABI = landlock::ABI::V7;

#[allow(unsafe_code)]
pub(crate) fn landlock_abi() -> u32 {
    const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no pointer, only answers the version.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(answer).unwrap_or(0).min(LANDLOCK_ABI as u32)
}

#[allow(unsafe_code)]
fn seccomp_available() -> bool {
    let action: u32 = libc::SECCOMP_RET_KILL_PROCESS;
    // SAFETY: asks whether an action is known; reads four bytes and changes nothing.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_GET_ACTION_AVAIL,
            0,
            &raw const action,
        )
    };
    answer == 0
}
