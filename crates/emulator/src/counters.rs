//! What a launch did, in numbers that do not depend on the host.

use std::ops::{Add, AddAssign};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Totals of one launch, or of several added together.
        ///
        /// An instruction whose guard is false in every lane is issued all the same and counts as
        /// a warp instruction without thread instructions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)+
        }

        impl AddAssign for Counters {
            /// Totals of both; of extremes the greater one.
            fn add_assign(&mut self, other: Self) {
                let mut extremes = *self;
                extremes.note_warp(
                    other.longest_warp_instructions,
                    other.longest_warp_cycles,
                    other.longest_warp_waits,
                );
                $(self.$name += other.$name;)+
                self.longest_warp_instructions = extremes.longest_warp_instructions;
                self.longest_warp_cycles = extremes.longest_warp_cycles;
                self.longest_warp_waits = extremes.longest_warp_waits;
                let most = extremes.most_lanes_on_one_address;
                self.most_lanes_on_one_address = most.max(other.most_lanes_on_one_address);
                let passes = extremes.atomic_passes_per_sector;
                self.atomic_passes_per_sector = passes.max(other.atomic_passes_per_sector);
            }
        }

        impl Counters {
            /// Names and values, in the order of declaration.
            pub fn entries(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),+].into_iter()
            }
        }
    };
}

counters! {
    /// Blocks run.
    blocks,
    /// Warps run.
    warps,
    /// Instructions issued, one a warp.
    warp_instructions,
    /// Lanes active in those instructions, summed.
    thread_instructions,
    /// Instructions of the warp that issued most of them: the critical path's length.
    longest_warp_instructions,
    /// Cycles of the longest chain of results that wait for one another, of each warp, summed; without
    /// waits for global memory.
    warp_cycles,
    /// Waits for global memory in those chains, summed: loads that do not need each other wait once.
    warp_waits,
    /// Of the warp whose chain is longest: its cycles.
    longest_warp_cycles,
    /// Of that warp: its waits for global memory.
    longest_warp_waits,
    /// Loads, stores and atomics of global memory, one a warp.
    global_requests,
    /// Distinct 32-byte sectors of each global load request, summed.
    global_load_sectors,
    /// Distinct 32-byte sectors of each global store request, summed.
    global_store_sectors,
    /// Distinct 32-byte sectors of each global atomic request, summed.
    global_atomic_sectors,
    /// Bytes that loads and atomics take from DRAM if caches keep what was read once: of each
    /// allocation its size, or the bytes of all sectors read where that is less.
    first_read_bytes,
    /// The same of stores and atomics.
    first_written_bytes,
    /// Loads, stores and atomics of shared memory, one a warp.
    shared_requests,
    /// Passes over the 32 banks that those requests need; as many as requests when no two lanes
    /// want different words of one bank.
    shared_wavefronts,
    /// Loads and stores of local memory, one a warp.
    local_requests,
    /// Arrivals at block barriers, one a warp.
    barriers,
    /// Atomic operations, one a lane.
    atomics,
    /// Atomic operations that a warp's lanes must do one after another because they want the same
    /// address: of each atomic instruction the most lanes on one address, summed.
    atomic_passes,
    /// The most lanes of one atomic instruction on one address.
    most_lanes_on_one_address,
    /// Passes of global atomics that a 32-byte sector gets on average, in the allocation that gets most.
    atomic_passes_per_sector,
    /// Warp instructions that load, store or update memory of any kind.
    memory_instructions,
    /// Warp instructions that multiply matrices.
    tensor_instructions,
    /// Warp instructions that branch, call, return or exit.
    control_instructions,
    /// Warp instructions that exchange values between lanes or wait for lanes of the warp.
    exchange_instructions,
    /// Single-precision warp instructions.
    f32_instructions,
    /// Double-precision warp instructions.
    f64_instructions,
    /// f16 and bf16 warp instructions.
    f16_instructions,
    /// Warp instructions of approximate functions.
    special_instructions,
    /// Branches that the lanes of a warp left in different directions.
    divergent_branches,
    /// Single-precision operations; a fused multiply-add is two.
    flop_f32,
    /// Double-precision operations.
    flop_f64,
    /// f16 and bf16 operations outside tensor cores; a packed one is two.
    flop_f16,
    /// Operations of tensor cores on f16 and bf16; a product that is added is two.
    flop_tensor_f16,
    /// Operations of tensor cores on tf32.
    flop_tensor_tf32,
    /// Operations of tensor cores on e4m3 and e5m2.
    flop_tensor_fp8,
    /// Operations of tensor cores on integers of 1, 4 and 8 bits.
    flop_tensor_int8,
    /// Operations of tensor cores on f64.
    flop_tensor_f64,
    /// Approximate functions (`ex2`, `lg2`, `sin`, `cos`, `tanh`, `rsqrt`).
    special_functions,
}

impl Add for Counters {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// Cycles that a wait for global memory counts when two warps' chains are compared.
const WAIT_CYCLES: u64 = 500;

impl Counters {
    /// A warp has come so far.
    pub(crate) fn note_warp(&mut self, instructions: u64, cycles: u64, waits: u64) {
        self.longest_warp_instructions = self.longest_warp_instructions.max(instructions);
        // Of two that are as long, the same one whichever comes first.
        let length = |cycles: u64, waits: u64| (cycles + WAIT_CYCLES * waits, waits);
        let known = length(self.longest_warp_cycles, self.longest_warp_waits);
        if length(cycles, waits) > known {
            (self.longest_warp_cycles, self.longest_warp_waits) = (cycles, waits);
        }
    }

    /// Warp instructions of no class of their own: integer arithmetic, logic, comparisons, moves and
    /// conversions, and those whose guard is false in every lane.
    pub fn integer_instructions(&self) -> u64 {
        let counted = self.memory_instructions
            + self.control_instructions
            + self.exchange_instructions
            + self.barriers
            + self.f32_instructions
            + self.f64_instructions
            + self.f16_instructions
            + self.special_instructions
            + self.tensor_instructions;
        self.warp_instructions.saturating_sub(counted)
    }

    /// Share of the lanes that were active, from 0 to 1.
    pub fn active_lane_share(&self) -> f64 {
        if self.warp_instructions == 0 {
            return 0.0;
        }
        self.thread_instructions as f64 / (32.0 * self.warp_instructions as f64)
    }

    /// Sectors of global memory moved, 32 bytes each.
    pub fn global_sectors(&self) -> u64 {
        self.global_load_sectors + self.global_store_sectors + self.global_atomic_sectors
    }
}
