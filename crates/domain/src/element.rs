//! Element types of tensors and scalars.

use serde::{Deserialize, Serialize};

/// The type of one element of a tensor, or of a scalar parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[allow(missing_docs)] // the names are the definition
pub enum ElementType {
    F64,
    F32,
    F16,
    Bf16,
    Fp8E4m3,
    Fp8E5m2,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U8,
    Bool,
}

impl ElementType {
    /// Bytes that one element takes.
    #[must_use]
    pub fn size_bytes(self) -> u64 {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::Bf16 | Self::I16 => 2,
            Self::Fp8E4m3 | Self::Fp8E5m2 | Self::I8 | Self::U8 | Self::Bool => 1,
        }
    }

    /// Whether results are rounded, so that a tolerance applies.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::F64 | Self::F32 | Self::F16 | Self::Bf16 | Self::Fp8E4m3 | Self::Fp8E5m2
        )
    }

    /// The C++ spelling used in signatures and statements.
    #[must_use]
    pub fn c_name(self) -> &'static str {
        match self {
            Self::F64 => "double",
            Self::F32 => "float",
            Self::F16 => "__half",
            Self::Bf16 => "__nv_bfloat16",
            Self::Fp8E4m3 => "__nv_fp8_e4m3",
            Self::Fp8E5m2 => "__nv_fp8_e5m2",
            Self::I64 => "long long",
            Self::I32 => "int",
            Self::I16 => "short",
            Self::I8 => "signed char",
            Self::U64 => "unsigned long long",
            Self::U32 => "unsigned int",
            Self::U8 => "unsigned char",
            Self::Bool => "bool",
        }
    }
}
