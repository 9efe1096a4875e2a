//! Estimated time on a GPU, from counters: a pure function, labelled modelled wherever it is shown.
//!
//! A launch takes what a kernel that does nothing takes, and then the longer of two: the longest chain of
//! results that wait for one another, or the busiest unit from when the first data are there. Each
//! [`Term`] is a lower bound of its own kind, so the estimate says what limits a kernel, and errs where limits
//! add up instead of overlapping. What is left out: [`LEFT_OUT`].

mod machine;

pub use machine::{H200, Machine, Occupancy};

use crate::counters::Counters;

/// What the model knows nothing of, for a person.
pub const LEFT_OUT: &str = "the L1 cache and what else caches keep or lose, what the assembler makes of the PTX, \
     waits of warps for each other, mma.sync's lower share of the tensor cores, order of DRAM accesses, \
     printf, and how blocks of a cluster are placed";

/// What can limit a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// The launch itself, and the gap before it.
    Launch,
    /// Bytes from and to DRAM.
    Dram,
    /// Sectors from and to L2.
    L2,
    /// Passes over the banks of shared memory.
    Shared,
    /// Issue slots.
    Issue,
    /// The busiest pipe that is not the tensor cores.
    Pipe,
    /// The tensor cores.
    Tensor,
    /// Atomics on one address.
    Atomics,
    /// Chains of results that wait for one another: the longest warp's, and a mean one's for each further
    /// wave of blocks.
    Latency,
}

impl Term {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Launch,
        Self::Dram,
        Self::L2,
        Self::Shared,
        Self::Issue,
        Self::Pipe,
        Self::Tensor,
        Self::Atomics,
        Self::Latency,
    ];

    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Dram => "dram",
            Self::L2 => "l2",
            Self::Shared => "shared",
            Self::Issue => "issue",
            Self::Pipe => "pipe",
            Self::Tensor => "tensor",
            Self::Atomics => "atomics",
            Self::Latency => "latency",
        }
    }
}

/// A modelled time, and the terms it is made of, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// Of all.
    pub seconds: f64,
    /// Each term, in the order of [`Term::ALL`].
    terms_s: [f64; Term::ALL.len()],
}

impl Estimate {
    /// One term.
    pub fn term_s(&self, term: Term) -> f64 {
        self.terms_s[term as usize]
    }

    /// What takes longest.
    pub fn limit(&self) -> Term {
        let longest = |a: &&Term, b: &&Term| self.term_s(**a).total_cmp(&self.term_s(**b));
        Term::ALL
            .iter()
            .max_by(longest)
            .copied()
            .unwrap_or(Term::Launch)
    }
}

/// Estimates one launch. `follows`: another one came before it in the same span. None for a block that fits
/// no multiprocessor, or a launch without blocks.
pub fn estimate(
    counters: &Counters,
    occupancy: &Occupancy,
    machine: &Machine,
    follows: bool,
) -> Option<Estimate> {
    let resident = f64::from(occupancy.resident_blocks(machine));
    if resident == 0.0 || counters.blocks == 0 {
        return None;
    }
    let blocks = counters.blocks as f64;
    // A small grid leaves multiprocessors idle, and so does the last round of a larger one.
    let busy = blocks / (blocks / machine.multiprocessors).ceil();
    let at_rate = |count: u64, per_cycle: f64| count as f64 / (per_cycle * busy * machine.clock_hz);
    let pipes = [
        (counters.f32_instructions, machine.f32_per_cycle),
        (counters.f64_instructions, machine.f64_per_cycle),
        (counters.f16_instructions, machine.f16_per_cycle),
        (counters.special_instructions, machine.special_per_cycle),
        (counters.integer_instructions(), machine.integer_per_cycle),
        (counters.memory_instructions, machine.memory_per_cycle),
    ];
    let pipes = pipes.map(|(count, rate)| at_rate(count, rate));
    let atomics_s = at_rate(counters.atomic_passes, machine.atomic_passes_per_cycle);
    let on_sector_s = counters.atomic_passes_per_sector as f64
        / (machine.sector_atomics_per_cycle * machine.clock_hz);
    let first = first_latency(counters, machine);
    let further = further_latency(counters, machine);
    let chain = |cycles: f64, waits: f64| {
        cycles + first * waits.min(1.0) + further * (waits - 1.0).max(0.0)
    };
    let longest = chain(
        counters.longest_warp_cycles as f64,
        counters.longest_warp_waits as f64,
    );
    let warps = counters.warps.max(1) as f64;
    let mean = chain(
        counters.warp_cycles as f64 / warps,
        counters.warp_waits as f64 / warps,
    );
    let waves = (blocks / (resident * machine.multiprocessors)).ceil();

    let mut terms_s = [0.0; Term::ALL.len()];
    let mut set = |term: Term, seconds: f64| terms_s[term as usize] = seconds;
    let gap_s = if follows { machine.gap_s } else { 0.0 };
    set(Term::Launch, machine.launch_s + gap_s);
    set(Term::Dram, dram_s(counters, machine));
    set(Term::L2, l2_s(counters, machine, busy));
    let rate = machine.wavefronts_per_cycle;
    set(Term::Shared, at_rate(counters.shared_wavefronts, rate));
    let rate = machine.issue_per_cycle;
    set(Term::Issue, at_rate(counters.warp_instructions, rate));
    set(Term::Pipe, pipes.into_iter().fold(0.0, f64::max));
    set(Term::Tensor, tensor_s(counters, machine, busy));
    set(Term::Atomics, atomics_s.max(on_sector_s));
    let latency_s = (longest + mean * (waves - 1.0)) / machine.clock_hz;
    set(Term::Latency, latency_s);

    let units = [
        Term::Dram,
        Term::L2,
        Term::Shared,
        Term::Issue,
        Term::Pipe,
        Term::Tensor,
        Term::Atomics,
    ];
    let busiest_s = units.map(|term| terms_s[term as usize]);
    let busiest_s = busiest_s.into_iter().fold(0.0, f64::max);
    // No unit has anything to do before the first data are there.
    let first_s = first * counters.longest_warp_waits.min(1) as f64 / machine.clock_hz;
    let seconds = terms_s[Term::Launch as usize] + latency_s.max(first_s + busiest_s);
    Some(Estimate { seconds, terms_s })
}

