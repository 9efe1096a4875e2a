//! Bytes of no meaning, and real PTX, broken: the parser and the decoder refuse or accept, and never panic, linger
//! or take memory without measure; what they accept runs to an end or a fault. For five minutes:
//!
//!     LIGHTSPEED_FUZZ_S=300 cargo nextest run --release -p emulator --test fuzz_parser --no-capture
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod fuzz_common;

use emulator::{Launch, Limits, Memory, Module, launch};
use fuzz_common::{Dice, fuzz};

const SEEDS: [&str; 6] = [
    include_str!("fixtures/basic.ptx"),
    include_str!("fixtures/naive.ptx"),
    include_str!("fixtures/pipeline.ptx"),
    include_str!("fixtures/pointers.ptx"),
    include_str!("fixtures/tiles.ptx"),
    include_str!("fixtures/wmma.ptx"),
];
const EXTREMES: [&str; 16] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0x7fffffffffffffff",
    "1e999",
    "0fFFFFFFFF",
    "0d7FF0000000000000",
];
const WORDS: [&str; 24] = [
    ".reg",
    ".b32",
    ".pred",
    ".entry",
    ".func",
    ".global",
    ".shared",
    ".align",
    ".param",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    "<",
    ">",
    "@",
    "%p1",
    "$L__BB0_1:",
    "ld.global.v4.u64",
    "bar.sync",
    "\u{fffd}",
];

/// A short text without a parser's tokens, or one with them.
fn of_no_meaning(dice: &mut Dice) -> String {
    let length = dice.roll(400);
    if dice.one_in(2) {
        let bytes: Vec<u8> = (0..length).map(|_| dice.roll(256) as u8).collect();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let words: Vec<_> = (0..length).map(|_| dice.pick(&WORDS)).collect();
    format!(
        ".version 9.5\n.target sm_90a\n.address_size 64\n{}",
        words.join(" ")
    )
}

/// Where tokens begin and end: words, numbers, and signs by themselves.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "._%$".contains(c);
    let mut tokens: Vec<(usize, usize)> = Vec::new();
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match (is_word(c), in_word, tokens.last_mut()) {
            (true, true, Some(last)) => last.1 = end,
            _ if c.is_whitespace() => {}
            _ => tokens.push((at, end)),
        }
        in_word = is_word(c);
    }
    tokens
}

/// One of the kernels' files in part, so that a case is quick, with a few tokens changed.
fn broken(dice: &mut Dice) -> String {
    let mut text = functions(dice);
    for _ in 0..1 + dice.roll(6) {
        break_tokens(dice, &mut text);
    }
    text
}

/// The module's beginning and some of its kernels.
fn functions(dice: &mut Dice) -> String {
    let seed = dice.pick(&SEEDS);
    let starts: Vec<usize> = seed.match_indices(".visible").map(|(at, _)| at).collect();
    let mut text = seed[..starts[0]].to_owned();
    for _ in 0..1 + dice.roll(2) {
        let kernel = dice.roll(starts.len());
        let end = starts.get(kernel + 1).copied().unwrap_or(seed.len());
        text.push_str(&seed[starts[kernel]..end]);
    }
    text
}

fn break_tokens(dice: &mut Dice, text: &mut String) {
    let tokens = tokens(text);
    if tokens.is_empty() {
        return;
    }
    let (start, end) = tokens[dice.roll(tokens.len())];
    let other = tokens[dice.roll(tokens.len())];
    let other = text[other.0..other.1].to_owned();
    match dice.roll(7) {
        0 => text.replace_range(start..end, ""),
        1 => {
            let last = tokens[(dice.roll(tokens.len())).max(1) - 1]
                .1
                .clamp(end, end + 400);
            let last = (last..=text.len()).find(|&at| text.is_char_boundary(at));
            let copy = text[start..last.unwrap_or(end)].to_owned();
            text.insert_str(start, &copy);
        }
        2 => text.replace_range(start..end, &other),
        3 => text.replace_range(start..end, dice.pick(&WORDS)),
        4 => text.insert_str(start, &other),
        _ => {
            // A number where one is near.
            let numbers = tokens
                .iter()
                .filter(|token| text[token.0..token.1].starts_with(|c: char| c.is_ascii_digit()));
            let numbers: Vec<_> = numbers.collect();
            if !numbers.is_empty() {
                let &(start, end) = numbers[dice.roll(numbers.len())];
                text.replace_range(start..end, dice.pick(&EXTREMES));
            }
        }
    }
}

/// Whether a kernel was launched.
fn check(text: &str) -> bool {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(why) => {
            assert!(!why.to_string().is_empty());
            return false;
        }
    };
    let mut memory = Memory::new(1 << 24);
    let Ok(loaded) = memory.load(&module) else {
        return false;
    };
    let data = memory.allocate(1 << 16, "data").unwrap();
    let mut launched = false;
    for kernel in module.kernels() {
        if module.check(&kernel.name).is_err() || kernel.parameter_bytes > 4096 {
            continue;
        }
        // Pointers wherever there may be some; as whole numbers they are large.
        let pointer = data.to_le_bytes().into_iter().cycle();
        let parameters: Vec<u8> = pointer.take(kernel.parameter_bytes as usize).collect();
        let launched_as = Launch {
            kernel: &kernel.name,
            grid: [2, 1, 1],
            block: kernel.required_block.unwrap_or([64, 1, 1]),
            cluster: [1, 1, 1],
            dynamic_shared_bytes: 1024,
            parameters: &parameters,
        };
        let limits = Limits {
            instruction_fuel: 2000,
            ..Limits::default()
        };
        let ended = launch(&loaded, &launched_as, &mut memory, &limits);
        if let Err(fault) = ended {
            assert!(!fault.message.is_empty());
        }
        launched = true;
    }
    launched
}

#[test]
fn seeds_are_read() {
    for seed in SEEDS {
        assert!(check(seed));
    }
}

#[test]
fn bytes_of_no_meaning_are_refused() {
    let mut dice = Dice(5);
    for _ in 0..2000 {
        let text = of_no_meaning(&mut dice);
        check(&text);
    }
}

#[test]
fn broken_modules_neither_panic_nor_linger() {
    let make = |dice: &mut Dice| match dice.roll(20) {
        0 => of_no_meaning(dice),
        _ => broken(dice),
    };
    fuzz("fuzz-parser.ptx", make, |text| text, |text| check(text));
}
