//! What both fuzz targets have in common: chance that falls alike every time, and what a case may take.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, reason = "each target uses its part")]

pub mod calls;
pub mod instructions;
pub mod programs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// What one case may take. Most take milliseconds; the rest is for machines that are busy with other things.
const CASE: Duration = Duration::from_secs(30);
/// Address space that all cases together may ever hold, beside what the process began with.
const MEMORY_BYTES: u64 = 1 << 30;

/// xorshift64*: the same rolls of the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        (self.word() >> 33) as usize % sides
    }

    pub fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.roll(choices.len())]
    }
}

/// Runs cases for two seconds, or for as many as `LIGHTSPEED_FUZZ_S` says, from `LIGHTSPEED_FUZZ_SEED`.
///
/// `check` panics where anything is not as it should be, and says whether the case was worth something. The
/// text of a case that fails, or takes the whole process down, is left in the file that is named.
pub fn fuzz<T>(
    name: &str,
    mut make: impl FnMut(&mut Dice) -> T,
    text: impl Fn(&T) -> &str,
    check: impl Fn(&T) -> bool,
) {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = variable("LIGHTSPEED_FUZZ_S").unwrap_or(2);
    let seed: u64 = variable("LIGHTSPEED_FUZZ_SEED").unwrap_or(20_261_201);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (start, began_with) = (Instant::now(), address_space());
    let (mut cases, mut worth, mut longest) = (0_u64, 0_u64, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        // Each case has dice of its own, so that one can be thrown again alone.
        let case_seed = seed.wrapping_add(cases).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let input = make(&mut Dice(case_seed.max(1)));
        std::fs::write(&file, text(&input)).unwrap();
        let begun = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| check(&input)));
        let took = begun.elapsed();
        let held = address_space().saturating_sub(began_with);
        if ended.is_err() || took > CASE || held > MEMORY_BYTES {
            panic!("case {cases} of seed {seed}, {took:?}, {held} bytes: {file:?}");
        }
        cases += 1;
        worth += u64::from(ended.is_ok_and(|worth| worth));
        longest = longest.max(took);
    }
    std::fs::remove_file(&file).unwrap();
    let held = address_space().saturating_sub(began_with) >> 20;
    println!(
        "{name}: {cases} cases of seed {seed} in {seconds} s, {worth} went through, the longest {longest:?}, {held} MiB"
    );
    assert!(worth * 50 >= cases, "hardly any case is worth something");
}

/// The most that the process has ever had, in bytes; 0 where the system does not say.
fn address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}
