//! Descriptions of tensors for the tensor memory accelerator, as `cuTensorMapEncodeTiled` takes them.
//!
//! The encoded form is the driver's own; a device that has no such unit refuses the argument.

use crate::Address;

/// A tensor in device memory and the box of it that one copy moves.
///
/// Dimensions are in the hardware's order, the one that varies fastest first: 1 to 5 of them. What the
/// tensor covers is checked against its buffer no more than a kernel's own accesses are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
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

/// Types of elements that a tensor map knows.
#[allow(missing_docs)] // the names are the driver's
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// How channels lie in global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interleave {
    /// One after the other.
    #[default]
    None,
    /// NC/8HWC8.
    Bytes16,
    /// NC/16HWC16.
    Bytes32,
}

/// In what span of bytes pieces of 16 bytes change places in shared memory, so that columns meet all banks.
#[allow(missing_docs)] // the names are the definition
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    #[default]
    None,
    Bytes32,
    Bytes64,
    Bytes128,
}

/// What is fetched into the L2 at a time.
#[allow(missing_docs)] // the names are the definition
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum L2Promotion {
    #[default]
    None,
    Bytes64,
    Bytes128,
    Bytes256,
}

/// What elements outside the tensor read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfBounds {
    /// Zero.
    #[default]
    Zero,
    /// A NaN that multiply-adds take for zero; floating-point elements only.
    NanAsZero,
}
