//! `lightspeed __toolchain`: makes sure of the CUDA compiler and prints its folder. For
//! `./lightspeed test`.

use clap::Args;

use crate::arguments::Global;
use crate::failure::Failure;
use crate::local;
use crate::terminal::Terminal;

/// Flags of `__toolchain`.
#[derive(Debug, Args)]
pub(crate) struct Toolchain {
    /// A ready folder, to be checked instead
    #[arg(long, env = "LIGHTSPEED_TOOLCHAIN", value_name = "DIR")]
    toolchain: Option<std::path::PathBuf>,
}

/// Prints one line: the folder.
pub(crate) fn run(
    arguments: &Toolchain,
    global: &Global,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let state = local::state_folder(global, terminal)?;
    let ready = arguments.toolchain.as_deref();
    let toolchain = local::toolchain(ready, &state, &mut |step| terminal.say(step))?;
    terminal.print(&toolchain.root().display().to_string());
    Ok(0)
}
