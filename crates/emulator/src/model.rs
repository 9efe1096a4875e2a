//! Estimated time on a GPU, from counters: a pure function, labelled modelled wherever it is shown.
//!
//! `overhead + max(throughput terms, critical path)`. Every term is a lower bound of its own kind, so
//! the estimate says what limits a kernel, and errs where limits add up instead of overlapping.
//! [`Estimate`] holds each term. What is left out: the L1 cache (every sector goes to L2), hits of L2
//! that another launch prepared, the order of DRAM pages, instruction caches, register-bank and
//! dual-issue rules, tail effects within a wave, and the compiler between PTX and the machine's code.

use crate::counters::Counters;

/// A GPU's rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Streaming multiprocessors.
    pub multiprocessors: f64,
    /// Cycles a second.
    pub clock_hz: f64,
    /// Bytes a second from and to DRAM.
    pub dram_bytes_per_s: f64,
    /// Bytes a second between the multiprocessors and L2.
    pub l2_bytes_per_s: f64,
    /// Warp instructions that a multiprocessor issues in a cycle.
    pub issue_per_cycle: f64,
    /// Warp instructions of each pipe in a cycle of a multiprocessor.
    pub f32_per_cycle: f64,
    /// As above.
    pub f64_per_cycle: f64,
    /// As above; a packed pair counts once.
    pub f16_per_cycle: f64,
    /// As above, approximate functions.
    pub special_per_cycle: f64,
    /// As above, integer arithmetic.
    pub integer_per_cycle: f64,
    /// As above, loads, stores and atomics of any memory.
    pub memory_per_cycle: f64,
    /// Passes over the banks of shared memory in a cycle of a multiprocessor.
    pub wavefronts_per_cycle: f64,
    /// Serialised passes of atomics in a cycle of a multiprocessor.
    pub atomic_passes_per_cycle: f64,
    /// Cycles from an arithmetic instruction to one that needs its result.
    pub arithmetic_latency: f64,
    /// The same for a load of shared memory, an exchange or an approximate function.
    pub shared_latency: f64,
    /// The same for a request of global memory, of which a warp has this many cycles' worth exposed.
    pub global_latency: f64,
    /// Cycles of a barrier.
    pub barrier_latency: f64,
    /// Seconds of a launch that does nothing.
    pub launch_s: f64,
    /// Threads, blocks, registers and shared memory that a multiprocessor holds.
    pub threads: u32,
    /// As above.
    pub blocks: u32,
    /// As above.
    pub registers: u32,
    /// As above.
    pub shared_bytes: u32,
    /// Shared memory that the system keeps for itself, a block.
    pub reserved_shared_bytes: u32,
}

/// An H200 SXM. Peaks and capacities: NVIDIA's data sheet (4.8 TB/s) and the CUDA programming guide's
/// tables for compute capability 9.0 (128 f32, 64 f64, 256 f16, 16 special and 64 integer results a
/// cycle; 2048 threads, 32 blocks, 65 536 registers, 228 KiB of shared memory). L2 bandwidth, latencies
/// and the launch are round figures of published micro-benchmarks of the H100, not measured here.
pub const H200: Machine = Machine {
    multiprocessors: 132.0,
    clock_hz: 1.98e9,
    dram_bytes_per_s: 4.8e12,
    l2_bytes_per_s: 5.5e12,
    issue_per_cycle: 4.0,
    f32_per_cycle: 4.0,
    f64_per_cycle: 2.0,
    f16_per_cycle: 4.0,
    special_per_cycle: 0.5,
    integer_per_cycle: 2.0,
    memory_per_cycle: 1.0,
    wavefronts_per_cycle: 1.0,
    atomic_passes_per_cycle: 1.0,
    arithmetic_latency: 4.0,
    shared_latency: 24.0,
    global_latency: 400.0,
    barrier_latency: 30.0,
    launch_s: 2e-6,
    threads: 2048,
    blocks: 32,
    registers: 65_536,
    shared_bytes: 228 * 1024,
    reserved_shared_bytes: 1024,
};

