//! The types of host values: C++'s scalars with their widths, pointers, records.

use std::fmt;
use std::rc::Rc;

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

/// Bytes of a union on the host, and scalars in all its fields together.
const MAX_UNION: u64 = 64;
/// Unions within unions.
const MAX_UNIONS_WITHIN: u32 = 4;

/// A `struct` whose layout the host needs: the file's own plain ones and CUDA's vector types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The name that C++ code uses.
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) size_bytes: u64,
    pub(crate) align_bytes: u64,
    /// A union: all fields lie at the start.
    pub(crate) overlapping: bool,
    /// Whether something happens where an object ends: its own destructor, or one of a field.
    pub(crate) has_destructor: bool,
    /// Whether its class writes a constructor that copies or moves, or one of a field does.
    pub(crate) has_copy_constructor: bool,
    /// What it is where its first field is something that it holds for others.
    pub(crate) holder: Option<Holder>,
}

/// A struct of the standard library that stands for what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// `std::unique_ptr`: a pointer, and the deleter where it is not `delete`.
    Unique,
    /// `std::optional`: a value, and whether there is one.
    Optional,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) offset_bytes: u64,
}

impl Field {
    /// The struct or union whose fields are also those of the record around this field.
    pub(crate) fn anonymous(&self) -> Option<&Rc<Record>> {
        match &self.ty {
            Type::Record(record) if self.name.is_empty() => Some(record),
            _ => None,
        }
    }
}

impl Record {
    /// Lays fields out in order, each at its own alignment.
    pub(crate) fn new(name: &str, members: Vec<(String, Type)>) -> Option<Self> {
        let mut fields = Vec::new();
        let mut end = 0_u64;
        let mut align_bytes = 1;
        for (name, ty) in members {
            let (size, align) = (ty.size_bytes()?, ty.align_bytes()?);
            let offset_bytes = end.next_multiple_of(align);
            end = offset_bytes.checked_add(size)?;
            align_bytes = align.max(align_bytes);
            fields.push(Field {
                name,
                ty,
                offset_bytes,
            });
        }
        let has_destructor = fields.iter().any(|field: &Field| field.ty.has_destructor());
        let has_copy_constructor = fields
            .iter()
            .any(|field: &Field| field.ty.is_copied_by_function());
        Some(Self {
            name: name.to_owned(),
            fields,
            size_bytes: end.checked_next_multiple_of(align_bytes)?.max(1),
            align_bytes,
            overlapping: false,
            has_destructor,
            has_copy_constructor,
            holder: None,
        })
    }

    /// Lays fields out on top of each other. `None` also where keeping them alike at every assignment would
    /// be more than a step's work.
    pub(crate) fn union(name: &str, members: Vec<(String, Type)>) -> Option<Self> {
        let mut record = Self::new(name, members)?;
        let types = || record.fields.iter().map(|field| &field.ty);
        let size = types().filter_map(Type::size_bytes).max().unwrap_or(0);
        let scalars = types().fold(0_u64, |sum, ty| sum.saturating_add(ty.scalars()));
        if size.max(scalars) > MAX_UNION
            || types().any(|ty| ty.unions_within() >= MAX_UNIONS_WITHIN)
            || record.has_destructor
        {
            return None;
        }
        record.size_bytes = size.next_multiple_of(record.align_bytes).max(1);
        record.overlapping = true;
        for field in &mut record.fields {
            field.offset_bytes = 0;
        }
        Some(record)
    }

    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The way to a field by name: those of a struct or union without a name are found as if they were the
    /// record's own.
    pub(crate) fn path_to(&self, name: &str) -> Option<(Vec<usize>, &Type)> {
        if let Some(index) = self.field(name) {
            return Some((vec![index], &self.fields[index].ty));
        }
        let mut inner = self.fields.iter().enumerate();
        inner.find_map(|(index, field)| {
            let (mut path, ty) = field.anonymous()?.path_to(name)?;
            path.insert(0, index);
            Some((path, ty))
        })
    }

    /// `std::pair`
    pub(crate) fn pair(first: Type, second: Type) -> Option<Self> {
        let name = format!("std::pair<{first}, {second}>");
        Self::new(
            &name,
            vec![("first".to_owned(), first), ("second".to_owned(), second)],
        )
    }

    /// `std::tuple`; its fields have numbers, which nobody can write.
    pub(crate) fn tuple(types: Vec<Type>) -> Option<Self> {
        let names: Vec<String> = types.iter().map(Type::to_string).collect();
        let fields = types.into_iter().enumerate();
        let fields = fields.map(|(index, ty)| (index.to_string(), ty)).collect();
        Self::new(&format!("std::tuple<{}>", names.join(", ")), fields)
    }