/// Estimates a fill or a copy of device memory by the host, which reads and writes so many bytes.
pub fn estimate_transfer(bytes: u64, machine: &Machine, follows: bool) -> Estimate {
    let mut terms_s = [0.0; Term::ALL.len()];
    let gap_s = if follows { machine.gap_s } else { 0.0 };
    let latency_s = machine.dram_latency / machine.clock_hz;
    terms_s[Term::Launch as usize] = machine.launch_s + gap_s;
    terms_s[Term::Latency as usize] = latency_s;
    terms_s[Term::Dram as usize] = bytes as f64 / machine.dram_bytes_per_s;
    Estimate {
        seconds: terms_s.iter().sum(),
        terms_s,
    }
}

/// The same of a copy from the host.
pub fn estimate_upload(bytes: u64, machine: &Machine, follows: bool) -> Estimate {
    let mut found = estimate_transfer(bytes, machine, follows);
    let host_s = bytes as f64 / machine.host_bytes_per_s;
    let dram = Term::Dram as usize;
    found.seconds += host_s - found.terms_s[dram];
    found.terms_s[dram] = host_s;
    found
}

/// Each byte once each way: everything else hits L2.
fn dram_s(counters: &Counters, machine: &Machine) -> f64 {
    let bytes = counters.first_read_bytes + counters.first_written_bytes;
    bytes as f64 / machine.dram_bytes_per_s
}

fn l2_s(counters: &Counters, machine: &Machine, busy: f64) -> f64 {
    let bytes = (32 * counters.global_sectors()) as f64;
    let of_all = machine.l2_bytes_per_s;
    let of_busy = machine.l2_bytes_per_cycle * busy * machine.clock_hz;
    bytes / of_all.min(of_busy)
}

/// The types take turns on the same cores.
fn tensor_s(counters: &Counters, machine: &Machine, busy: f64) -> f64 {
    let types = [
        (counters.flop_tensor_f16, machine.tensor_f16_per_s),
        (counters.flop_tensor_tf32, machine.tensor_tf32_per_s),
        (counters.flop_tensor_fp8, machine.tensor_fp8_per_s),
        (counters.flop_tensor_int8, machine.tensor_int8_per_s),
        (counters.flop_tensor_f64, machine.tensor_f64_per_s),
    ];
    let share = busy / machine.multiprocessors;
    types
        .map(|(flop, rate)| flop as f64 / (rate * share))
        .iter()
        .sum()
}

/// Cycles of a warp's first load: what it wants was never read, if the launch reads anything for the first
/// time.
fn first_latency(counters: &Counters, machine: &Machine) -> f64 {
    match counters.first_read_bytes {
        0 => machine.cache_latency,
        _ => machine.dram_latency,
    }
}

/// Cycles of its further loads on average: as many come from DRAM as bytes are read for the first time.
fn further_latency(counters: &Counters, machine: &Machine) -> f64 {
    let bytes = 32 * (counters.global_load_sectors + counters.global_atomic_sectors);
    let first = counters.first_read_bytes as f64 / bytes.max(1) as f64;
    let first = first.min(1.0);
    first * machine.dram_latency + (1.0 - first) * machine.cache_latency
}

#[cfg(test)]
mod tests;
