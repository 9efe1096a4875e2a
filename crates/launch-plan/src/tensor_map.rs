//! What `cuTensorMapEncodeTiled` was asked for, checked and not yet encoded.

use serde::{Deserialize, Serialize};

use crate::plan::Place;

/// A tensor in device memory and the box of it that one copy moves. Dimensions are in the driver's
/// order: the one that varies fastest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMapSpec {
    /// The first element.
    pub base: Place,
    /// What is moved.
    pub element: TensorElement,
    /// Extents in elements, 1 to 5 of them.
    pub dimensions: Vec<u64>,
    /// Distance between neighbours along each dimension but the first, in bytes.
    pub strides_bytes: Vec<u64>,
    /// Extents of the box in elements.
    pub box_dimensions: Vec<u32>,
    /// Of so many elements along each dimension one is taken.
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

/// `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the driver's
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
    F32Ftz,
    Tf32,
    Tf32Ftz,
}

/// `CUtensorMapInterleave`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the driver's
pub enum Interleave {
    None,
    Bytes16,
    Bytes32,
}

/// `CUtensorMapSwizzle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the driver's
pub enum Swizzle {
    None,
    Bytes32,
    Bytes64,
    Bytes128,
}

/// `CUtensorMapL2promotion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the driver's
pub enum L2Promotion {
    None,
    Bytes64,
    Bytes128,
    Bytes256,
}

/// `CUtensorMapFloatOOBfill`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the driver's
pub enum OutOfBounds {
    Zero,
    NanAsZero,
}
