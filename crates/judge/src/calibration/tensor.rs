//! Products on the tensor cores: by `wgmma` on Hopper, whose peak no other instruction reaches, by
//! `mma.sync` elsewhere.

use device::{DeviceError, LaunchSpec};
use domain::TargetLimits;
use scoring::Pipe;

use super::figure::{Figure, Finding, Reading};
use super::memory::sustained;
use super::rates::{mma_flop, wgmma_flop};
use crate::compile::wire::KernelSet;
use crate::measuring::rig::{Rig, word};

const THREADS: u32 = 256;
const WARPS: u64 = 8;
/// Blocks of `mma.cu` on a multiprocessor.
const MMA_BLOCKS_EACH: u32 = 2;
/// Operands of `wgmma.cu`: four tiles, with what alignment may take.
const WGMMA_SHARED_BYTES: u32 = 4 * (2 * 64 + 256) * 128 + 1024;

/// How products of one type are made on an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    /// Where the kernel is.
    pub set: KernelSet,
    /// Rows, columns and depth of one instruction's product.
    shape: [u64; 3],
}

/// How an architecture makes products of a type; `None` where it does not.
pub(crate) fn product(pipe: Pipe, limits: &TargetLimits) -> Option<Product> {
    let capability = limits.compute_major * 10 + limits.compute_minor;
    let wgmma = |k| (KernelSet::Wgmma, [64, 256, k]);
    let mma = |m, n, k| (KernelSet::Mma, [m, n, k]);
    let (set, shape) = match (pipe, capability) {
        (Pipe::Fp32 | Pipe::Fp64, _) | (_, ..75) => return None,
        (Pipe::Bf16 | Pipe::Fp16 | Pipe::Fp16Acc16, 90) => wgmma(16),
        (Pipe::Tf32, 90) => wgmma(8),
        (Pipe::Fp8 | Pipe::Int8, 90) => wgmma(32),
        (Pipe::Fp64Tensor, 90..) => mma(16, 8, 16),
        (Pipe::Fp64Tensor, 80..) => mma(8, 8, 4),
        (Pipe::Bf16 | Pipe::Fp16 | Pipe::Fp16Acc16, 80..) => mma(16, 8, 16),
        (Pipe::Tf32, 80..) => mma(16, 8, 8),
        (Pipe::Int8, 80..) | (Pipe::Fp8, 89..) => mma(16, 8, 32),
        (Pipe::Fp16 | Pipe::Fp16Acc16, _) => mma(16, 8, 8),
        (Pipe::Int8, _) => mma(8, 8, 16),
        (Pipe::Bf16 | Pipe::Tf32 | Pipe::Fp8 | Pipe::Fp64Tensor, _) => return None,
    };
    Some(Product { set, shape })
}

/// The rate of one type.
pub(crate) fn measure(rig: &mut Rig, pipe: Pipe) -> Finding {
    Finding {
        figure: Figure::Rate(pipe),
        reading: rate(rig, pipe).map_err(|e| e.to_string()),
    }
}

fn rate(rig: &mut Rig, pipe: Pipe) -> Result<Reading, DeviceError> {
    let lacking = || DeviceError::Unsupported {
        opcode: format!("products of {pipe}"),
        line: None,
    };
    let product = product(pipe, rig.device.limits()).ok_or_else(lacking)?;
    let blocks = blocks(product, rig.device.limits());
    let spec = |rig: &Rig, passes| spec(rig, pipe, product, passes, blocks);
    let [m, n, k] = product.shape;
    let (by, each) = match product.set {
        KernelSet::Wgmma => ("wgmma", u64::from(blocks)),
        _ => ("mma.sync", u64::from(blocks) * WARPS),
    };
    let way = format!("{by} m{m}n{n}k{k}, {blocks} blocks");
    sustained(rig, &way, spec, |passes| match product.set {
        KernelSet::Wgmma => wgmma_flop(k, each, passes),
        _ => mma_flop(product.shape, each, passes),
    })
}

fn blocks(product: Product, limits: &TargetLimits) -> u32 {
    match product.set {
        KernelSet::Wgmma => limits.multiprocessors,
        _ => limits.multiprocessors * MMA_BLOCKS_EACH,
    }
}

fn spec(
    rig: &Rig,
    pipe: Pipe,
    product: Product,
    passes: u32,
    blocks: u32,
) -> Result<LaunchSpec, DeviceError> {
    let dynamic_shared_bytes = match product.set {
        KernelSet::Wgmma => WGMMA_SHARED_BYTES,
        _ => 0,
    };
    let arguments = vec![word(passes), rig.sink()];
    let grid = [blocks, THREADS];
    Ok(LaunchSpec {
        dynamic_shared_bytes,
        ..rig.spec(product.set, &kernel(pipe, product), grid, arguments)?
    })
}

/// The kernel that measures a type.
pub(super) fn kernel(pipe: Pipe, product: Product) -> String {
    match product.set {
        KernelSet::Wgmma => format!("calibration_wgmma_{pipe}"),
        _ => format!("calibration_mma_{pipe}"),
    }
}
