//! Descriptions of tensors for the tensor memory accelerator, as `cuTensorMapEncodeTiled` takes them.
//!
//! A plan holds them with a place in the plan, a device with an address of its own; the encoded form is the
//! driver's.

use serde::{Deserialize, Serialize};

/// A tensor in device memory and the box of it that one copy moves.
///
/// Dimensions are in the driver's order, the one that varies fastest first: 1 to 5 of them. What the tensor
/// covers is checked against its buffer no more than a kernel's own accesses are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMap<Address> {
    /// The first element; 16-byte aligned.
    pub base: Address,
    /// What is moved.
    pub element: TensorElement,
    /// Extents in elements.
    pub dimensions: Vec<u64>,
    /// Distance between neighbours along each dimension but the first, in bytes; multiples of 16.
    pub strides_bytes: Vec<u64>,
    /// Extents of the box in elements, at most 256 each.
    pub box_dimensions: Vec<u32>,
    /// Of so many elements along each dimension one is taken; 1 takes all.
    pub element_strides: Vec<u32>,
    /// How channels lie in global memory.
    pub interleave: Interleave,
    /// How the box is laid out in shared memory.
    pub swizzle: Swizzle,
    /// What is fetched into the L2 at a time.
    pub l2_promotion: L2Promotion,
    /// What elements outside the tensor read as.
    pub out_of_bounds: OutOfBounds,
}

impl<Address> TensorMap<Address> {
    /// The same tensor, its first element at an address of another kind.
    #[must_use]
    pub fn at<Other>(&self, base: Other) -> TensorMap<Other> {
        TensorMap {
            base,
            element: self.element,
            dimensions: self.dimensions.clone(),
            strides_bytes: self.strides_bytes.clone(),
            box_dimensions: self.box_dimensions.clone(),
            element_strides: self.element_strides.clone(),
            interleave: self.interleave,
            swizzle: self.swizzle,
            l2_promotion: self.l2_promotion,
            out_of_bounds: self.out_of_bounds,
        }
    }
}

/// Types of elements that a tensor map knows: `CUtensorMapDataType`.
#[allow(missing_docs)] // the names are the driver's
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TensorElement {
    U8,
    U16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    Bf16,
    /// Denormals become zero.
    F32Ftz,
    Tf32,
    /// Denormals become zero.
    Tf32Ftz,
}

impl TensorElement {
    /// Size of one element.
    #[must_use]
    pub fn size_bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether it has no NaN.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            Self::U8 | Self::U16 | Self::U32 | Self::I32 | Self::U64 | Self::I64
        )
    }
}

/// How channels lie in global memory: `CUtensorMapInterleave`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleave {
    /// One after the other.
    #[default]
    None,
    /// NC/8HWC8.
    Bytes16,
    /// NC/16HWC16.
    Bytes32,
}

/// In what span of bytes pieces of 16 bytes change places in shared memory, so that columns meet all banks:
/// `CUtensorMapSwizzle`.
#[allow(missing_docs)] // the names are the definition
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Swizzle {
    #[default]
    None,
    Bytes32,
    Bytes64,
    Bytes128,
}

/// What is fetched into the L2 at a time: `CUtensorMapL2promotion`.
#[allow(missing_docs)] // the names are the definition
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum L2Promotion {
    #[default]
    None,
    Bytes64,
    Bytes128,
    Bytes256,
}

/// What elements outside the tensor read as: `CUtensorMapFloatOOBfill`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutOfBounds {
    /// Zero.
    #[default]
    Zero,
    /// A NaN that multiply-adds take for zero; floating-point elements only.
    NanAsZero,
}
