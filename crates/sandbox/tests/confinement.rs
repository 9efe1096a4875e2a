//! Real processes under real restrictions. This binary is its own child: with a role as its first
//! argument it enters the sandbox and tries what the role says.

#![allow(clippy::unwrap_used)] // test code, which a plain `main` does not show clippy

mod programs;
mod roles;

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use sandbox::{ChildCommand, ChildFailure, ChildResponse, Mailbox, Policy};

fn main() {
    if let Some(role) = std::env::args().nth(1).filter(|a| a.starts_with("__")) {
        roles::run(&role);
    }
    let trials = TESTS
        .iter()
        .chain(programs::TESTS)
        .map(|&(name, test)| {
            Trial::test(name, move || {
                test();
                Ok::<(), Failed>(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

const TESTS: &[(&str, fn())] = &[
    ("request_progress_and_response_round_trip", round_trip),
    ("large_requests_and_responses_do_not_deadlock", large),
    ("a_session_answers_again_and_shares_memory", session),
    ("a_session_that_failed_stays_failed", failed_session),
    ("an_answer_nobody_asked_for_ends_a_session", out_of_turn),
    ("what_a_library_prints_is_caught", caught),
    (
        "variables_of_the_policy_join_the_fixed_environment",
        variables,
    ),
    ("everything_dangerous_is_denied", denied),
    ("granted_paths_can_be_read_and_nothing_beside_them", granted),
    ("a_driver_may_listen_and_name_its_threads", driver),
    ("nothing_is_inherited", nothing_inherited),
    ("an_endless_loop_meets_the_wall_clock", wall_clock),
    ("an_endless_loop_meets_the_cpu_limit", cpu_limit),
    ("a_memory_bomb_meets_the_memory_limit", memory_limit),
    ("an_oversized_response_is_refused", oversized),
    ("a_flood_of_messages_is_refused", flood),
    ("a_crash_is_reported_with_its_signal_and_words", crash),
    ("a_foreign_system_call_table_kills", foreign_calls),
    ("an_exit_without_response_is_reported", exit_code),
    ("bytes_that_are_no_frames_are_a_protocol_error", garbage),
    ("a_child_that_reads_nothing_can_be_cancelled", cancel),
    ("a_flag_set_before_the_start_cancels_too", cancelled_at_once),
    ("grandchildren_die_with_the_child", grandchildren),
    ("a_child_dies_with_its_supervisor", supervisor_death),
    (
        "a_host_without_landlock_is_refused_or_flagged",
        without_landlock,
    ),
    (
        "a_program_that_does_not_exist_is_a_spawn_failure",
        no_program,
    ),
];

fn policy() -> Policy {
    Policy {
        readable: vec![],
        loadable: vec![],
        writable: vec![],
        program: None,
        local_listener: false,
        environment: vec![],
        cpu_s: 10,
        wall: Duration::from_secs(20),
        memory_bytes: Some(1 << 30),
        max_response_bytes: 1 << 20,
        allow_unconfined: false,
    }
}

fn command(role: &str, policy: Policy) -> ChildCommand {
    ChildCommand {
        program: std::env::current_exe().unwrap(),
        role: role.to_owned(),
        policy,
    }
}

fn run(role: &str, request: &[u8], policy: Policy) -> Result<ChildResponse, ChildFailure> {
    command(role, policy).run(request, &mut |_| {}, None)
}

fn text(answer: Result<ChildResponse, ChildFailure>) -> String {
    String::from_utf8(answer.unwrap().response).unwrap()
}

fn round_trip() {
    let mut messages = Vec::new();
    let answer = command("__echo", policy())
        .run(b"hello", &mut |m| messages.push(m.to_vec()), None)
        .unwrap();
    assert_eq!(answer.response, b"HELLO");
    assert_eq!(messages, [b"one".to_vec(), b"two".to_vec()]);
    assert!(answer.confinement.is_confined(), "{:?}", answer.confinement);
    assert_eq!(answer.confinement.warning(), None);
    #[allow(unsafe_code)]
    // SAFETY: no arguments, cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    assert_eq!(answer.confinement.own_user, root);
}

fn large() {
    let request = vec![b'x'; 5 << 20];
    let mut policy = policy();
    policy.max_response_bytes = 8 << 20;
    let answer = run("__echo", &request, policy).unwrap();
    assert_eq!(answer.response.len(), request.len());
}

fn denied() {
    let attempts = text(run("__attempts", b"", policy()));
    let succeeded: Vec<&str> = attempts
        .lines()
        .filter(|line| !line.ends_with(": denied"))
        .collect();
    assert!(succeeded.is_empty(), "{succeeded:#?}");
    assert!(attempts.lines().count() >= 25, "{attempts}");
}

fn granted() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("granted");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("file"), "inside").unwrap();
    std::fs::write(folder.path().join("file"), "outside").unwrap();
    let mut policy = policy();
    policy.readable = vec![inside.clone(), "/does/not/exist".into()];
    let read = |path: std::path::PathBuf| {
        text(run(
            "__read",
            path.to_str().unwrap().as_bytes(),
            policy.clone(),
        ))
    };
    assert_eq!(read(inside.join("file")), "inside");
    assert_eq!(read(folder.path().join("file")), "denied");
    assert_eq!(read(inside.join("../file")), "denied");
    std::os::unix::fs::symlink("/etc/hostname", inside.join("link")).unwrap();
    assert_eq!(read(inside.join("link")), "denied");
}

/// What a CUDA driver does, with and without the grants for it.
fn driver() {
    let attempts = |policy: Policy| text(run("__driver", b"", policy));
    assert_eq!(
        attempts(policy()),
        "listen: denied\nconnect: denied\nstreams: denied\ndatagrams: denied\nTCP: denied\nname a thread: denied\ncreate: denied"
    );
    let granted = Policy {
        writable: vec!["/proc/self/task".into()],
        local_listener: true,
        ..policy()
    };
    assert_eq!(
        attempts(granted),
        "listen: SUCCEEDED\nconnect: denied\nstreams: denied\ndatagrams: denied\nTCP: denied\nname a thread: SUCCEEDED\ncreate: denied"
    );
}

fn session() {
    let mut mailbox = Mailbox::create(1 << 20).unwrap();
    let mut session = command("__mailbox", policy())
        .start(Some(&mailbox))
        .unwrap();
    let mut ask = |request: &[u8]| {
        let wall = Duration::from_secs(20);
        session.ask(request, wall, None, &mut |_| {}).unwrap()
    };
    mailbox
        .fill(0, 3, |slot| slot.copy_from_slice(b"abc"))
        .unwrap();
    assert_eq!(ask(b"upper"), b"abc");
    assert_eq!(mailbox.read(0, 3).unwrap(), b"ABC");
    assert_eq!(ask(b"upper"), b"ABC");
    // The pipes, the mailbox and the standard three.
    assert_eq!(ask(b"descriptors"), b"6");
    assert!(session.confinement().unwrap().is_confined());
}

fn out_of_turn() {
    let mut session = command("__chatty", policy()).start(None).unwrap();
    let wall = Duration::from_secs(5);
    let first = session.ask(b"one", wall, None, &mut |_| {}).unwrap();
    assert_eq!(first, b"one");
    std::thread::sleep(Duration::from_millis(200));
    let failure = session.ask(b"two", wall, None, &mut |_| {}).unwrap_err();
    assert!(
        matches!(&failure, ChildFailure::Protocol(why) if why.contains("out of turn")),
        "{failure}"
    );
}

fn caught() {
    let mut session = command("__caught", policy()).start(None).unwrap();
    let mut ask = |text: &[u8]| {
        let answer = session.ask(text, Duration::from_secs(5), None, &mut |_| {});
        String::from_utf8(answer.unwrap()).unwrap()
    };
    assert_eq!(ask(b"hello"), "hello true");
    assert_eq!(ask(b"longer than 8"), "longer t false");
    assert_eq!(ask(b"again"), "again true");
    assert_eq!(ask(&[b'x'; 3 << 20]), "xxxxxxxx false");
    assert_eq!(ask(b"and on"), "and on true");
}

fn variables() {
    let policy = Policy {
        environment: vec![("CUDA_VISIBLE_DEVICES".to_owned(), "GPU-1".to_owned())],
        ..policy()
    };
    let state = text(run("__state", b"", policy));
    assert!(state.contains("CUDA_VISIBLE_DEVICES"), "{state}");
}

fn failed_session() {
    let mut session = command("__spin", policy()).start(None).unwrap();
    let wall = Duration::from_millis(200);
    let failure = session.ask(b"", wall, None, &mut |_| {}).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::WallClock { .. }),
        "{failure}"
    );
    let again = session.ask(b"", Duration::from_secs(5), None, &mut |_| {});
    assert!(again.is_err(), "it is dead");
}

fn nothing_inherited() {
    // A descriptor that a careless parent left open to its children.
    let leaked = std::fs::File::open("/etc/hostname").unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&leaked);
    #[allow(unsafe_code)]
    // SAFETY: a flag of a descriptor that is open here.
    unsafe {
        libc::fcntl(fd, libc::F_SETFD, 0)
    };
    let state = text(run("__state", b"", policy()));
    let mut names: Vec<&str> = sandbox::ENVIRONMENT.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert!(
        state.contains(&format!("environment {}\n", names.join(" "))),
        "{state}"
    );
    assert!(state.contains("descriptors 5\n"), "{state}");
    assert!(state.contains("directory /\n"), "{state}");
}

fn wall_clock() {
    let mut policy = policy();
    policy.wall = Duration::from_millis(300);
    let start = Instant::now();
    let failure = run("__spin", b"", policy).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::WallClock { .. }),
        "{failure}"
    );
    assert!(start.elapsed() >= Duration::from_millis(300));
}

