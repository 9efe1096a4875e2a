//! Theoretical occupancy: how many warps a multiprocessor can hold of one kernel.

use domain::TargetLimits;
use domain::report::OccupancyLimiter;

/// Registers are handed out to a warp in steps of this many.
const REGISTER_STEP: u32 = 256;
/// The schedulers of a multiprocessor, each with its share of the registers.
const SCHEDULERS: u32 = 4;
/// Most registers a thread can have.
const MAX_REGISTERS: u32 = 255;
/// Shared memory the system keeps of every block from compute capability 8.0 on.
const RESERVED_SHARED_BYTES: u32 = 1024;

/// Resident warps over the most the multiprocessor can hold, 0 to 1, for blocks of `threads` threads
/// with `registers` each and `shared_bytes` of static and dynamic shared memory. `None` if such a
/// block cannot run at all.
#[must_use]
pub fn occupancy(
    limits: &TargetLimits,
    registers: u32,
    shared_bytes: u32,
    threads: u32,
) -> Option<f64> {
    let blocks = resident_blocks(limits, registers, shared_bytes, threads)?;
    let warps = blocks * threads.div_ceil(limits.warp_size);
    let most = limits.max_threads_per_multiprocessor / limits.warp_size;
    Some(f64::from(warps) / f64::from(most))
}

/// Blocks one multiprocessor holds at the same time; `None` if it cannot hold one.
#[must_use]
pub fn resident_blocks(
    limits: &TargetLimits,
    registers: u32,
    shared_bytes: u32,
    threads: u32,
) -> Option<u32> {
    let blocks = room(limits, registers, shared_bytes, threads)?;
    let blocks = blocks.into_iter().map(|(_, blocks)| blocks).min()?;
    (blocks > 0).then_some(blocks)
}

/// What keeps [`occupancy`] below 1, where it is and such a block can run.
#[must_use]
pub fn occupancy_limiter(
    limits: &TargetLimits,
    registers: u32,
    shared_bytes: u32,
    threads: u32,
) -> Option<OccupancyLimiter> {
    let reached = occupancy(limits, registers, shared_bytes, threads)?;
    let room = room(limits, registers, shared_bytes, threads)?;
    let (limiter, _) = room.into_iter().min_by_key(|(_, blocks)| *blocks)?;
    (reached < 1.0).then_some(limiter)
}

/// Blocks that each resource suffices for. Of equals the first is the one to work on: a kernel can do with
/// fewer registers more easily than a card can have more threads.
fn room(
    limits: &TargetLimits,
    registers: u32,
    shared_bytes: u32,
    threads: u32,
) -> Option<[(OccupancyLimiter, u32); 4]> {
    let fits = (1..=limits.max_threads_per_block).contains(&threads)
        && registers <= MAX_REGISTERS
        && shared_bytes <= limits.shared_memory_per_block_optin_bytes;
    let warps = threads.div_ceil(limits.warp_size);
    fits.then(|| {
        [
            (
                OccupancyLimiter::Registers,
                by_registers(limits, registers) / warps,
            ),
            (
                OccupancyLimiter::SharedMemory,
                by_shared(limits, shared_bytes),
            ),
            (
                OccupancyLimiter::Blocks,
                limits.max_blocks_per_multiprocessor,
            ),
            (
                OccupancyLimiter::Threads,
                limits.max_threads_per_multiprocessor / limits.warp_size / warps,
            ),
        ]
    })
}

/// Warps the registers suffice for.
fn by_registers(limits: &TargetLimits, registers: u32) -> u32 {
    let step = registers.max(1) * limits.warp_size;
    let per_warp = step.next_multiple_of(REGISTER_STEP);
    limits.registers_per_multiprocessor / SCHEDULERS / per_warp * SCHEDULERS
}

