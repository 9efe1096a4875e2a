//! The types of host values.

mod record;
mod scalar;

use std::fmt;
use std::rc::Rc;

pub(crate) use self::record::{Field, Holder, Record};
pub(crate) use self::scalar::Scalar;

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