fn cpu_limit() {
    let mut policy = policy();
    policy.cpu_s = 1;
    let failure = run("__spin", b"", policy).unwrap_err();
    assert!(matches!(failure, ChildFailure::CpuLimit), "{failure}");
}

fn memory_limit() {
    let mut policy = policy();
    policy.memory_bytes = Some(256 << 20);
    let failure = run("__bomb", b"", policy).unwrap_err();
    assert!(matches!(failure, ChildFailure::MemoryLimit), "{failure}");
}

fn oversized() {
    let mut policy = policy();
    policy.max_response_bytes = 1000;
    assert_eq!(
        run("__echo", &[b'x'; 900], policy.clone())
            .unwrap()
            .response
            .len(),
        900
    );
    let failure = run("__echo", &[b'x'; 100_000], policy).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::ResponseTooLarge),
        "{failure}"
    );
}

fn flood() {
    let failure = run("__flood", b"", policy()).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::ResponseTooLarge),
        "{failure}"
    );
}

fn crash() {
    match run("__crash", b"", policy()).unwrap_err() {
        ChildFailure::Signal { signal, stderr } => {
            assert_eq!(signal, libc::SIGABRT);
            assert!(stderr.starts_with("last words"), "{stderr}");
            assert_eq!(
                stderr.len(),
                64 * 1024,
                "kept up to the cap, the rest dropped"
            );
        }
        other => panic!("{other}"),
    }
}