/// What decides how many blocks of a launch a multiprocessor holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Threads of a block.
    pub block_threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Static and dynamic shared memory of a block.
    pub shared_bytes: u32,
}

impl Occupancy {
    /// Blocks on one multiprocessor at a time; 0 if not even one fits.
    pub fn resident_blocks(&self, machine: &Machine) -> u32 {
        let warps = self.block_threads.div_ceil(32).max(1);
        // Registers are given to a warp in units of 256.
        let warp_registers = (32 * self.registers.max(1)).next_multiple_of(256);
        let block_shared = self.shared_bytes + machine.reserved_shared_bytes;
        (machine.threads / (32 * warps))
            .min(machine.registers / warp_registers / warps)
            .min(machine.shared_bytes / block_shared)
            .min(machine.blocks)
    }
}

/// A modelled time, and the terms it is made of, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The launch, then the largest of the terms.
    pub seconds: f64,
    /// Bytes from and to DRAM.
    pub dram_s: f64,
    /// Sectors from and to L2.
    pub l2_s: f64,
    /// Passes over the banks of shared memory.
    pub shared_s: f64,
    /// Issue slots.
    pub issue_s: f64,
    /// The busiest pipe.
    pub pipe_s: f64,
    /// Atomics on one address.
    pub atomics_s: f64,
    /// The longest warp, once for each wave of blocks.
    pub critical_path_s: f64,
}

/// Estimates one launch. `distinct_bytes`: distinct bytes read plus distinct bytes written, from
/// [`crate::Outcome::footprints`]; each then moves once between DRAM and L2, and everything else hits
/// L2. Without it every sector is taken to come from DRAM. None for a block that fits no
/// multiprocessor, or a launch without blocks.
pub fn estimate(
    counters: &Counters,
    distinct_bytes: Option<u64>,
    occupancy: &Occupancy,
    machine: &Machine,
) -> Option<Estimate> {
    let resident = f64::from(occupancy.resident_blocks(machine));
    if resident == 0.0 || counters.blocks == 0 {
        return None;
    }
    // A small grid leaves multiprocessors idle.
    let busy = machine.multiprocessors.min(counters.blocks as f64);
    let at_rate = |count: u64, per_cycle: f64| count as f64 / (per_cycle * busy * machine.clock_hz);
    let sector_bytes = 32 * counters.global_sectors();
    let dram_s = distinct_bytes.unwrap_or(sector_bytes) as f64 / machine.dram_bytes_per_s;
    let l2_s = sector_bytes as f64 / machine.l2_bytes_per_s;
    let shared_s = at_rate(counters.shared_wavefronts, machine.wavefronts_per_cycle);
    let issue_s = at_rate(counters.warp_instructions, machine.issue_per_cycle);
    let pipe_s = [
        (counters.f32_instructions, machine.f32_per_cycle),
        (counters.f64_instructions, machine.f64_per_cycle),
        (counters.f16_instructions, machine.f16_per_cycle),
        (counters.special_instructions, machine.special_per_cycle),
        (counters.integer_instructions(), machine.integer_per_cycle),
        (counters.memory_instructions, machine.memory_per_cycle),
    ]
    .map(|(count, rate)| at_rate(count, rate))
    .into_iter()
    .fold(0.0, f64::max);
    let atomics_s = at_rate(counters.atomic_passes, machine.atomic_passes_per_cycle);
    let waves = (counters.blocks as f64 / (resident * machine.multiprocessors)).ceil();
    let cycles = counters.longest_warp_instructions as f64 * mean_latency(counters, machine);
    let critical_path_s = waves * cycles / machine.clock_hz;
    let terms = [
        dram_s,
        l2_s,
        shared_s,
        issue_s,
        pipe_s,
        atomics_s,
        critical_path_s,
    ];
    Some(Estimate {
        seconds: machine.launch_s + terms.into_iter().fold(0.0, f64::max),
        dram_s,
        l2_s,
        shared_s,
        issue_s,
        pipe_s,
        atomics_s,
        critical_path_s,
    })
}

