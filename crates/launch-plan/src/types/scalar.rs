//! C++'s arithmetic types with their widths.

use serde::{Deserialize, Serialize};

/// An arithmetic type. Widths are those of 64-bit Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the definition
pub(crate) enum Scalar {
    Bool,
    Char,
    SignedChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Half,
    Bf16,
    E4m3,
    E5m2,
    Float,
    Double,
}

impl Scalar {
    pub(crate) fn size_bytes(self) -> u64 {
        match self {
            Self::Bool | Self::Char | Self::SignedChar | Self::UChar | Self::E4m3 | Self::E5m2 => 1,
            Self::Short | Self::UShort | Self::Half | Self::Bf16 => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Long | Self::ULong | Self::LongLong | Self::ULongLong | Self::Double => 8,
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        self <= Self::ULongLong
    }

    /// `half` and smaller: only conversions exist on the host.
    pub(crate) fn is_small_float(self) -> bool {
        matches!(self, Self::Half | Self::Bf16 | Self::E4m3 | Self::E5m2)
    }

    pub(crate) fn is_signed(self) -> bool {
        !matches!(
            self,
            Self::Bool | Self::UChar | Self::UShort | Self::UInt | Self::ULong | Self::ULongLong
        )
    }

    /// Smallest and largest value of an integer type.
    pub(crate) fn range(self) -> (i128, i128) {
        if self == Self::Bool {
            return (0, 1);
        }
        let bits = self.size_bytes() * 8;
        if self.is_signed() {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        } else {
            (0, (1_i128 << bits) - 1)
        }
    }

    /// Modulo 2^n, as conversions between integers go.
    pub(crate) fn wrap(self, value: i128) -> i128 {
        let (low, high) = self.range();
        if (low..=high).contains(&value) {
            return value;
        }
        if self == Self::Bool {
            return i128::from(value != 0);
        }
        let modulus = high - low + 1;
        (value - low).rem_euclid(modulus) + low
    }

    /// Whether two types have the same values in the same bytes, as `long` and `long long`.
    pub(crate) fn same_layout(self, other: Self) -> bool {
        self == other
            || (self.is_integer()
                && other.is_integer()
                && self != Self::Bool
                && other != Self::Bool
                && self.size_bytes() == other.size_bytes()
                && self.is_signed() == other.is_signed())
    }

    /// The spelling that both the host and NVRTC know.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::SignedChar => "signed char",
            Self::UChar => "unsigned char",
            Self::Short => "short",
            Self::UShort => "unsigned short",
            Self::Int => "int",
            Self::UInt => "unsigned int",
            Self::Long => "long",
            Self::ULong => "unsigned long",
            Self::LongLong => "long long",
            Self::ULongLong => "unsigned long long",
            Self::Half => "__half",
            Self::Bf16 => "__nv_bfloat16",
            Self::E4m3 => "__nv_fp8_e4m3",
            Self::E5m2 => "__nv_fp8_e5m2",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// A scalar by any of the names that CUDA code uses for it, `std::` left out.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "char" => Self::Char,
            "int8_t" | "__int8_t" | "schar" => Self::SignedChar,
            "uint8_t" | "__uint8_t" | "uchar" | "u_char" => Self::UChar,
            "short" | "int16_t" | "__int16_t" => Self::Short,
            "uint16_t" | "__uint16_t" | "ushort" | "u_short" => Self::UShort,
            "int" | "int32_t" | "__int32_t" | "cudaError_t" | "cudaError" | "cudaMemcpyKind"
            | "CUresult" | "cudaFuncAttribute" | "cudaDeviceAttr" | "cudaFuncCache"
            | "CUdevice" | "wchar_t" => Self::Int,
            "unsigned" | "uint32_t" | "__uint32_t" | "uint" | "u_int" => Self::UInt,
            "long" | "__int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => Self::Long,
            "size_t" | "__uint64_t" | "ulong" | "u_long" | "uintptr_t" => Self::ULong,
            // NVRTC's 64-bit fixed-width types are `long long`; kernels are compiled by NVRTC.
            "int64_t" => Self::LongLong,
            "uint64_t" => Self::ULongLong,
            "half" | "__half" | "half_t" => Self::Half,
            "__nv_bfloat16" | "nv_bfloat16" | "bfloat16" => Self::Bf16,
            "__nv_fp8_e4m3" => Self::E4m3,
            "__nv_fp8_e5m2" => Self::E5m2,
            "float" => Self::Float,
            "double" => Self::Double,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_wrap_as_two_s_complement() {
        assert_eq!(Scalar::Short.wrap(40_000), -25_536);
        assert_eq!(Scalar::UInt.wrap(-1), 4_294_967_295);
        assert_eq!(Scalar::Int.wrap(1 << 31), -(1 << 31));
        assert_eq!(Scalar::Bool.wrap(2), 1);
        assert_eq!(Scalar::ULongLong.wrap(-1), (1_i128 << 64) - 1);
    }
}
