//! Checks the CUDA backend on a machine with a GPU, without a compiler.
//!
//! `gpu_check CODE_FOLDER`, where the folder holds a `.cubin` and a `.ptx` of each file in
//! `examples/kernels`, made for the GPU's architecture by `toolchain`'s example `compile`, and may hold
//! `libcupti.so.13`. Else CUPTI comes from the toolchain folder that LIGHTSPEED_TOOLCHAIN names. Prints a line `PASS` or `FAIL` for each
//! check and ends with 1 if one failed.

#[path = "../../tests/checks/mod.rs"]
mod checks;
mod faults;
mod timing;

use std::path::{Path, PathBuf};
use std::time::Duration;

use checks::bench::{Bench, text};
use checks::{Check, Code, Images, Outcome};
use device::{CudaDevice, cuda};
use toolchain::Toolchain;

const NAMES: [&str; 6] = ["plain", "state", "wide", "tma", "faults", "trap"];
/// Short, so that the kernel without end ends soon.
const SPAN_LIMIT: Duration = Duration::from_secs(2);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["__fault", module, kernel, folder] => {
            let folder = Path::new(folder);
            faults::answer(&with_bench(folder, true, |bench| {
                faults::child(bench, module, kernel)
            }))
        }
        ["__healthy", folder] => faults::answer(&with_bench(Path::new(folder), true, healthy)),
        ["__events", folder] => {
            faults::answer(&with_bench(Path::new(folder), false, events));
        }
        [folder] if faults::has_code(Path::new(folder)) => {
            std::process::exit(i32::from(!check(Path::new(folder))));
        }
        _ => {
            eprintln!("usage: gpu_check CODE_FOLDER, which holds plain.cubin and the others");
            std::process::exit(2);
        }
    }
}

/// Runs everything; true when all passed.
fn check(folder: &Path) -> bool {
    let mut tally = Tally::default();
    tally.note("the machine's GPUs are listed", list());
    tally.note("CUPTI is there", has_cupti(folder));
    for (name, check) in { checks::COMMON.iter() }
        .chain(checks::HOPPER)
        .chain(checks::GPU_ONLY)
    {
        tally.note(name, fresh(folder, *check));
    }
    tally.note("NVML is asked", fresh(folder, timing::state));
    tally.note("the timers", timers(folder));
    for (name, module, kernel, wanted) in faults::ALL {
        let path = folder.to_string_lossy();
        let said = faults::in_child(&["__fault", module, kernel], &[&path]);
        tally.note(name, said.and_then(|said| is_wanted(&said, wanted)));
        let after = faults::in_child(&["__healthy"], &[&path]);
        tally.note("  and the next process works", after.map(drop));
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    tally.failed == 0
}

#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
}

impl Tally {
    fn note(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("PASS {name}");
            }
            Err(why) => {
                self.failed += 1;
                println!("FAIL {name}: {why}");
            }
        }
    }
}

fn list() -> Outcome {
    let gpus = device::list_gpus().map_err(text)?;
    for gpu in &gpus {
        println!("     {gpu:?}");
    }
    if gpus.is_empty() {
        return Err("no GPU".to_owned());
    }
    Ok(())
}

fn has_cupti(folder: &Path) -> Outcome {
    let device = open(cupti(folder)?)?;
    match device.why_no_cupti() {
        None => Ok(()),
        Some(why) => Err(why.to_owned()),
    }
}

fn is_wanted(said: &str, wanted: &[&str]) -> Outcome {
    println!("     {said}");
    let is_one = |kind: &&str| said.starts_with(&format!("{kind}: "));
    if wanted.iter().any(is_one) {
        Ok(())
    } else {
        Err(format!("instead of {}", wanted.join(" or ")))
    }
}

/// A check on a device of its own: what one leaves behind, another must not see.
fn fresh(folder: &Path, check: fn(&mut Bench) -> Outcome) -> Outcome {
    with_bench(folder, true, check)
}

fn with_bench<T>(
    folder: &Path,
    with_cupti: bool,
    act: impl FnOnce(&mut Bench) -> Result<T, String>,
) -> Result<T, String> {
    let images = images(folder)?;
    let cupti = if with_cupti { cupti(folder)? } else { None };
    let mut device = open(cupti)?;
    act(&mut Bench::new(&mut device, &images)?)
}

fn open(cupti_library: Option<PathBuf>) -> Result<CudaDevice, String> {
    CudaDevice::open(&cuda::Settings {
        ordinal: 0,
        memory_limit_bytes: 4 << 30,
        cupti_library,
        span_limit: SPAN_LIMIT,
    })
    .map_err(text)
}

fn images(folder: &Path) -> Result<Images, String> {
    let read = |name: &&str| {
        let path = |extension| folder.join(name).with_extension(extension);
        let failed = |path: PathBuf| move |e| format!("{}: {e}", path.display());
        let code = Code {
            ptx: std::fs::read_to_string(path("ptx")).map_err(failed(path("ptx")))?,
            cubin: std::fs::read(path("cubin")).map_err(failed(path("cubin")))?,
        };
        Ok(((*name).to_owned(), code))
    };
    NAMES.iter().map(read).collect()
}

fn cupti(folder: &Path) -> Result<Option<PathBuf>, String> {
    let beside = folder.join("libcupti.so.13");
    if beside.is_file() {
        return Ok(Some(beside));
    }
    match std::env::var_os("LIGHTSPEED_TOOLCHAIN") {
        Some(folder) => Ok(Toolchain::open(Path::new(&folder)).map_err(text)?.cupti()),
        None => Ok(None),
    }
}

fn healthy(bench: &mut Bench) -> Result<String, String> {
    let (_, check): Check = checks::COMMON[0];
    check(bench)?;
    Ok("healthy".to_owned())
}

/// Medians and slopes of a process without CUPTI, in the order of the rows.
fn events(bench: &mut Bench) -> Result<String, String> {
    let rows = timing::rows(bench)?;
    let cells = rows
        .iter()
        .map(|row| format!("{:.2} | {:.2}", row.median_us, row.slope_us));
    Ok(cells.collect::<Vec<_>>().join(";"))
}

fn timers(folder: &Path) -> Outcome {
    let rows = with_bench(folder, true, |bench| {
        let timer = bench.device.timer().ok_or("no timer")?;
        println!("     {timer:?}");
        timing::rows(bench)
    })?;
    let by_events = faults::in_child(&["__events"], &[&folder.to_string_lossy()])?;
    let mut by_events = by_events.split(';');
    println!(
        "     | warm, median of 50 | CUPTI us | quartiles | slope us | a call costs us \
         | without CUPTI: events us | slope us |"
    );
    println!("     | --- | --- | --- | --- | --- | --- | --- |");
    let mut apart = Vec::new();
    for row in &rows {
        println!(
            "     | {} | {:.2} | {:.1} % | {:.2} | {:.0} | {} |",
            row.name,
            row.median_us,
            row.spread * 100.0,
            row.slope_us,
            row.cost_us,
            by_events.next().unwrap_or("- | -"),
        );
        if (row.slope_us - row.median_us).abs() > 0.1 * row.median_us + 0.6 {
            apart.push(row.name.as_str());
        }
    }
    if apart.is_empty() {
        return Ok(());
    }
    Err(format!(
        "CUPTI and slope differ by more than 10 % + 0.6 us: {}",
        apart.join(", ")
    ))
}