fn foreign_calls() {
    match run("__x32", b"", policy()).unwrap_err() {
        ChildFailure::Signal { signal, .. } => assert_eq!(signal, libc::SIGSYS),
        other => panic!("{other}"),
    }
}

fn exit_code() {
    match run("__exit", b"", policy()).unwrap_err() {
        ChildFailure::ExitCode { code, stderr } => {
            assert_eq!((code, stderr.trim()), (7, "leaving"));
        }
        other => panic!("{other}"),
    }
}

fn garbage() {
    let failure = run("__garbage", b"", policy()).unwrap_err();
    assert!(matches!(failure, ChildFailure::Protocol(_)), "{failure}");
}

fn cancel() {
    let flag = AtomicBool::new(false);
    let request = vec![0; 4 << 20];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            flag.store(true, Ordering::Relaxed);
        });
        let failure = command("__spin", policy())
            .run(&request, &mut |_| {}, Some(&flag))
            .unwrap_err();
        assert!(matches!(failure, ChildFailure::Cancelled), "{failure}");
    });
}

fn cancelled_at_once() {
    let flag = AtomicBool::new(true);
    let failure = command("__echo", policy())
        .run(b"", &mut |_| {}, Some(&flag))
        .unwrap_err();
    assert!(matches!(failure, ChildFailure::Cancelled), "{failure}");
}

fn grandchildren() {
    let mut policy = policy();
    policy.wall = Duration::from_secs(2);
    let mut pid = 0;
    let failure = command("__grandchild", policy)
        .run(
            b"",
            &mut |message| pid = std::str::from_utf8(message).unwrap().parse().unwrap(),
            None,
        )
        .unwrap_err();
    assert!(
        matches!(failure, ChildFailure::WallClock { .. }),
        "{failure}"
    );
    assert!(pid > 0, "the grandchild was never started");
    assert!(gone(pid), "process {pid} is still there");
}

fn supervisor_death() {
    let mut supervisor = Command::new(std::env::current_exe().unwrap())
        .arg("__supervise")
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = supervisor.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    let pid = line.trim().parse().unwrap();
    assert!(!gone_now(pid));
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    assert!(gone(pid), "process {pid} outlived its supervisor");
}

fn without_landlock() {
    let refused = roles::run_without_landlock(false);
    assert!(refused.starts_with("unconfined: "), "{refused}");
    assert!(refused.contains("Landlock"), "{refused}");
    let flagged = roles::run_without_landlock(true);
    assert_eq!(flagged, "answered, landlock 0, seccomp true");
}

fn no_program() {
    let mut command = command("__echo", policy());
    command.program = "/does/not/exist".into();
    let failure = command.run(b"", &mut |_| {}, None).unwrap_err();
    assert!(matches!(failure, ChildFailure::Spawn(_)), "{failure}");
}

/// Waits a while for a process to be gone; killing is quick but not instant.
fn gone(pid: i32) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        if gone_now(pid) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Not there, or dead and waiting for whoever adopts it to take notice.
fn gone_now(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().is_some_and(|s| s.starts_with(" Z")),
        Err(_) => true,
    }
}
