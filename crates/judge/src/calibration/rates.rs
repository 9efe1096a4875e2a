//! From counts and times to rates. Pure.

/// Steps of a vector kernel's pass and chains that take each step.
const VECTOR_STEPS: u64 = 16 * 8;
/// Products of a warp in one pass of `mma.cu`: four steps of two by four fragments.
const MMA_PRODUCTS: u64 = 4 * 2 * 4;
/// Instructions of a warpgroup in one pass of `wgmma.cu`, and warpgroups of a block.
const WGMMA_PRODUCTS: u64 = 16;
const WARPGROUPS: u64 = 2;
/// Rows and columns of one of its products.
const WGMMA_SHAPE: (u64, u64) = (64, 256);

/// Bytes that a copy of `bytes` moves: each is read and written.
pub(super) fn copy_bytes(bytes: u64) -> u64 {
    bytes * 2
}

/// Bytes that all threads read from shared memory: four vectors of 16 a pass.
pub(super) fn shared_bytes(threads: u64, passes: u32) -> u64 {
    threads * u64::from(passes) * 4 * 16
}

/// FLOP of all threads of a vector kernel; a multiply-add counts two.
pub(super) fn vector_flop(threads: u64, passes: u32) -> u64 {
    threads * u64::from(passes) * VECTOR_STEPS * 2
}

/// FLOP of all warps of a kernel of `mma.cu` with products of m x n x k.
pub(super) fn mma_flop([m, n, k]: [u64; 3], warps: u64, passes: u32) -> u64 {
    warps * u64::from(passes) * MMA_PRODUCTS * m * n * k * 2
}

/// FLOP of all blocks of a kernel of `wgmma.cu` with products of 64 x 256 x k.
pub(super) fn wgmma_flop(k: u64, blocks: u64, passes: u32) -> u64 {
    let (m, n) = WGMMA_SHAPE;
    blocks * WARPGROUPS * u64::from(passes) * WGMMA_PRODUCTS * m * n * k * 2
}

/// Passes that take about `target_s`, after `passes` took `t_s`.
pub(super) fn scaled_passes(passes: u32, t_s: f64, target_s: f64) -> u32 {
    let wanted = f64::from(passes) * target_s / t_s.max(1e-9);
    // A float beyond the range becomes the range's end.
    (wanted.round() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_kernels() {
        assert_eq!(copy_bytes(1 << 30), 2 << 30);
        assert_eq!(shared_bytes(256, 10), 256 * 10 * 64);
        // 8 chains of 16 multiply-adds.
        assert_eq!(vector_flop(1, 1), 256);
        // m16n8k16: 4096 FLOP, 32 of them a pass.
        assert_eq!(mma_flop([16, 8, 16], 1, 1), 32 * 4096);
        // m64n256k16: 524288 FLOP, 16 of them a pass in each of two warpgroups.
        assert_eq!(wgmma_flop(16, 1, 1), 2 * 16 * 524_288);
        // 132 multiprocessors at 4096 FLOP a clock: one pass takes 4096 clocks.
        assert_eq!(wgmma_flop(16, 132, 1) / (132 * 4096), 4096);
    }

    #[test]
    fn passes_scale_to_the_time_wanted() {
        assert_eq!(scaled_passes(100, 1e-4, 2e-3), 2000);
        assert_eq!(scaled_passes(100, 1.0, 2e-3), 1);
        assert_eq!(scaled_passes(4_000_000_000, 1e-6, 1.0), u32::MAX);
    }
}