/// Blocks the shared memory suffices for.
fn by_shared(limits: &TargetLimits, shared_bytes: u32) -> u32 {
    let (reserved, step) = if limits.compute_major >= 8 {
        (RESERVED_SHARED_BYTES, 128)
    } else {
        (0, 256)
    };
    let per_block = (shared_bytes + reserved).next_multiple_of(step);
    limits
        .shared_memory_per_multiprocessor_bytes
        .checked_div(per_block)
        .unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use domain::DeviceName;

    use super::*;
    use crate::device::device;

    fn h200(registers: u32, shared_bytes: u32, threads: u32) -> Option<f64> {
        occupancy(
            &device(DeviceName::H200).limits,
            registers,
            shared_bytes,
            threads,
        )
    }

    #[test]
    fn registers_limit() {
        // 32 registers: 1024 a warp, 64 warps: full.
        assert_eq!(h200(32, 0, 256), Some(1.0));
        // 64: 2048 a warp, 32 warps of 64.
        assert_eq!(h200(64, 0, 256), Some(0.5));
        // 65: 2080, rounded to 2304 a warp; 16384 / 2304 = 7 a scheduler, 28 warps, 3 blocks of 8.
        assert_eq!(h200(65, 0, 256), Some(0.375));
        // 255: 8160, rounded to 8192: 8 warps, none left for a block of 32 warps.
        assert_eq!(h200(255, 0, 256), Some(0.125));
        assert_eq!(h200(255, 0, 1024), None);
    }

    #[test]
    fn shared_memory_limits() {
        // 100 KiB and the reserved KiB: 2 blocks of 8 warps in 228 KiB.
        assert_eq!(h200(32, 100 * 1024, 256), Some(0.25));
        // The most a block may have leaves room for one.
        assert_eq!(h200(32, 227 * 1024, 1024), Some(0.5));
        assert_eq!(h200(32, 227 * 1024 + 1, 256), None);
    }

    #[test]
    fn blocks_and_threads_limit() {
        // 32 blocks of one warp: 32 of 64.
        assert_eq!(h200(16, 0, 32), Some(0.5));
        // 33 threads take two warps: 32 blocks, 64 warps.
        assert_eq!(h200(16, 0, 33), Some(1.0));
        // 768 threads: 24 warps, 2 blocks, 48 of 64.
        assert_eq!(h200(16, 0, 768), Some(0.75));
        assert_eq!(h200(16, 0, 0), None);
        assert_eq!(h200(16, 0, 1025), None);
    }

    #[test]
    fn what_runs_out_first_is_named() {
        let limiter = |registers, shared_bytes, threads| {
            let limits = &device(DeviceName::H200).limits;
            occupancy_limiter(limits, registers, shared_bytes, threads)
        };
        assert_eq!(limiter(32, 0, 256), None);
        assert_eq!(limiter(64, 0, 256), Some(OccupancyLimiter::Registers));
        assert_eq!(
            limiter(32, 100 * 1024, 256),
            Some(OccupancyLimiter::SharedMemory)
        );
        assert_eq!(limiter(16, 0, 32), Some(OccupancyLimiter::Blocks));
        assert_eq!(limiter(16, 0, 768), Some(OccupancyLimiter::Threads));
        // 40 registers: 1280 a warp, 48 warps: 1 block of 32 warps, as 64 registers would give.
        assert_eq!(limiter(40, 0, 1024), Some(OccupancyLimiter::Registers));
        assert_eq!(limiter(255, 0, 1024), None, "cannot run at all");
    }

    #[test]
    fn other_cards_have_other_limits() {
        let of = |name, threads| occupancy(&device(name).limits, 32, 0, threads);
        // T4: 32 warps, 16 blocks. 1024 threads fill it; one-warp blocks fill half.
        assert_eq!(of(DeviceName::T4, 1024), Some(1.0));
        assert_eq!(of(DeviceName::T4, 32), Some(0.5));
        // RTX 4090: 48 warps: one block of 32 warps.
        assert_eq!(of(DeviceName::Rtx4090, 1024), Some(32.0 / 48.0));
        // T4 keeps nothing back: 32 KiB twice in 64 KiB.
        let t4 = &device(DeviceName::T4).limits;
        assert_eq!(resident_blocks(t4, 32, 32 * 1024, 64), Some(2));
    }
}
