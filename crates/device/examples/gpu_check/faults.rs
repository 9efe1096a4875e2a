//! Kernels that end badly, each in a process of its own, and a healthy process after each.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use device::{DeviceError, Operation};

use crate::checks::bench::{Bench, launch, pointer, text};

/// Name, module, kernel, and the kinds that are right.
pub const ALL: [(&str, &str, &str, &[&str]); 5] = [
    (
        "an illegal address",
        "faults",
        "illegal_address",
        &["illegal_address"],
    ),
    (
        "a misaligned address",
        "faults",
        "misaligned",
        &["misaligned"],
    ),
    ("a failed assertion", "faults", "assertion", &["assert"]),
    ("a trap", "trap", "trap", &["trap"]),
    (
        "a kernel without end",
        "faults",
        "endless",
        &["time_limit wall_clock"],
    ),
];

/// In the child: runs the kernel and says what came of it, then what a later call says.
pub fn child(bench: &mut Bench, module: &str, kernel: &str) -> Result<String, String> {
    let module = bench.load(module)?;
    let out = bench.buffer(64, "out")?;
    bench.device.write(out, &[0; 64]).map_err(text)?;
    let spec = launch(module, kernel, vec![pointer(out)]);
    let told = match bench.run(&[Operation::Launch(spec)]) {
        Ok(_) => "no fault".to_owned(),
        Err(DeviceError::Fault(fault)) => format!("{}: {}", fault.kind.as_str(), fault.message),
        Err(DeviceError::TimeLimit(fault)) => {
            format!("time_limit {}: {}", fault.kind.as_str(), fault.message)
        }
        Err(other) => format!("not the author's: {other}"),
    };
    match bench.device.read(out) {
        Err(DeviceError::Internal(why)) if why == "the device was lost" => Ok(told),
        later => Err(format!("{told}; afterwards {later:?}")),
    }
}

/// In the parent: runs this program again with a role. The child is killed once it has spoken, as a
/// judge kills it: its own exit could wait for the kernel.
pub fn in_child(role: &[&str], rest: &[&str]) -> Result<String, String> {
    let program = std::env::current_exe().map_err(text)?;
    let mut child = Command::new(program)
        .args(role)
        .args(rest)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(text)?;
    let begin = Instant::now();
    let said = read_answer(&mut child);
    child.kill().map_err(text)?;
    child.wait().map_err(text)?;
    if begin.elapsed() > Duration::from_secs(60) {
        return Err("the process took more than a minute".to_owned());
    }
    said
}

/// The line that begins with the mark; what kernels and the driver print comes before it.
fn read_answer(child: &mut std::process::Child) -> Result<String, String> {
    use std::io::{BufRead, BufReader};
    let pipe = child.stdout.take().ok_or("no pipe")?;
    for line in BufReader::new(pipe).lines() {
        let line = line.map_err(text)?;
        if let Some(answer) = line.strip_prefix("ANSWER ok ") {
            return Ok(answer.to_owned());
        }
        if let Some(answer) = line.strip_prefix("ANSWER error ") {
            return Err(answer.to_owned());
        }
    }
    Err("the process ended without an answer".to_owned())
}

/// Answers the parent and waits to be killed.
pub fn answer(result: &Result<String, String>) -> ! {
    match result {
        Ok(text) => println!("ANSWER ok {text}"),
        Err(text) => println!("ANSWER error {text}"),
    }
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Whether a folder of code is there, told before anything else fails for want of it.
pub fn has_code(folder: &Path) -> bool {
    folder.join("plain.cubin").is_file()
}
