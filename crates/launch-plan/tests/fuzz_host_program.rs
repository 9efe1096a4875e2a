//! Host programs as bytes that somebody else wrote, and device values that somebody else chose: reading and
//! running either ends, within its measure. Runs for a second; for fifteen minutes:
//!
//!     LIGHTSPEED_FUZZ_S=900 cargo nextest run --release -p launch-plan --test fuzz_host_program --no-capture
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::anything::Anything;
use common::bounds::fuzz;
use common::broken::{any_bytes, break_bytes};
use common::dice::Dice;
use common::seeds::SEEDS;
use common::{limits, parse, vector_add_arguments};
use launch_plan::{HostProgram, NoFacts};

struct Case {
    program: Vec<u8>,
    device: Vec<u8>,
    size: i64,
}

fn programs() -> Vec<Vec<u8>> {
    let encoded = |seed: &&str| parse(seed).unwrap().host().to_bytes().unwrap();
    SEEDS.iter().map(encoded).collect()
}

fn case(dice: &mut Dice, programs: &[Vec<u8>]) -> Case {
    let mut program = match dice.roll(20) {
        0 => any_bytes(dice, 600),
        _ => programs[dice.roll(programs.len())].clone(),
    };
    for _ in 0..dice.roll(6) {
        match dice.roll(3) {
            0 => swap_items(dice, &mut program),
            1 => longest_number(dice, &mut program),
            _ => break_bytes(dice, programs, &mut program),
        }
    }
    let mut device = any_bytes(dice, 24);
    device.push(dice.byte());
    Case {
        program,
        device,
        size: [0, 1, 1000, 1 << 30][dice.roll(4)],
    }
}

/// Puts one name or value of a program into the place of another, so that the whole stays CBOR.
fn swap_items(dice: &mut Dice, program: &mut Vec<u8>) {
    let items = texts(program);
    if items.is_empty() {
        return;
    }
    let (from, to) = (
        &items[dice.roll(items.len())],
        &items[dice.roll(items.len())],
    );
    let piece = program[from.clone()].to_vec();
    program.splice(to.clone(), piece);
}

/// Short texts with their heads, as CBOR has them: names of variants and fields, mostly.
fn texts(program: &[u8]) -> Vec<std::ops::Range<usize>> {
    let item = |at: usize| {
        let length = usize::from(program[at]).checked_sub(0x60)?;
        let end = at + 1 + length;
        let body = program.get(at + 1..end)?;
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        ((1..24).contains(&length) && body.iter().all(is_name)).then_some(at..end)
    };
    (0..program.len()).filter_map(item).collect()
}

/// A small number becomes one of 64 bits.
fn longest_number(dice: &mut Dice, program: &mut Vec<u8>) {
    let small = |at: &usize| program[*at] < 0x18;
    let numbers: Vec<usize> = (0..program.len()).filter(small).collect();
    if numbers.is_empty() {
        return;
    }
    let at = numbers[dice.roll(numbers.len())];
    let long = [
        [0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0x1b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0x1b, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff],
        [0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0x1b, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00],
    ];
    program.splice(at..=at, long[dice.roll(long.len())]);
}

/// Whether there was a program to run.
fn check(case: &Case) -> bool {
    let Ok(program) = HostProgram::from_bytes(&case.program) else {
        return false;
    };
    let _ended = program.run(
        &vector_add_arguments(case.size),
        &limits(),
        &NoFacts,
        &mut Anything(case.device.clone()),
    );
    true
}

#[test]
fn programs_of_anybody_end() {
    let programs = programs();
    fuzz(
        "fuzz-program.cbor",
        |dice| case(dice, &programs),
        |case| &case.program,
        check,
    );
}
