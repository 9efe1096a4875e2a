//! The differential suite: each instruction form as one kernel of inline assembly, compiled once to PTX and
//! CUBIN. The bits that an H200 gave for the CUBIN are on record; the emulated device must give them for the PTX.
//!
//! To record them anew, on a machine with the card:
//! `LIGHTSPEED_RECORD=FILE LIGHTSPEED_RECORD_HEADING="date, driver" cargo test --release -p device --test differential`

#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod agreement;
mod bench;
mod families;
mod forms;
mod inputs;
#[path = "../limits/mod.rs"]
mod limits;
mod record;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use bench::{Bench, Family};
use device::{CudaDevice, Device as _, DeviceError, EmulatedDevice, cuda, emulated};
use libtest_mimic::{Arguments, Completion, Trial};
use record::Record;
use toolchain::Toolchain;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/h200.tsv");

fn main() {
    let arguments = Arguments::from_args();
    let recorded = std::fs::read_to_string(RECORDED)
        .ok()
        .map(|text| Record::parse(&text));
    let no_gpu = device::list_gpus().err();
    if let Some(why) = &no_gpu {
        eprintln!("skipped: no GPU ({why})");
    }
    if recorded.is_none() {
        eprintln!("skipped: no bits of a GPU are on record");
    }
    let trials = vec![
        Trial::test("each_form_has_a_name_of_its_own", || {
            names();
            Ok(())
        }),
        Trial::test("every_form_runs_on_the_emulated_device", move || {
            on_the_emulated_device(recorded.as_ref());
            Ok(())
        }),
        Trial::ignorable_test("a_gpu_gives_the_bits_on_record", || Ok(on_a_gpu()))
            .with_ignored_flag(no_gpu.is_some()),
    ];
    libtest_mimic::run(&arguments, trials).exit();
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
    let names: Vec<_> = families
        .iter()
        .flat_map(|(_, forms)| forms)
        .map(|form| &form.name)
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
    let device = EmulatedDevice::new(emulated::Settings {
        limits: limits::h200(),
        memory_limit_bytes: 1 << 24,
        instruction_fuel: 1 << 20,
    });
    let mut bench = Bench::new(device).unwrap();
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
            if let Some(theirs) = recorded.and_then(|record| record.of(form)) {
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
    for family in &families {
        for (form, bits) in family.forms.iter().zip(results(&mut bench, family)) {
            record.insert(form, &bits.unwrap());
        }
    }
    if let Some(file) = std::env::var_os("LIGHTSPEED_RECORD") {
        std::fs::write(file, record.to_text()).unwrap();
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
