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
            /// Totals of both; the longest warp is the longer one.
            fn add_assign(&mut self, other: Self) {
                let longest = self.longest_warp_instructions.max(other.longest_warp_instructions);
                $(self.$name += other.$name;)+
                self.longest_warp_instructions = longest;
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
    /// Loads, stores and atomics of global memory, one a warp.
    global_requests,
    /// Distinct 32-byte sectors of each global load request, summed.
    global_load_sectors,
    /// Distinct 32-byte sectors of each global store request, summed.
    global_store_sectors,
    /// Distinct 32-byte sectors of each global atomic request, summed.
    global_atomic_sectors,
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

impl Counters {
    /// Sectors of global memory moved, 32 bytes each.
    pub fn global_sectors(&self) -> u64 {
        self.global_load_sectors + self.global_store_sectors + self.global_atomic_sectors
    }
}
