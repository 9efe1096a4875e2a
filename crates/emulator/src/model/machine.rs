//! A GPU's rates, and how many blocks its multiprocessors hold.

/// A GPU's rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Streaming multiprocessors.
    pub multiprocessors: f64,
    /// Cycles a second.
    pub clock_hz: f64,
    /// Bytes a second from and to DRAM.
    pub dram_bytes_per_s: f64,
    /// Bytes a second from the host.
    pub host_bytes_per_s: f64,
    /// Bytes a second between the multiprocessors and L2.
    pub l2_bytes_per_s: f64,
    /// Of those, what one multiprocessor takes in a cycle.
    pub l2_bytes_per_cycle: f64,
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
    /// Operations a second of all tensor cores, dense, by the type of the factors.
    pub tensor_f16_per_s: f64,
    /// As above.
    pub tensor_tf32_per_s: f64,
    /// As above.
    pub tensor_fp8_per_s: f64,
    /// As above.
    pub tensor_int8_per_s: f64,
    /// As above.
    pub tensor_f64_per_s: f64,
    /// Passes over the banks of shared memory in a cycle of a multiprocessor.
    pub wavefronts_per_cycle: f64,
    /// Serialised passes of atomics in a cycle of a multiprocessor.
    pub atomic_passes_per_cycle: f64,
    /// Serialised passes of global atomics on one sector in a cycle.
    pub sector_atomics_per_cycle: f64,
    /// Cycles that a load waits for bytes that were never read before.
    pub dram_latency: f64,
    /// The same for bytes that a cache holds.
    pub cache_latency: f64,
    /// Seconds of a kernel that does nothing.
    pub launch_s: f64,
    /// Seconds between the end of a kernel and the start of the next one.
    pub gap_s: f64,
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

/// An H200 SXM. Tensor cores: NVIDIA's data sheet. Pipes and capacities: the CUDA programming guide's tables
/// for compute capability 9.0 (128 f32, 64 f64, 256 f16, 16 special and 64 integer results a cycle; 2048
/// threads, 32 blocks, 65 536 registers, 228 KiB of shared memory). DRAM and L2, a kernel that does nothing
/// and the gap behind it: what cards reached (`docs/measurement.md`: a copy of a gibibyte, a read within L2,
/// the nodes of a graph). The host is behind PCIe 5.0 x16. Latencies and rates of atomics: round figures of published micro-benchmarks of the
/// H100; that of DRAM includes a missing page of the address translation.
pub const H200: Machine = Machine {
    multiprocessors: 132.0,
    clock_hz: 1.98e9,
    dram_bytes_per_s: 4.3e12,
    host_bytes_per_s: 55e9,
    l2_bytes_per_s: 8.0e12,
    l2_bytes_per_cycle: 64.0,
    issue_per_cycle: 4.0,
    f32_per_cycle: 4.0,
    f64_per_cycle: 2.0,
    f16_per_cycle: 4.0,
    special_per_cycle: 0.5,
    integer_per_cycle: 2.0,
    memory_per_cycle: 1.0,
    tensor_f16_per_s: 989.4e12,
    tensor_tf32_per_s: 494.7e12,
    tensor_fp8_per_s: 1978.9e12,
    tensor_int8_per_s: 1978.9e12,
    tensor_f64_per_s: 66.9e12,
    wavefronts_per_cycle: 1.0,
    atomic_passes_per_cycle: 1.0,
    sector_atomics_per_cycle: 0.5,
    dram_latency: 800.0,
    cache_latency: 270.0,
    launch_s: 0.6e-6,
    gap_s: 0.2e-6,
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
}