    /// `std::unique_ptr`
    pub(crate) fn unique_ptr(element: Type, is_array: bool, deleter: Option<Type>) -> Option<Self> {
        let array = if is_array { "[]" } else { "" };
        let own = deleter
            .as_ref()
            .map_or(String::new(), |ty| format!(", {ty}"));
        let name = format!("std::unique_ptr<{element}{array}{own}>");
        // A deleter without fields takes no room.
        let is_empty = match &deleter {
            Some(Type::Record(deleter)) => deleter.fields.is_empty(),
            Some(Type::Closure(_)) | None => true,
            _ => false,
        };
        let pointer = ("0".to_owned(), Type::pointer_to(element, false));
        let mut record = Self::new(&name, vec![pointer])?;
        if let Some(ty) = deleter {
            let offset_bytes = record.size_bytes;
            if !is_empty {
                record.size_bytes += ty.size_bytes()?.next_multiple_of(record.align_bytes);
            }
            let name = "1".to_owned();
            record.fields.push(Field {
                name,
                ty,
                offset_bytes,
            });
        }
        record.has_destructor = true;
        record.holder = Some(Holder::Unique);
        Some(record)
    }

    /// `std::optional`
    pub(crate) fn optional(held: Type) -> Option<Self> {
        let name = format!("std::optional<{held}>");
        let fields = [("0", held), ("1", Type::BOOL)];
        let fields = fields.map(|(name, ty)| (name.to_owned(), ty));
        let mut record = Self::new(&name, fields.into())?;
        record.holder = Some(Holder::Optional);
        Some(record)
    }

    /// `dim3`, `uint3`, `float4` and their like.
    pub(crate) fn builtin(name: &str) -> Option<Self> {
        let (element, count, align) = match name {
            "dim3" => (Scalar::UInt, 3, 4),
            "half2" | "__half2" => (Scalar::Half, 2, 4),
            "__nv_bfloat162" | "nv_bfloat162" => (Scalar::Bf16, 2, 4),
            _ => {
                let count = name.bytes().last()?.checked_sub(b'0')?;
                if !(1..=4).contains(&count) {
                    return None;
                }
                let element = match &name[..name.len() - 1] {
                    "char" => Scalar::SignedChar,
                    "uchar" => Scalar::UChar,
                    "short" => Scalar::Short,
                    "ushort" => Scalar::UShort,
                    "int" => Scalar::Int,
                    "uint" => Scalar::UInt,
                    "long" => Scalar::Long,
                    "ulong" => Scalar::ULong,
                    "longlong" => Scalar::LongLong,
                    "ulonglong" => Scalar::ULongLong,
                    "float" => Scalar::Float,
                    "double" => Scalar::Double,
                    _ => return None,
                };
                let size = element.size_bytes();
                let align = if count == 3 {
                    size
                } else {
                    (size * u64::from(count)).min(16)
                };
                (element, count, align)
            }
        };
        let members = ["x", "y", "z", "w"]
            .into_iter()
            .take(count.into())
            .map(|field| (field.to_owned(), Type::Scalar(element)))
            .collect();
        let name = match name {
            "half2" => "__half2",
            "nv_bfloat162" => "__nv_bfloat162",
            other => other,
        };
        let mut record = Self::new(name, members)?;
        record.align_bytes = align;
        record.size_bytes = record.size_bytes.next_multiple_of(align);
        Some(record)
    }
}

/// The type of a host value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    Scalar(Scalar),
    Pointer(Rc<Pointee>),
    Record(Rc<Record>),
    /// A fixed array.
    Array(Rc<Type>, u64),
    /// `std::array`: an array that is copied as a whole.
    StdArray(Rc<Type>, u64),
    /// `std::vector`
    Vector(Rc<Type>),
    /// `__global__` function or pointer to one.
    Kernel,
    /// A lambda, by its function, or a host function.
    Closure(usize),
    /// `std::function`: anything that can be called.
    Function,
    /// `std::cout`, which shows nothing.
    Output,
    /// A string literal.
    Text,
    /// `cudaStream_t` or `cudaEvent_t`: an order that a plan keeps anyway.
    Handle,
    /// `CUtensorMap`: opaque, for kernels.
    TensorMap,
    /// Known by name alone; only pointers to it can be used.
    Named(String),
}

/// What a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointee {
    pub(crate) ty: Type,
    pub(crate) constant: bool,
}

impl Type {
    #[cfg(test)]
    pub(crate) const INT: Self = Self::Scalar(Scalar::Int);
    pub(crate) const BOOL: Self = Self::Scalar(Scalar::Bool);
    pub(crate) const SIZE: Self = Self::Scalar(Scalar::ULong);

    pub(crate) fn pointer_to(ty: Self, constant: bool) -> Self {
        Self::Pointer(Rc::new(Pointee { ty, constant }))
    }