/// Cycles that an instruction of the launch keeps the next one of its warp waiting, on average: as if
/// each needed the one before it.
fn mean_latency(counters: &Counters, machine: &Machine) -> f64 {
    let slow =
        counters.shared_requests + counters.exchange_instructions + counters.special_instructions;
    let slower = counters.global_requests;
    let classed = slow + slower + counters.barriers;
    let rest = counters.warp_instructions.saturating_sub(classed);
    let cycles = rest as f64 * machine.arithmetic_latency
        + slow as f64 * machine.shared_latency
        + slower as f64 * machine.global_latency
        + counters.barriers as f64 * machine.barrier_latency;
    cycles / counters.warp_instructions.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occupancy(block_threads: u32, registers: u32, shared_bytes: u32) -> u32 {
        let asked = Occupancy {
            block_threads,
            registers,
            shared_bytes,
        };
        asked.resident_blocks(&H200)
    }

    /// As the vendor's occupancy calculator gives them for compute capability 9.0.
    #[test]
    fn resident_blocks() {
        assert_eq!(occupancy(256, 32, 0), 8);
        assert_eq!(occupancy(1024, 32, 0), 2);
        assert_eq!(occupancy(1024, 64, 0), 1);
        assert_eq!(occupancy(256, 255, 0), 1);
        assert_eq!(occupancy(32, 16, 0), 32);
        assert_eq!(occupancy(128, 32, 48 * 1024), 4);
        assert_eq!(occupancy(1024, 255, 0), 0);
    }

    /// 264 blocks of 256 threads fill the device once.
    #[test]
    fn terms_by_hand() {
        let counters = Counters {
            blocks: 264,
            warps: 2112,
            warp_instructions: 2112 * 1000,
            longest_warp_instructions: 1000,
            global_requests: 2112 * 10,
            global_load_sectors: 2112 * 40,
            shared_requests: 2112 * 20,
            shared_wavefronts: 2112 * 640,
            memory_instructions: 2112 * 30,
            f32_instructions: 2112 * 500,
            special_instructions: 2112 * 100,
            barriers: 2112 * 5,
            ..Counters::default()
        };
        let asked = Occupancy {
            block_threads: 256,
            registers: 32,
            shared_bytes: 0,
        };
        let found = estimate(&counters, Some(48_000), &asked, &H200).unwrap();
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} and {b}");
        close(found.dram_s, 1e-8);
        close(found.l2_s, 2112.0 * 40.0 * 32.0 / 5.5e12);
        // 16 warps on each multiprocessor.
        close(found.issue_s, 16.0 * 1000.0 / 4.0 / 1.98e9);
        close(found.shared_s, 16.0 * 640.0 / 1.98e9);
        // 100 approximate functions at half an instruction a cycle: more than 365 others at 2.
        close(found.pipe_s, 16.0 * 100.0 / 0.5 / 1.98e9);
        // 10 requests of 400, 120 of 24, 5 barriers of 30, the rest of 4.
        let cycles = 10.0 * 400.0 + 120.0 * 24.0 + 5.0 * 30.0 + 865.0 * 4.0;
        close(found.critical_path_s, cycles / 1.98e9);
        close(found.seconds, 2e-6 + found.critical_path_s);
    }

    #[test]
    fn a_block_that_fits_nowhere_has_no_time() {
        let asked = Occupancy {
            block_threads: 1024,
            registers: 255,
            shared_bytes: 0,
        };
        let counters = Counters {
            blocks: 1,
            ..Counters::default()
        };
        assert_eq!(estimate(&counters, None, &asked, &H200), None);
    }
}
