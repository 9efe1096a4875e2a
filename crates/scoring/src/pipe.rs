//! The execution pipes that floating-point (and int8) work is priced on, and the work itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A kind of arithmetic with a peak rate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pipe {
    /// FP32 on the vector units; also half-precision work that does not use tensor cores.
    Fp32,
    /// TF32 products on the tensor cores.
    Tf32,
    /// BF16 products, FP32 accumulation.
    Bf16,
    /// FP16 products, FP32 accumulation.
    Fp16,
    /// FP16 products, FP16 accumulation.
    Fp16Acc16,
    /// FP8 products.
    Fp8,
    /// INT8 products.
    Int8,
    /// FP64 on the vector units.
    Fp64,
    /// FP64 on the tensor cores.
    Fp64Tensor,
}

/// Hardware that works in parallel with the other units; pipes of one unit take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// FP32 lanes.
    VectorFp32,
    /// FP64 lanes.
    VectorFp64,
    /// Tensor cores, whatever the type.
    Tensor,
}

impl Pipe {
    /// Every pipe, in the order of the documents.
    pub const ALL: [Self; 9] = [
        Self::Fp32,
        Self::Tf32,
        Self::Bf16,
        Self::Fp16,
        Self::Fp16Acc16,
        Self::Fp8,
        Self::Int8,
        Self::Fp64,
        Self::Fp64Tensor,
    ];

    /// The spelling used in packages, device files and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Bf16 => "bf16",
            Self::Fp16 => "fp16",
            Self::Fp16Acc16 => "fp16_acc16",
            Self::Fp8 => "fp8",
            Self::Int8 => "int8",
            Self::Fp64 => "fp64",
            Self::Fp64Tensor => "fp64_tensor",
        }
    }

    /// The hardware it occupies.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::Fp32 => Unit::VectorFp32,
            Self::Fp64 => Unit::VectorFp64,
            _ => Unit::Tensor,
        }
    }
}

impl std::fmt::Display for Pipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The work of one call: what must be computed and what must move, whatever the implementation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// FLOP per pipe; a multiply-add counts two. INT8 operations are counted the same way.
    pub flop: BTreeMap<Pipe, f64>,
    /// FLOP of products of FP32 accuracy that may be made in any legal way: directly, of three
    /// TF32 products or of six BF16 products. Priced on the fastest of them the device offers.
    pub fp32_product_flop: f64,
    /// Bytes of every input element that must be read and every output element, each once.
    pub fused_bytes: u64,
}

impl Cost {
    /// Model FLOP in all: what a report shows. Products of FP32 accuracy count once, however made.
    #[must_use]
    pub fn total_flop(&self) -> f64 {
        self.flop.values().sum::<f64>() + self.fp32_product_flop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_in_files_is_the_spelling_in_text() {
        for pipe in Pipe::ALL {
            let text = toml::Value::try_from(pipe).unwrap();
            assert_eq!(text.as_str(), Some(pipe.as_str()));
        }
    }

    #[test]
    fn total_counts_products_once() {
        let cost = Cost {
            flop: BTreeMap::from([(Pipe::Fp32, 3.0), (Pipe::Bf16, 4.0)]),
            fp32_product_flop: 5.0,
            fused_bytes: 0,
        };
        assert_eq!(cost.total_flop(), 12.0);
    }
}