    /// `None` where the size is not known to the host.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Void | Self::Text | Self::Named(_) | Self::Closure(_) | Self::Output => None,
            Self::Scalar(scalar) => Some(scalar.size_bytes()),
            Self::Pointer(_) | Self::Kernel | Self::Handle => Some(8),
            Self::Record(record) => Some(record.size_bytes),
            Self::TensorMap => Some(128),
            Self::Array(element, length) | Self::StdArray(element, length) => {
                element.size_bytes()?.checked_mul(*length)
            }
            Self::Vector(_) => Some(24),
            Self::Function => Some(32),
        }
    }

    /// Types within types.
    pub(crate) fn depth(&self) -> u32 {
        let inner = match self {
            Self::Pointer(pointee) => pointee.ty.depth(),
            Self::Array(element, _) | Self::StdArray(element, _) | Self::Vector(element) => {
                element.depth()
            }
            Self::Record(record) => {
                let depths = record.fields.iter().map(|field| field.ty.depth());
                depths.max().unwrap_or(0)
            }
            _ => return 1,
        };
        inner + 1
    }

    /// Whether something happens where a variable of the type ends.
    pub(crate) fn has_destructor(&self) -> bool {
        match self {
            Self::Record(record) => record.has_destructor,
            Self::Array(element, _) => element.has_destructor(),
            _ => false,
        }
    }

    /// Whether a second one of it is made by a function.
    pub(crate) fn is_copied_by_function(&self) -> bool {
        match self {
            Self::Record(record) => record.has_destructor || record.has_copy_constructor,
            Self::Array(element, _) => element.is_copied_by_function(),
            _ => false,
        }
    }

    /// Whether it is a `std::unique_ptr`.
    pub(crate) fn is_unique(&self) -> bool {
        matches!(self, Self::Record(record) if record.holder == Some(Holder::Unique))
    }

    /// How many unions lie within each other.
    fn unions_within(&self) -> u32 {
        match self {
            Self::Record(record) => {
                let fields = record.fields.iter();
                let most = fields.map(|field| field.ty.unions_within()).max();
                most.unwrap_or(0) + u32::from(record.overlapping)
            }
            Self::Array(element, _) | Self::StdArray(element, _) => element.unions_within(),
            _ => 0,
        }
    }

    /// Scalars within, the empty ones of containers left out.
    pub(crate) fn scalars(&self) -> u64 {
        match self {
            Self::Record(record) => record
                .fields
                .iter()
                .fold(0_u64, |sum, field| sum.saturating_add(field.ty.scalars())),
            Self::Array(element, length) | Self::StdArray(element, length) => {
                element.scalars().max(1).saturating_mul(*length)
            }
            _ => 1,
        }
    }

    pub(crate) fn align_bytes(&self) -> Option<u64> {
        match self {
            Self::Record(record) => Some(record.align_bytes),
            Self::TensorMap => Some(64),
            Self::Array(element, _) | Self::StdArray(element, _) => element.align_bytes(),
            Self::Vector(_) | Self::Function => Some(8),
            other => other.size_bytes(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Scalar(scalar) => f.write_str(scalar.name()),
            Self::Pointer(pointee) if pointee.constant => match &pointee.ty {
                // `T* const*`, not `const T**`.
                Self::Pointer(_) => write!(f, "{} const*", pointee.ty),
                other => write!(f, "const {other}*"),
            },
            Self::Pointer(pointee) => write!(f, "{}*", pointee.ty),
            // Structs of functions have their place in their path.
            Self::Record(record) => f.write_str(record.name.split('@').next().unwrap_or_default()),
            Self::Array(element, length) => write!(f, "{element}[{length}]"),
            Self::StdArray(element, length) => write!(f, "std::array<{element}, {length}>"),
            Self::Vector(element) => write!(f, "std::vector<{element}>"),
            Self::Closure(_) => f.write_str("lambda"),
            Self::Function => f.write_str("std::function"),
            Self::Output => f.write_str("std::ostream"),
            Self::Kernel => f.write_str("kernel"),
            Self::Text => f.write_str("const char*"),
            Self::Handle => f.write_str("cudaStream_t"),
            Self::TensorMap => f.write_str("CUtensorMap"),
            Self::Named(name) => f.write_str(name),
        }
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

    #[test]
    fn records_are_laid_out_as_in_c() {
        let record = Record::new(
            "S",
            vec![
                ("a".into(), Type::Scalar(Scalar::Char)),
                ("b".into(), Type::Scalar(Scalar::Double)),
                ("c".into(), Type::INT),
            ],
        )
        .unwrap();
        let offsets: Vec<u64> = record.fields.iter().map(|f| f.offset_bytes).collect();
        assert_eq!((offsets, record.size_bytes), (vec![0, 8, 16], 24));
        let float4 = Record::builtin("float4").unwrap();
        assert_eq!((float4.size_bytes, float4.align_bytes), (16, 16));
        let float3 = Record::builtin("float3").unwrap();
        assert_eq!((float3.size_bytes, float3.align_bytes), (12, 4));
        assert_eq!(Record::builtin("dim3").unwrap().size_bytes, 12);
        assert_eq!(Record::builtin("float5"), None);
    }

    #[test]
    fn names_are_spelled_as_cpp() {
        let float = Type::Scalar(Scalar::Float);
        let pointer = Type::pointer_to(float.clone(), true);
        assert_eq!(pointer.to_string(), "const float*");
        assert_eq!(
            Type::pointer_to(pointer, true).to_string(),
            "const float* const*"
        );
        assert_eq!(Type::pointer_to(float, false).to_string(), "float*");
    }
}
