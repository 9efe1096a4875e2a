//! Real programs, broken at random, and bytes of no meaning: nothing panics, keeps its reader for long, takes
//! memory without measure, or loses the shape of its text. Runs for a second; for ten minutes:
//!
//!     LIGHTSPEED_FUZZ_S=600 cargo nextest run --release -p launch-plan --test fuzz --no-capture
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use std::path::{Path, PathBuf};

use common::bounds::fuzz;
use common::broken::{any_bytes, any_words, break_text};
use common::dice::Dice;
use common::seeds::SEEDS;
use common::{limits, scalar, tensor, vector_add, vector_add_arguments, with_body};
use domain::{Direction, ElementType, Signature};
use launch_plan::{Argument, Program};

/// A text that is parsed for a signature.
struct Sample {
    text: String,
    signature: Signature,
}

/// A text, broken or not, and what it is planned for.
struct Case {
    text: String,
    signature: Signature,
    size: i64,
}

fn main_samples() -> Vec<Sample> {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    let mut files = Vec::new();
    sources_below(&problems, &mut files);
    files.sort();
    let real = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap());
    let all: Vec<Sample> = real
        .chain(SEEDS.iter().map(|&text| text.to_owned()))
        .map(|text| Sample {
            signature: signature_of(&text),
            text,
        })
        .collect();
    assert!(all.len() > 60, "the packages' sources were not found");
    all
}

fn sources_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_below(&path, files);
        } else if path.extension().is_some_and(|e| e == "cu") {
            files.push(path);
        }
    }
}

/// What a file's own entry function asks for, so that its body is interpreted.
fn signature_of(text: &str) -> Signature {
    let list = text
        .split_once("solve(")
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(list, _)| list);
    let parameters = list.split(',').filter(|word| !word.trim().is_empty());
    let parameter = |text: &str| {
        let element = if text.contains("bfloat16") {
            ElementType::Bf16
        } else if text.contains("half") {
            ElementType::F16
        } else if text.contains("float") {
            ElementType::F32
        } else {
            ElementType::I32
        };
        let name = text.rsplit([' ', '*']).next().unwrap_or("x").trim();
        let direction = match text.contains("const") {
            true => Direction::In,
            false => Direction::Out,
        };
        match text.contains('*') {
            true => tensor(name, element, direction),
            false => scalar(name, element),
        }
    };
    Signature(parameters.map(parameter).collect())
}

fn arguments_for(signature: &Signature, size: i64) -> Vec<Argument> {
    let argument = |parameter: &domain::Parameter| match &parameter.kind {
        domain::ParameterKind::Tensor { .. } => Argument::Buffer {
            bytes: size.unsigned_abs() * 64,
        },
        domain::ParameterKind::Scalar { element } => match element {
            ElementType::I32 => Argument::Int(size),
            _ => Argument::Float(0.5),
        },
    };
    signature.0.iter().map(argument).collect()
}

fn case(dice: &mut Dice, samples: &[Sample], texts: &[&str]) -> Case {
    let sample = dice.roll(samples.len());
    let mut bytes = match dice.roll(20) {
        0 => any_bytes(dice, 400),
        1 => any_words(dice, 120).into_bytes(),
        2 => with_body(&any_words(dice, 40)).into_bytes(),
        _ => texts[sample].as_bytes().to_vec(),
    };
    for _ in 0..1 + dice.roll(8) {
        break_text(dice, texts, &mut bytes);
    }
    Case {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        signature: samples[sample].signature.clone(),
        size: [1, 37, 4096, 1 << 20][dice.roll(4)],
    }
}

fn shape(text: &str) -> Vec<usize> {
    text.split('\n').map(str::len).collect()
}

/// Whether it was planned. Panics where anything is not as it should be.
fn check(case: &Case) -> bool {
    let failure = match Program::parse(&case.text, &case.signature) {
        Err(failure) => failure,
        Ok(program) => {
            let submitted = case.text.strip_prefix('\u{feff}').unwrap_or(&case.text);
            let device = program.device_source();
            assert_eq!(shape(device), shape(submitted), "lines keep their lengths");
            let kept = device.bytes().zip(submitted.bytes());
            assert!(kept.into_iter().all(|(d, s)| d == s || d == b' '));
            let arguments = arguments_for(&case.signature, case.size);
            let plan = program.plan(&arguments, &limits());
            match plan {
                Ok(plan) => {
                    let warnings = program.warnings(&case.signature, &[(&arguments, &plan)]);
                    assert!(warnings.iter().all(|warning| warning.hint.is_some()));
                    return true;
                }
                Err(failure) => failure,
            }
        }
    };
    let lines = case.text.lines().count().max(1) as u32;
    assert!(!failure.diagnostics.is_empty(), "a failure says something");
    for diagnostic in &failure.diagnostics {
        assert!(!diagnostic.message.is_empty());
        assert!(
            diagnostic
                .line
                .is_none_or(|line| (1..=lines + 1).contains(&line))
        );
    }
    false
}

#[test]
fn packages_sources_are_read() {
    let samples = main_samples();
    let count = samples.len();
    let planned = samples.into_iter().filter(|sample| {
        check(&Case {
            text: sample.text.clone(),
            signature: sample.signature.clone(),
            size: 37,
        })
    });
    let planned = planned.count();
    assert!(planned > 50, "{planned} of {count}");
}

/// What the fuzzing starts from reaches the interpreter's end; and the same arguments give the same plan.
#[test]
fn seeds_have_plans() {
    for seed in SEEDS {
        let program = Program::parse(seed, &vector_add()).unwrap();
        let plan = || program.plan(&vector_add_arguments(1000), &limits());
        assert!(plan().is_ok(), "{:?}\n{seed}", plan());
        assert_eq!(plan(), plan());
    }
}

#[test]
fn broken_programs_neither_panic_nor_linger() {
    let samples = main_samples();
    let texts: Vec<&str> = samples.iter().map(|sample| sample.text.as_str()).collect();
    fuzz(
        "fuzz-case.cu",
        |dice| case(dice, &samples, &texts),
        |case| case.text.as_bytes(),
        check,
    );
}
