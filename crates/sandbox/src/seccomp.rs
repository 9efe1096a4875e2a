//! The system-call filter of a child.
//!
//! A list of what is denied, not of what is allowed: compilers and CUDA drivers use many calls that
//! change with their versions, while what must never happen is short and stable. Numbers of foreign
//! architectures and of the x32 table, which would evade the list, end the process.

use std::collections::BTreeMap;
use std::ffi::CStr;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};

use crate::policy::Policy;

/// The bits of a socket's type that are not flags.
const SOCKET_KIND: u32 = 0xf;

/// Why no filter is in force.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SeccompError {
    #[error("the filter cannot be built")]
    Build(#[from] seccompiler::BackendError),
    #[error("the kernel refuses the filter")]
    Apply(#[from] seccompiler::Error),
}

/// Filters every later system call of this process, which must still have one thread. The policy's program
/// may be run by the very string `program` and no other.
pub(crate) fn apply(policy: &Policy, program: Option<&CStr>) -> Result<(), SeccompError> {
    let denied = filter(denied_calls(policy, program)?, libc::EPERM)?;
    // The C library falls back to `clone`, whose flags a filter can see.
    let absent = filter([(libc::SYS_clone3, vec![])].into(), libc::ENOSYS)?;
    for program in [x32_guard(), absent, denied] {
        seccompiler::apply_filter(&program)?;
    }
    Ok(())
}

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

fn filter(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, SeccompError> {
    let arch = std::env::consts::ARCH
        .try_into()
        .map_err(seccompiler::Error::Backend)?;
    let deny = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, deny, arch)?;
    Ok(filter.try_into()?)
}

fn denied_calls(policy: &Policy, program: Option<&CStr>) -> Result<Rules, SeccompError> {
    let own_id = u64::from(std::process::id());
    let mut rules: Rules = ALWAYS.iter().map(|&call| (call, vec![])).collect();
    #[cfg(target_arch = "x86_64")]
    rules.extend(ALWAYS_X86_64.iter().map(|&call| (call, vec![])));

    if policy.local_listener {
        let elsewhere = condition(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)?;
        // The driver's is of sequenced packets. Datagrams need no `connect`: they can be sent to any
        // socket that has a path.
        let mut denied = vec![SeccompRule::new(vec![elsewhere])?];
        for kind in [
            libc::SOCK_STREAM,
            libc::SOCK_DGRAM,
            libc::SOCK_RAW,
            libc::SOCK_RDM,
        ] {
            let masked = SeccompCmpOp::MaskedEq(u64::from(SOCKET_KIND));
            let this = condition(1, masked, u64::from(kind.unsigned_abs()))?;
            denied.push(SeccompRule::new(vec![this])?);
        }
        rules.insert(libc::SYS_socket, denied);
        rules.remove(&libc::SYS_bind);
        rules.remove(&libc::SYS_listen);
    }
    if let Some(path) = program {
        // A filter cannot read the path, but it can see where it lies. A program that was run has no such
        // string there, unless it makes one; it would come no further than to
        // that program or its loader, confined as it is.
        let elsewhere = SeccompCondition::new(
            0,
            SeccompCmpArgLen::Qword,
            SeccompCmpOp::Ne,
            path.as_ptr().addr() as u64,
        )?;
        rules.insert(libc::SYS_execve, vec![SeccompRule::new(vec![elsewhere])?]);
        rules.insert(libc::SYS_memfd_create, vec![]);
    }
    // Threads may be made, processes may not.
    let thread = libc::CLONE_THREAD as u64;
    let not_a_thread = condition(0, SeccompCmpOp::MaskedEq(thread), 0)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![not_a_thread])?]);
    // A process may signal itself (abort does), nobody else.
    for call in [libc::SYS_kill, libc::SYS_tgkill] {
        let other = condition(0, SeccompCmpOp::Ne, own_id)?;
        rules.insert(call, vec![SeccompRule::new(vec![other])?]);
    }
    // Limits of other processes.
    let other = vec![
        condition(0, SeccompCmpOp::Ne, 0)?,
        condition(0, SeccompCmpOp::Ne, own_id)?,
    ];
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(other)?]);
    // Living on after the supervisor.
    let death_signal = condition(0, SeccompCmpOp::Eq, libc::PR_SET_PDEATHSIG as u64)?;
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![death_signal])?]);
    // Typing into a terminal.
    let typing = condition(1, SeccompCmpOp::Eq, libc::TIOCSTI)?;
    rules.insert(libc::SYS_ioctl, vec![SeccompRule::new(vec![typing])?]);
    Ok(rules)
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, SeccompError> {
    // The kernel looks at the low 32 bits of these arguments only, and so does the filter.
    Ok(SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        operator,
        value,
    )?)
}

/// Ends a process that calls by the x32 table.
fn x32_guard() -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    let statement = |code: u32, k: u32, jt, jf| sock_filter {
        code: code as u16, // BPF codes are 16 bits wide
        jt,
        jf,
        k,
    };
    vec![
        // The number is the first field of `seccomp_data`.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32_BIT, 0, 1),
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_KILL_PROCESS,
            0,
            0,
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ]
}

const ALWAYS: &[libc::c_long] = &[
    // network, vsock and local sockets
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // programs, process groups
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    // wide kernel surfaces
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // name spaces and mounts
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // the machine
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // what Landlock does not see: metadata of files, System V and POSIX queues
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
];

#[cfg(target_arch = "x86_64")]
const ALWAYS_X86_64: &[libc::c_long] = &[
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_kexec_file_load,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_build_and_fit_the_kernels_limit() {
        let policy = Policy {
            readable: vec![],
            loadable: vec![],
            writable: vec![],
            program: None,
            local_listener: true,
            environment: vec![],
            cpu_s: 1,
            wall: std::time::Duration::from_secs(1),
            memory_bytes: None,
            max_response_bytes: 1,
            allow_unconfined: false,
        };
        for program in [None, Some(c"/bin/true")] {
            let denied = denied_calls(&policy, program).unwrap();
            let denied = filter(denied, libc::EPERM).unwrap();
            assert!(denied.len() < 4096, "{} instructions", denied.len());
        }
    }
}
