//! Has the compiler read its large headers once, before a submission needs them.

use std::path::Path;
use std::process::{Command, Stdio};

use domain::DeviceName;
use toolchain::Toolchain;

use crate::Environment;
use crate::child::PRECOMPILE_ROLE;

/// Precompiles for a device beside everything else: what comes before it is ready compiles without.
pub fn precompile_in_background(environment: Environment, device: DeviceName) {
    std::thread::spawn(move || {
        if let Err(reason) = precompile(&environment, device) {
            tracing::warn!(reason, "the compiler's large headers are not precompiled");
        }
    });
}

/// Makes sure of precompiled headers for a device; takes some seconds and 350 MB of disk where there are
/// none. What is not made costs time only: CUB's headers then take three seconds a compile.
fn precompile(environment: &Environment, device: DeviceName) -> Result<(), String> {
    let toolchain = &environment.toolchain;
    let arch = &scoring::device(device).limits.arch;
    // Not confined: it reads nothing but the toolchain, and writes there. It must do what a compile
    // child does until that child has settled, so that both find the same addresses. Only it knows
    // whether a file that lies there is of these.
    let mut command = Command::new(&environment.program);
    command
        .arg(PRECOMPILE_ROLE)
        .env_clear()
        .env(toolchain::SETTLE, toolchain.root())
        .env(ARCH, arch)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    sandbox::fix_addresses(&mut command);
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Names the architecture to the process that precompiles.
const ARCH: &str = "LIGHTSPEED_ARCH";

/// Takes the addresses that precompiled headers need, in a child that was told to. Must come before
/// the child allocates anything large.
pub(crate) fn settle() {
    if let Some(root) = std::env::var_os(toolchain::SETTLE) {
        toolchain::settle(Path::new(&root));
    }
}

/// The process that precompiles. Never sees a submission.
pub(crate) fn serve() -> Result<(), String> {
    settle();
    let variable = |name| std::env::var(name).map_err(|e| format!("{name}: {e}"));
    let toolchain = Toolchain::open(Path::new(&variable(toolchain::SETTLE)?));
    let toolchain = toolchain.map_err(|e| e.to_string())?;
    toolchain::precompile(&toolchain, &variable(ARCH)?).map_err(|e| e.to_string())
}
