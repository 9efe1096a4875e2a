//! What a case of a fuzzing may take: time, memory, stack. What goes over is found with its input.

#![allow(clippy::unwrap_used)] // a step that fails fails the test

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::dice::Dice;

/// What one case may take. An honest one takes milliseconds; the rest is for a machine whose cores are busy
/// with other things.
const CASE: Duration = Duration::from_secs(30);
/// Address space that all cases together may ever hold, beside what the process began with. The judge's
/// children have 4 GiB.
pub const MEMORY_BYTES: u64 = 1 << 30;

/// Runs cases for a second, or for as many as `LIGHTSPEED_FUZZ_S` says, from `LIGHTSPEED_FUZZ_SEED`.
///
/// `make` rolls an input and says what its file is called; `check` panics where anything is not as it should
/// be, and says whether the input was worth something. An input that takes the whole process down, by its
/// stack or its memory, is left in the same file.
pub fn fuzz<T>(
    name: &str,
    mut make: impl FnMut(&mut Dice) -> T,
    bytes: impl Fn(&T) -> &[u8],
    check: impl Fn(&T) -> bool,
) {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = variable("LIGHTSPEED_FUZZ_S").unwrap_or(1);
    let seed: u64 = variable("LIGHTSPEED_FUZZ_SEED").unwrap_or(20_261_130);
    let mut dice = Dice(seed.max(1));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let start = Instant::now();
    let began_with = address_space();
    let (mut cases, mut worth, mut longest) = (0_u64, 0_u64, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let input = make(&mut dice);
        std::fs::write(&file, bytes(&input)).unwrap();
        let begun = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| check(&input)));
        let took = begun.elapsed();
        let held = address_space().saturating_sub(began_with);
        if ended.is_err() || took > CASE || held > MEMORY_BYTES {
            let file = found(&file);
            panic!("case {cases} of seed {seed}, {took:?}, {held} bytes: {file:?}");
        }
        cases += 1;
        worth += u64::from(ended.is_ok_and(|worth| worth));
        longest = longest.max(took);
    }
    std::fs::remove_file(&file).unwrap();
    let held = address_space().saturating_sub(began_with) >> 20;
    println!(
        "{name}: {cases} cases of seed {seed} in {seconds} s, {worth} went through, the longest {longest:?}, \
         {held} MiB"
    );
}

/// Keeps the input from being written over by the next run.
fn found(file: &Path) -> PathBuf {
    let kept = file.with_file_name(format!(
        "found-{}",
        file.file_name().unwrap().to_str().unwrap()
    ));
    std::fs::copy(file, &kept).unwrap();
    kept
}

/// The most that the process has ever had, in bytes; 0 where the system does not say.
pub fn address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}
