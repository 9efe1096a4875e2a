//! The differential suite: each instruction form as one kernel of inline assembly, and whole kernels, compiled
//! once to PTX and CUBIN. The bits that an H200 gave for the CUBIN are on record; the emulated device must give
//! them for the PTX. What can be worked out otherwise is, for whole kernels, and holds without a record too.
//!
//! To record them anew, on a machine with the card:
//! `LIGHTSPEED_RECORD=FILE LIGHTSPEED_RECORD_HEADING="date, driver" cargo test --release -p device --test differential`

#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod agreement;
mod bench;
mod families;
mod forms;
mod inputs;
mod kernels;
#[path = "../limits/mod.rs"]
mod limits;
mod record;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use bench::{Bench, Compiled, Family};
use device::{CudaDevice, Device as _, DeviceError, EmulatedDevice, cuda, emulated};
use kernels::{Source, Whole};
use libtest_mimic::{Arguments, Completion, Trial};
use record::Record;
use toolchain::Toolchain;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/h200.tsv");

fn main() {
    let arguments = Arguments::from_args();
    let no_gpu = device::list_gpus().err();
    if let Some(why) = &no_gpu {
        eprintln!("skipped: no GPU ({why})");
    }
    if !Path::new(RECORDED).exists() {
        eprintln!("skipped: no bits of a GPU are on record");
    }
    let mut trials = vec![
        Trial::test("each_form_and_kernel_has_a_name_of_its_own", || {
            names();
            Ok(())
        }),
        Trial::test("every_form_runs_on_the_emulated_device", || {
            on_the_emulated_device(recorded().as_ref());
            Ok(())
        }),
        Trial::ignorable_test("a_gpu_gives_the_bits_on_record", || Ok(on_a_gpu()))
            .with_ignored_flag(no_gpu.is_some()),
    ];
    for source in kernels::all() {
        let name = format!("kernels_of_{}_run_on_the_emulated_device", source.name);
        trials.push(Trial::test(name, move || {
            whole_on_the_emulated_device(source, recorded().as_ref());
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// The bits of a GPU that are on record.
fn recorded() -> Option<Record> {
    let text = std::fs::read_to_string(RECORDED).ok()?;
    Some(Record::parse(&text))
}

fn toolchain() -> Toolchain {
    match std::env::var_os("LIGHTSPEED_TOOLCHAIN") {
        Some(dir) => Toolchain::open(Path::new(&dir)).unwrap(),
        None => {
            let dir = Toolchain::default_dir(Path::new(env!("CARGO_TARGET_TMPDIR")));
            Toolchain::install(&dir, &mut |_| {}).unwrap()
        }
    }
}

fn names() {
    let families = families::all();
    let sources = kernels::all();
    let wholes = sources.iter().flat_map(|source| &source.kernels);
    let names: Vec<&str> = families
        .iter()
        .flat_map(|(_, forms)| forms)
        .map(|form| form.name.as_str())
        .chain(wholes.map(|whole| whole.name))
        .collect();
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
}

/// Each form by its results, or why there are none.
fn results<D: device::Device>(
    bench: &mut Bench<D>,
    family: &Family,
) -> Vec<Result<Vec<u64>, DeviceError>> {
    let module = bench.load(family).unwrap();
    (0..family.forms.len())
        .map(|at| bench.run(module, family, at))
        .collect()
}

fn on_the_emulated_device(recorded: Option<&Record>) {
    // To CUBIN too: only that says whether a form is one.
    let families = bench::compile(&toolchain(), "sm_90a", true).unwrap();
    let mut bench = Bench::new(emulated_device()).unwrap();
    let mut faults = Vec::new();
    let (mut forms, mut compared) = (0, 0);
    for family in &families {
        for (form, ours) in family.forms.iter().zip(results(&mut bench, family)) {
            forms += 1;
            let ours = match ours {
                Ok(ours) => ours,
                Err(why) => {
                    faults.push(format!("{}: {}: {why}", family.name, form.name));
                    continue;
                }
            };
            let theirs = recorded.and_then(|record| record.of(&form.name, form.result));
            if let Some(theirs) = theirs {
                compared += 1;
                let wrong = compare(form, &ours, &theirs);
                faults.extend(
                    wrong
                        .into_iter()
                        .map(|what| format!("{} {what}", form.name)),
                );
            }
        }
    }
    println!("{forms} forms, {compared} of them compared with a GPU's");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn emulated_device() -> EmulatedDevice {
    EmulatedDevice::new(emulated::Settings {
        limits: limits::h200(),
        memory_limit_bytes: 1 << 24,
        instruction_fuel: 1 << 22,
    })
}

fn whole_on_the_emulated_device(source: Source, recorded: Option<&Record>) {
    let compiled = Compiled::of(&toolchain(), source, "sm_90a").unwrap();
    let results = bench::run_whole(&mut emulated_device(), &compiled).unwrap();
    let mut faults = Vec::new();
    for (whole, ours) in compiled.source.kernels.iter().zip(results) {
        let ours = match ours {
            Ok(ours) => ours,
            Err(why) => {
                faults.push(format!("{}: {why}", whole.name));
                continue;
            }
        };
        faults.extend(unexpected(whole, &ours));
        if let Some(theirs) = recorded.and_then(|record| record.of(whole.name, whole.class)) {
            let wrong = agreement::disagreements_of_whole(whole, &ours, &theirs);
            let wrong = wrong.into_iter();
            faults.extend(wrong.map(|what| format!("{}{what}, on record", whole.name)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn compare(form: &forms::Form, ours: &[u64], theirs: &[u64]) -> Vec<String> {
    let operands = form.operands.iter().enumerate();
    let inputs: Vec<_> = operands
        .map(|(at, &class)| inputs::values(class, at))
        .collect();
    agreement::disagreements(form, &inputs, ours, theirs)
}

/// Records a GPU's bits where asked to; else compares them with those on record.
fn on_a_gpu() -> Completion {
    let toolchain = toolchain();
    let device = CudaDevice::open(&cuda::Settings {
        ordinal: 0,
        memory_limit_bytes: 1 << 30,
        cupti_library: toolchain.cupti(),
        span_limit: Duration::from_secs(10),
    });
    let device = match device {
        Ok(device) => device,
        Err(why) => return Completion::ignored_with(why.to_string()),
    };
    let limits = device.limits().clone();
    let families = bench::compile(&toolchain, &limits.arch, true).unwrap();
    let mut bench = Bench::new(device).unwrap();
    let heading = std::env::var("LIGHTSPEED_RECORD_HEADING").unwrap_or_default();
    let mut record = Record {
        heading: vec![format!("# {} for {}; {heading}", limits.name, limits.arch)],
        results: std::collections::BTreeMap::new(),
    };
    // What goes wrong is told when the rest is on record.
    let mut faults = Vec::new();
    for family in &families {
        for (form, bits) in family.forms.iter().zip(results(&mut bench, family)) {
            match bits {
                Ok(bits) => record.insert(&form.name, form.result, &bits),
                Err(why) => faults.push(format!("{}: {why}", form.name)),
            }
        }
    }
    for source in kernels::all() {
        let compiled = Compiled::of(&toolchain, source, &limits.arch).unwrap();
        let results = bench::run_whole(bench.device(), &compiled).unwrap();
        for (whole, bits) in compiled.source.kernels.iter().zip(results) {
            match bits {
                Ok(bits) => {
                    faults.extend(unexpected(whole, &bits));
                    record.insert(whole.name, whole.class, &bits);
                }
                Err(why) => faults.push(format!("{}: {why}", whole.name)),
            }
        }
    }
    let file = std::env::var_os("LIGHTSPEED_RECORD");
    if let Some(file) = &file {
        std::fs::write(file, record.to_text()).unwrap();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    if file.is_some() {
        return Completion::Completed;
    }
    let Ok(text) = std::fs::read_to_string(RECORDED) else {
        return Completion::ignored_with("no bits are on record");
    };
    let recorded = Record::parse(&text);
    if !recorded
        .heading
        .iter()
        .any(|line| line.contains(&limits.name))
    {
        return Completion::ignored_with(format!(
            "the bits on record are not of a {}",
            limits.name
        ));
    }
    assert_eq!(record.results, recorded.results);
    Completion::Completed
}

/// Where a kernel's results are not what is expected of it on every device.
fn unexpected(whole: &Whole, bits: &[u64]) -> Vec<String> {
    let expected = whole.expected.as_ref();
    let wrong = expected.map(|expected| agreement::disagreements_of_whole(whole, bits, expected));
    let wrong = wrong.into_iter().flatten();
    wrong
        .map(|what| format!("{}{what}, expected", whole.name))
        .collect()
}
