//! Random programs with little fuel: each ends or is at fault, alike every time and on any number of host threads,
//! under every check and order. For five minutes:
//!
//!     LIGHTSPEED_FUZZ_S=300 cargo nextest run --release -p emulator --test fuzz_execution --no-capture
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test
#![allow(clippy::result_large_err, reason = "a fault is built once")]

mod fuzz_common;

use emulator::{Checks, Fault, FaultKind, Launch, Limits, Memory, Module, Order, Outcome, launch};
use fuzz_common::programs::{INPUT_BYTES, PART_BYTES, Program, program};
use fuzz_common::{Dice, fuzz};

/// What a launch came to, and what is in memory then.
type End = (Result<Outcome, Fault>, Vec<u8>);

fn run(program: &Program, limits: &Limits) -> End {
    let module = Module::parse(&program.text).unwrap_or_else(|why| panic!("{why}"));
    let mut memory = Memory::new(1 << 24);
    let loaded = memory.load(&module).unwrap();
    let input = memory.allocate(INPUT_BYTES, "input").unwrap();
    let mut dice = Dice(77);
    let bytes: Vec<u8> = (0..INPUT_BYTES).map(|_| dice.roll(256) as u8).collect();
    memory.write(input, &bytes).unwrap();
    let output_bytes = PART_BYTES * u64::from(program.grid);
    let output = memory.allocate(output_bytes, "output").unwrap();
    let mut parameters = [input.to_le_bytes(), output.to_le_bytes()].concat();
    parameters.extend(0x1234_5678_u32.to_le_bytes());
    let launched = Launch {
        kernel: "k",
        grid: [program.grid, 1, 1],
        block: [program.block, 1, 1],
        cluster: [program.cluster, 1, 1],
        dynamic_shared_bytes: program.dynamic_shared_bytes,
        parameters: &parameters,
    };
    let ended = launch(&loaded, &launched, &mut memory, limits);
    let mut written = vec![0; output_bytes as usize];
    memory.read(output, &mut written).unwrap();
    (ended, written)
}

fn limits() -> Limits {
    Limits {
        instruction_fuel: 4000,
        ..Limits::default()
    }
}

/// Whether the program ran to its end.
fn check(program: &Program) -> bool {
    let first = run(program, &limits());
    if let Err(fault) = &first.0 {
        assert!(!fault.message.is_empty());
        // Every instruction of these programs is known.
        let is_unknown = matches!(fault.kind, FaultKind::Unsupported { .. });
        assert!(!is_unknown, "{}", fault.message);
    }
    let (seeded, checked) = (Order::Seeded(program.way as u64), Checks::FULL);
    let again = match program.way {
        0 => limits(),
        1 => Limits {
            order: seeded,
            ..limits()
        },
        2 => Limits {
            checks: checked,
            ..limits()
        },
        _ => Limits {
            threads: 3,
            ..limits()
        },
    };
    // Blocks that write anywhere may end differently in another order, but not in the same one.
    let same_as = match program.way == 0 || program.way == 3 && program.is_tidy {
        true => first.clone(),
        false if program.way == 3 => return first.0.is_ok(),
        false => run(program, &again),
    };
    assert_same(&same_as, &run(program, &again), &format!("{again:?}"));
    first.0.is_ok()
}

/// After a fault other blocks may have come further or not as far.
fn assert_same(one: &End, other: &End, how: &str) {
    assert_eq!(one.0, other.0, "{how}");
    if one.0.is_ok() {
        assert!(one.1 == other.1, "memory differs {how}");
    }
}

#[test]
fn random_programs_end_alike_every_time() {
    fuzz(
        "fuzz-execution.ptx",
        program,
        |program| &program.text,
        check,
    );
}
