//! The bodies of the sandboxed children. The sandbox confines the process; this decides what it does.

use sandbox::{ChildChannel, Mailbox};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::child::Checker;
use crate::compile;
use crate::execute::child::Executor;
use crate::measuring;

/// Role of the child that parses, plans and compiles.
pub const COMPILE_ROLE: &str = "__compile";
/// Role of the child that becomes a disassembler.
pub const DISASSEMBLE_ROLE: &str = "__disassemble";
/// Role of the child that owns a device and runs the submission.
pub const EXECUTE_ROLE: &str = "__execute";
/// Role of the child that owns a device, runs the reference and compares.
pub const CHECK_ROLE: &str = "__check";
/// Role of the child that owns a device and measures the card itself.
pub const GAUGE_ROLE: &str = "__gauge";

/// Role of the child that asks the driver which GPUs there are.
pub const PROBE_ROLE: &str = "__probe";

/// Whether a first command-line argument names a role.
#[must_use]
pub fn is_role(argument: &str) -> bool {
    let roles = [
        COMPILE_ROLE,
        DISASSEMBLE_ROLE,
        EXECUTE_ROLE,
        CHECK_ROLE,
        GAUGE_ROLE,
        PROBE_ROLE,
    ];
    roles.contains(&argument)
}

/// Runs a role and ends the process. Must be called while the process is single-threaded and before
/// it reads anything: everything from here on is confined.
pub fn run(role: &str) -> ! {
    let ended = sandbox::enter()
        .map_err(|e| e.to_string())
        .and_then(|channel| serve(role, channel));
    if let Err(message) = ended {
        eprintln!("{message}");
    }
    std::process::exit(70)
}

fn serve(role: &str, mut channel: ChildChannel) -> Result<(), String> {
    match role {
        COMPILE_ROLE => {
            let request = channel.request().map_err(|e| e.to_string())?;
            channel.finish(&compile::child::answer(&request)?)
        }
        DISASSEMBLE_ROLE => {
            channel.request().map_err(|e| e.to_string())?;
            Err(channel.become_program().to_string())
        }
        EXECUTE_ROLE => {
            let mut executor = Executor::new(mailbox(&mut channel)?);
            converse(channel, |request| executor.answer(request))
        }
        CHECK_ROLE => {
            let mut checker = Checker::new(mailbox(&mut channel)?);
            converse(channel, |request| checker.answer(request))
        }
        GAUGE_ROLE => {
            let request = channel.request().map_err(|e| e.to_string())?;
            channel.finish(&measuring::child::answer(&request)?)
        }
        PROBE_ROLE => converse(channel, |()| {
            device::list_gpus().map_err(|error| error.to_string())
        }),
        _ => Err(format!("unknown role `{role}`")),
    }
}

fn mailbox(channel: &mut ChildChannel) -> Result<Mailbox, String> {
    channel.mailbox().ok_or_else(|| "no mailbox".to_owned())
}

/// Answers requests until the supervisor closes the line.
fn converse<Request: DeserializeOwned, Reply: Serialize>(
    mut channel: ChildChannel,
    mut answer: impl FnMut(Request) -> Result<Reply, String>,
) -> Result<(), String> {
    loop {
        let request = channel.request().map_err(|e| e.to_string())?;
        let reply = serde_json::from_slice(&request)
            .map_err(|e| e.to_string())
            .and_then(&mut answer);
        let reply = serde_json::to_vec(&reply).map_err(|e| e.to_string())?;
        channel.respond(&reply).map_err(|e| e.to_string())?;
    }
}
