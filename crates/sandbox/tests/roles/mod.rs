//! What the children of the tests do.
#![allow(unsafe_code)] // attacks are made of system calls
#![allow(clippy::unwrap_used)] // test code, which a plain `main` does not show clippy

use std::io::Write;
use std::time::Duration;

use sandbox::{ChildChannel, ChildCommand, ChildFailure, Policy};

/// Runs a role and ends the process.
pub fn run(role: &str) -> ! {
    match role {
        "__garbage" => garbage(),
        "__grandchild" => grandchild(),
        "__supervise" => supervise(),
        "__no_landlock_strict" => without_landlock(false),
        "__no_landlock_lax" => without_landlock(true),
        "__becomes" => becomes(),
        tool if tool.starts_with("__tool") => crate::programs::tool(tool),
        _ => confined(role, enter()),
    }
}

fn enter() -> ChildChannel {
    sandbox::enter().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(70)
    })
}

fn serve_mailbox(mut channel: ChildChannel) -> ! {
    let mut mailbox = channel.mailbox().unwrap();
    while let Ok(request) = channel.request() {
        let answer = if request == b"descriptors" {
            let open = (0..64).filter(|&fd| {
                // SAFETY: asks for a flag; no memory is involved.
                unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
            });
            open.count().to_string().into_bytes()
        } else {
            let before = mailbox.read(0, 3).unwrap();
            mailbox.fill(0, 3, <[u8]>::make_ascii_uppercase).unwrap();
            before
        };
        channel.respond(&answer).unwrap();
    }
    std::process::exit(0)
}

/// Prints each request through the C library and answers with what was caught.
fn serve_caught(mut channel: ChildChannel) -> ! {
    let mut caught = sandbox::CaughtOutput::start().unwrap();
    while let Ok(request) = channel.request() {
        let text = std::ffi::CString::new(request).unwrap();
        // SAFETY: the format takes one string, which ends in a zero.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
        let (text, is_all) = caught.take(8).unwrap();
        channel
            .respond(format!("{text} {is_all}").as_bytes())
            .unwrap();
    }
    std::process::exit(0)
}

/// Answers every request twice.
fn serve_twice(mut channel: ChildChannel) -> ! {
    while let Ok(request) = channel.request() {
        channel.respond(&request).unwrap();
        channel.respond(b"forged").unwrap();
    }
    std::process::exit(0)
}

fn confined(role: &str, mut channel: ChildChannel) -> ! {
    if role == "__spin" {
        spin();
    }
    if role == "__caught" {
        serve_caught(channel);
    }
    if role == "__chatty" {
        serve_twice(channel);
    }
    if role == "__mailbox" {
        serve_mailbox(channel);
    }
    let request = channel.request().unwrap();
    match role {
        "__echo" => {
            println!("words on standard output are not frames");
            if request == b"hello" {
                channel.progress(b"one").unwrap();
                channel.progress(b"two").unwrap();
            }
            channel.finish(&request.to_ascii_uppercase())
        }
        "__driver" => channel.finish(driver().join("\n").as_bytes()),
        "__attempts" => channel.finish(attempts().join("\n").as_bytes()),
        "__read" => {
            let path = String::from_utf8(request).unwrap();
            let content = std::fs::read(path).unwrap_or_else(|_| b"denied".to_vec());
            channel.finish(&content)
        }
        "__state" => channel.finish(state().as_bytes()),
        "__bomb" => bomb(),
        "__flood" => loop {
            if channel.progress(&[0; 1000]).is_err() {
                std::process::exit(0)
            }
        },
        "__crash" => {
            eprint!("last words {}", "x".repeat(100_000));
            std::process::abort()
        }
        "__x32" => {
            // getpid by the x32 table
            unsafe { libc::syscall(0x4000_0000 + libc::SYS_getpid) };
            channel.finish(b"survived")
        }
        "__exit" => {
            eprintln!("leaving");
            std::process::exit(7)
        }
        _ => std::process::exit(64),
    }
}

/// A child that becomes the policy's program.
fn becomes() -> ! {
    let mut channel = enter();
    channel.request().unwrap();
    eprintln!("it comes back: {}", channel.become_program());
    std::process::exit(71)
}

