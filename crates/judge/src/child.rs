//! The bodies of the sandboxed children. The sandbox confines the process; this decides what it does.

use crate::{compile, execute};

/// Role of the child that parses, plans and compiles.
pub const COMPILE_ROLE: &str = "__compile";
/// Role of the child that owns a device and runs kernels.
pub const EXECUTE_ROLE: &str = "__execute";

/// Whether a first command-line argument names a role.
#[must_use]
pub fn is_role(argument: &str) -> bool {
    argument == COMPILE_ROLE || argument == EXECUTE_ROLE
}

/// Runs a role and ends the process. Must be called while the process is single-threaded and before
/// it reads anything: everything from here on is confined.
pub fn run(role: &str) -> ! {
    let served = match role {
        COMPILE_ROLE => serve(compile::child::answer),
        EXECUTE_ROLE => serve(execute::child::answer),
        _ => Err(format!("unknown role `{role}`")),
    };
    if let Err(message) = served {
        eprintln!("{message}");
    }
    std::process::exit(70)
}

type Answer = fn(&[u8], &mut dyn FnMut(&[u8])) -> Result<Vec<u8>, String>;

fn serve(answer: Answer) -> Result<(), String> {
    let mut channel = sandbox::enter().map_err(|e| e.to_string())?;
    let request = channel.request().map_err(|e| e.to_string())?;
    let response = answer(&request, &mut |message| {
        // A parent that no longer listens is about to kill this process; nothing else to do.
        let _ = channel.progress(message);
    })?;
    channel.finish(&response)
}
