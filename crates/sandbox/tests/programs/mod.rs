//! Foreign programs, as the last step of a confined child. This very binary is the program, too.

use std::ffi::CString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sandbox::{ChildCommand, ChildFailure, ChildResponse, PROGRAM_INPUT, Policy, Program};

use crate::{policy, roles};

pub const TESTS: &[(&str, fn())] = &[
    ("a_program_reads_its_input_and_answers", answers),
    ("a_program_is_denied_everything_dangerous", denied),
    ("a_program_that_hangs_meets_its_limits", hangs),
    ("a_program_that_floods_is_stopped", floods),
    ("a_program_that_dies_gives_no_answer", dies),
    ("a_program_that_bombs_memory_dies_alone", bombs),
    ("only_the_program_of_the_policy_is_run", only_one),
];

/// What the program does, by its first argument.
pub fn tool(role: &str) -> ! {
    match role {
        "__tool_echo" => {
            let mut input = std::fs::read(PROGRAM_INPUT).unwrap();
            input.make_ascii_uppercase();
            println!("{} variables", std::env::vars_os().count());
            std::io::stdout().write_all(&input).unwrap();
        }
        "__tool_attempts" => println!(
            "{}",
            [roles::attempts(), more_attempts()].concat().join("\n")
        ),
        "__tool_spin" => roles::spin(),
        "__tool_sleep" => std::thread::sleep(Duration::from_secs(60)),
        "__tool_bomb" => roles::bomb(),
        "__tool_flood" => while std::io::stdout().write_all(&[b'x'; 1000]).is_ok() {},
        "__tool_complain" => while std::io::stderr().write_all(&[b'x'; 1000]).is_ok() {},
        "__tool_crash" => {
            println!("half of an answer");
            std::process::abort()
        }
        _ => {
            println!("half of an answer");
            eprintln!("no such file");
            std::process::exit(3)
        }
    }
    std::process::exit(0)
}

/// What only a program would try.
#[allow(unsafe_code)] // attacks are made of system calls
fn more_attempts() -> Vec<String> {
    let mut lines = Vec::new();
    let mut attempt = |name: &str, succeeded: bool| {
        let outcome = if succeeded { "SUCCEEDED" } else { "denied" };
        lines.push(format!("{name}: {outcome}"));
    };
    let own = CString::new(std::env::args().next().unwrap()).unwrap();
    let nothing = [std::ptr::null::<libc::c_char>()];
    // SAFETY: the string and the lists are live and end in zeros; where one of these calls succeeds, this
    // program is another.
    unsafe {
        libc::execve(own.as_ptr(), nothing.as_ptr(), nothing.as_ptr());
        attempt("run itself again", false);
        let fd = libc::memfd_create(c"code".as_ptr(), 0);
        attempt("a file in memory", fd >= 0);
    }
    // What is too large for a file, as all is, would end the program.
    // SAFETY: a plain number and no handler; then flags of a mapping that is never looked at.
    let mapped = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        libc::mmap(std::ptr::null_mut(), 4096, access, shared, 0, 0)
    };
    attempt("map its input for writing", mapped != libc::MAP_FAILED);
    let writable = std::fs::File::options().write(true).open(PROGRAM_INPUT);
    let written = writable.and_then(|mut input| input.write(b"x"));
    attempt("write to its input", written.is_ok());
    lines
}

/// A policy whose program is this binary in a role.
fn becoming(tool: &str) -> Policy {
    let loader = |path: &str| Path::new(path).canonicalize().ok();
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let loaders: Vec<PathBuf> = loaders.into_iter().filter_map(loader).collect();
    Policy {
        loadable: vec!["/lib".into(), "/lib64".into(), "/usr/lib".into()],
        program: Some(Program {
            path: std::env::current_exe().unwrap(),
            arguments: vec![tool.to_owned()],
            loaders,
        }),
        ..policy()
    }
}

fn run(policy: Policy) -> Result<ChildResponse, ChildFailure> {
    let command = ChildCommand {
        program: std::env::current_exe().unwrap(),
        role: "__becomes".to_owned(),
        policy,
    };
    command.run_program(b"the input", None)
}

fn answers() {
    let answer = run(becoming("__tool_echo")).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&answer.response),
        "0 variables\nTHE INPUT"
    );
    assert!(answer.confinement.is_confined(), "{:?}", answer.confinement);
    // Frames are nothing special to a program: this many bytes would be a large one.
    let command = ChildCommand {
        program: std::env::current_exe().unwrap(),
        role: "__becomes".to_owned(),
        policy: becoming("__tool_echo"),
    };
    let input = vec![5; 900_000];
    let answer = command.run_program(&input, None).unwrap();
    assert!(answer.response.ends_with(&input));
}

fn denied() {
    let answer = run(becoming("__tool_attempts")).unwrap();
    let attempts = String::from_utf8(answer.response).unwrap();
    let lines = attempts.lines();
    let succeeded: Vec<&str> = lines.filter(|line| !line.ends_with(": denied")).collect();
    assert!(succeeded.is_empty(), "{succeeded:#?}");
    assert!(attempts.lines().count() >= 28, "{attempts}");
}

fn hangs() {
    let policy = |tool| Policy {
        cpu_s: 1,
        wall: Duration::from_millis(1500),
        ..becoming(tool)
    };
    let started = Instant::now();
    let failure = run(policy("__tool_sleep")).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::WallClock { .. }),
        "{failure}"
    );
    assert!(started.elapsed() < Duration::from_secs(8));
    let long = Policy {
        wall: Duration::from_secs(20),
        ..policy("__tool_spin")
    };
    let failure = run(long).unwrap_err();
    assert!(matches!(failure, ChildFailure::CpuLimit), "{failure}");
}

fn floods() {
    let failure = run(becoming("__tool_flood")).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::ResponseTooLarge),
        "{failure}"
    );
    let brief = Policy {
        wall: Duration::from_secs(1),
        ..becoming("__tool_complain")
    };
    let failure = run(brief).unwrap_err();
    assert!(
        matches!(failure, ChildFailure::WallClock { .. }),
        "{failure}"
    );
}

fn dies() {
    let failure = run(becoming("__tool_crash")).unwrap_err();
    assert!(matches!(failure, ChildFailure::Signal { .. }), "{failure}");
    let failure = run(becoming("__tool_exit")).unwrap_err();
    let ChildFailure::ExitCode { code: 3, stderr } = failure else {
        panic!("{failure}");
    };
    assert_eq!(stderr, "no such file\n");
}

fn bombs() {
    let failure = run(becoming("__tool_bomb")).unwrap_err();
    assert!(matches!(failure, ChildFailure::MemoryLimit), "{failure}");
}

fn only_one() {
    let mut missing = becoming("__tool_echo");
    if let Some(program) = &mut missing.program {
        program.path = "/does/not/exist".into();
    }
    let failure = run(missing).unwrap_err().to_string();
    assert!(failure.contains("it comes back"), "{failure}");
    // A child that was granted no program cannot say that it becomes one.
    let failure = run(policy()).unwrap_err().to_string();
    assert!(failure.contains("names no program"), "{failure}");
}
