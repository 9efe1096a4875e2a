//! The real compiler, in the real sandbox. This binary is its own compile child.
//!
//! The toolchain comes from LIGHTSPEED_TOOLCHAIN, or is installed once into the build folder.

#![allow(clippy::unwrap_used)] // test code, which a plain `main` does not show clippy

mod cases;

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use sandbox::{ChildCommand, ChildFailure, Policy};
use serde::{Deserialize, Serialize};
use toolchain::{CompileFailure, CompileRequest, Compiled, Toolchain};

const ROLE: &str = "__compile";

fn main() {
    if std::env::args().nth(1).as_deref() == Some(ROLE) {
        child();
    }
    let trials = cases::ALL
        .iter()
        .map(|&(name, test)| {
            Trial::test(name, move || {
                test();
                Ok::<(), Failed>(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

#[derive(Serialize, Deserialize)]
struct Job {
    toolchain: std::path::PathBuf,
    request: CompileRequest,
}

fn child() -> ! {
    let mut channel = sandbox::enter().unwrap();
    let job: Job = serde_json::from_slice(&channel.request().unwrap()).unwrap();
    let toolchain = Toolchain::open(&job.toolchain).unwrap();
    let result = toolchain::compile(&toolchain, &job.request);
    channel.finish(&serde_json::to_vec(&result).unwrap())
}

/// The toolchain, installed by the first test that asks.
pub fn toolchain() -> &'static Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| match std::env::var_os("LIGHTSPEED_TOOLCHAIN") {
        Some(dir) => Toolchain::open(Path::new(&dir)).unwrap(),
        None => {
            let dir = Toolchain::default_dir(Path::new(env!("CARGO_TARGET_TMPDIR")));
            install_twice_at_once(&dir)
        }
    })
}

/// As two processes would that start together on a fresh machine: one does the work.
fn install_twice_at_once(dir: &Path) -> Toolchain {
    let install = || {
        let mut steps = Vec::new();
        let toolchain = Toolchain::install(dir, &mut |step| steps.push(step.to_owned()));
        (toolchain.unwrap(), steps)
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(install);
        let second = scope.spawn(install);
        (first.join().unwrap(), second.join().unwrap())
    });
    let all = [first.1, second.1].concat();
    let downloads = all
        .iter()
        .filter(|step| step.contains("Downloading the CUDA compiler"))
        .count();
    assert!(downloads <= 1, "{all:?}");
    assert_eq!(first.0, second.0);
    first.0
}

/// Compiles in a child with the limits of a judging.
pub fn compile(source: &str, names: &[&str]) -> Result<Compiled, CompileFailure> {
    compile_for("sm_90a", source, names)
}

/// The same for another architecture.
pub fn compile_for(arch: &str, source: &str, names: &[&str]) -> Result<Compiled, CompileFailure> {
    confined(arch, source, names, 30).unwrap()
}

/// What the sandbox says, where it has something to say.
pub fn confined(
    arch: &str,
    source: &str,
    names: &[&str],
    cpu_s: u64,
) -> Result<Result<Compiled, CompileFailure>, ChildFailure> {
    confined_within(4 << 30, arch, source, names, cpu_s)
}

/// The same with less memory.
pub fn confined_within(
    memory_bytes: u64,
    arch: &str,
    source: &str,
    names: &[&str],
    cpu_s: u64,
) -> Result<Result<Compiled, CompileFailure>, ChildFailure> {
    let toolchain = toolchain();
    let command = ChildCommand {
        program: std::env::current_exe().unwrap(),
        role: ROLE.into(),
        policy: Policy {
            readable: toolchain.readable_paths(),
            loadable: toolchain.loadable_paths(),
            writable: vec![],
            program: None,
            local_listener: false,
            environment: vec![],
            cpu_s,
            wall: Duration::from_secs(600),
            memory_bytes: Some(memory_bytes),
            max_response_bytes: 64 << 20,
            allow_unconfined: false,
        },
    };
    let request = CompileRequest {
        source: source.to_owned(),
        name_expressions: names.iter().map(|&name| name.to_owned()).collect(),
        arch: arch.to_owned(),
        want_cubin: true,
    };
    let job = Job {
        toolchain: toolchain.root().to_owned(),
        request,
    };
    let job = serde_json::to_vec(&job).unwrap();
    let start = Instant::now();
    let answer = command.run(&job, &mut |_| {}, None)?;
    eprintln!(
        "compiled in {:.3} s, process and all",
        start.elapsed().as_secs_f64()
    );
    Ok(serde_json::from_slice(&answer.response).unwrap())
}