pub fn spin() -> ! {
    let mut x = 0_u64;
    loop {
        x = std::hint::black_box(x.wrapping_add(1));
    }
}

pub fn bomb() -> ! {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(vec![1; 16 << 20]);
        std::hint::black_box(&kept);
    }
}

fn state() -> String {
    let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
    names.sort();
    let descriptors = (0..256)
        .filter(|&fd| unsafe { libc::fcntl(fd, libc::F_GETFD) } >= 0)
        .count();
    let directory = std::env::current_dir().unwrap();
    format!(
        "environment {}\ndescriptors {descriptors}\ndirectory {}\n",
        names.join(" "),
        directory.display()
    )
}

/// One line an attempt: its name and what came of it.
fn driver() -> Vec<String> {
    let outcome = |name: &str, succeeded: bool| {
        let outcome = if succeeded { "SUCCEEDED" } else { "denied" };
        format!("{name}: {outcome}")
    };
    let socket = |family, kind| unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) };
    let packets = socket(libc::AF_UNIX, libc::SOCK_SEQPACKET);
    // An address of the family alone: the kernel gives the socket a name of its own.
    let address = libc::sockaddr_un {
        sun_family: libc::AF_UNIX as u16,
        sun_path: [0; 108],
    };
    let family_only = size_of::<libc::sa_family_t>() as u32;
    let listens = packets >= 0
        && unsafe { libc::bind(packets, (&raw const address).cast(), family_only) } == 0
        && unsafe { libc::listen(packets, 1) } == 0;
    let connects = unsafe { libc::connect(packets, (&raw const address).cast(), family_only) };
    let own_name = format!("/proc/self/task/{}/comm", std::process::id());
    vec![
        outcome("listen", listens),
        outcome("connect", connects == 0),
        outcome("streams", socket(libc::AF_UNIX, libc::SOCK_STREAM) >= 0),
        outcome("datagrams", socket(libc::AF_UNIX, libc::SOCK_DGRAM) >= 0),
        outcome("TCP", socket(libc::AF_INET, libc::SOCK_STREAM) >= 0),
        outcome("name a thread", std::fs::write(own_name, "x").is_ok()),
        outcome("create", std::fs::write("/tmp/sandbox-escape", "x").is_ok()),
    ]
}

pub fn attempts() -> Vec<String> {
    let mut lines = Vec::new();
    let mut attempt = |name: &str, succeeded: bool| {
        let outcome = if succeeded { "SUCCEEDED" } else { "denied" };
        lines.push(format!("{name}: {outcome}"));
    };
    for path in [
        "/etc/hostname",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
    ] {
        attempt(path, std::fs::read(path).is_ok());
    }
    attempt("list /", std::fs::read_dir("/").is_ok());
    attempt(
        "create a file",
        std::fs::write("/tmp/sandbox-escape", "x").is_ok(),
    );
    attempt(
        "create a folder",
        std::fs::create_dir("/tmp/sandbox-escape.d").is_ok(),
    );
    attempt("write a device", std::fs::write("/dev/null", "x").is_ok());
    attempt("remove", std::fs::remove_file("/etc/hostname").is_ok());
    let command = std::process::Command::new("/bin/true").status();
    attempt("run a program", command.is_ok());
    for (name, family, kind) in [
        ("TCP", libc::AF_INET, libc::SOCK_STREAM),
        ("UDP over IPv6", libc::AF_INET6, libc::SOCK_DGRAM),
        ("a local socket", libc::AF_UNIX, libc::SOCK_STREAM),
        ("vsock", libc::AF_VSOCK, libc::SOCK_STREAM),
        ("netlink", libc::AF_NETLINK, libc::SOCK_RAW),
    ] {
        attempt(name, unsafe { libc::socket(family, kind, 0) } >= 0);
    }
    let parent = unsafe { libc::getppid() };
    attempt("signal the parent", unsafe { libc::kill(parent, 0) } == 0);
    attempt("signal everybody", unsafe { libc::kill(-1, 0) } == 0);
    attempt("leave the group", unsafe { libc::setsid() } >= 0);
    attempt("fork", fork());
    attempt(
        "become root",
        unsafe { libc::setuid(0) } == 0 && is_capable(),
    );
    for (name, call, argument) in raw_calls() {
        let answer = unsafe { libc::syscall(call, argument, 0, 0, 0, 0, 0) };
        let error = std::io::Error::last_os_error().raw_os_error();
        attempt(name, answer >= 0 || error != Some(libc::EPERM));
    }
    let death = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0) };
    attempt("outlive the supervisor", death == 0);
    let more = std::thread::spawn(|| 1).join();
    attempt("a thread fails", more.is_err()); // threads must still work
    lines
}

fn raw_calls() -> [(&'static str, libc::c_long, libc::c_long); 10] {
    [
        ("ptrace", libc::SYS_ptrace, 0),
        ("io_uring", libc::SYS_io_uring_setup, 1),
        ("keyring", libc::SYS_keyctl, 0),
        ("bpf", libc::SYS_bpf, 0),
        ("perf", libc::SYS_perf_event_open, 0),
        ("unshare", libc::SYS_unshare, 0x1000_0000),
        ("mount", libc::SYS_mount, 0),
        ("read another process", libc::SYS_process_vm_readv, 1),
        ("userfaultfd", libc::SYS_userfaultfd, 1),
        ("shared memory", libc::SYS_shmget, 0),
    ]
}

fn fork() -> bool {
    // SAFETY: the child, should there be one, ends at once.
    match unsafe { libc::fork() } {
        0 => unsafe { libc::_exit(0) },
        pid => pid > 0,
    }
}

/// Whether being root would mean something.
fn is_capable() -> bool {
    unsafe { libc::chown(c"/etc/hostname".as_ptr(), 0, 0) == 0 }
}

/// A child that talks before it is asked, and not in frames.
fn garbage() -> ! {
    std::io::stdout().write_all(&[0xff; 100]).unwrap();
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(60));
    std::process::exit(0)
}

/// A child that already has a child when it enters, as a library constructor could arrange.
fn grandchild() -> ! {
    // SAFETY: one thread; the new process only sleeps.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        std::thread::sleep(Duration::from_secs(60));
        std::process::exit(0);
    }
    let mut channel = enter();
    channel.progress(pid.to_string().as_bytes()).unwrap();
    spin()
}

/// A supervisor that tells its child's process id and waits to be killed.
fn supervise() -> ! {
    let command = own_command("__grandchild", false);
    let _ = command.run(
        b"",
        &mut |_| {
            let children =
                std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id()));
            println!("{}", children.unwrap().split_whitespace().next().unwrap());
        },
        None,
    );
    std::process::exit(0)
}

fn own_command(role: &str, allow_unconfined: bool) -> ChildCommand {
    ChildCommand {
        program: std::env::current_exe().unwrap(),
        role: role.to_owned(),
        policy: Policy {
            readable: vec![],
            loadable: vec![],
            writable: vec![],
            program: None,
            local_listener: false,
            environment: vec![],
            cpu_s: 10,
            wall: Duration::from_secs(20),
            memory_bytes: None,
            max_response_bytes: 1 << 20,
            allow_unconfined,
        },
    }
}

/// Runs a child from a process in which Landlock does not exist, and says what came of it.
pub fn run_without_landlock(allow_unconfined: bool) -> String {
    let role = if allow_unconfined {
        "__no_landlock_lax"
    } else {
        "__no_landlock_strict"
    };
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .arg(role)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn without_landlock(allow_unconfined: bool) -> ! {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let calls = [
        libc::SYS_landlock_create_ruleset,
        libc::SYS_landlock_add_rule,
        libc::SYS_landlock_restrict_self,
    ];
    let filter = SeccompFilter::new(
        calls.into_iter().map(|call| (call, vec![])).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
    match own_command("__echo", allow_unconfined).run(b"", &mut |_| {}, None) {
        Ok(answer) => print!(
            "answered, landlock {}, seccomp {}",
            answer.confinement.landlock_abi, answer.confinement.seccomp
        ),
        Err(ChildFailure::Unconfined(reason)) => print!("unconfined: {reason}"),
        Err(other) => print!("{other}"),
    }
    std::process::exit(0)
}
