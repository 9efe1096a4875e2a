//! Values of host code.

use std::rc::Rc;

use domain::rounding::odd_f32;

use super::closures::Closure;
use super::memory::MAX_ELEMENTS;
use super::overlay::{self, Byte};
use crate::plan::{Buffer, Place, TensorMapSpec};
use crate::types::{Pointee, Record, Scalar, Type};

/// A value with its C++ type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Void,
    Integer(Scalar, i128),
    /// Always exactly representable in its type.
    Floating(Scalar, f64),
    Pointer(Rc<Pointee>, Target),
    /// A field that nobody has set is `None`.
    Record(Rc<Record>, Vec<Option<Value>>),
    Kernel(KernelRef),
    Text(Rc<str>),
    /// A stream, an event or a memory pool.
    Handle,
    /// The handle of a captured graph, or of one that was instantiated, by its number.
    Graph(usize),
    /// The elements of a `std::vector`, a `std::array`, or an array within a struct or an array; of that
    /// type.
    Row(Type, Vec<Option<Value>>),
    Closure(Rc<Closure>),
    /// `std::cout` and its like.
    Output,
    /// A `CUtensorMap`; `None` until it is encoded.
    TensorMap(Option<Rc<TensorMapSpec>>),
    /// A function of the driver, from an entry-point lookup.
    Driver(DriverFunction),
}

/// Functions of the driver and the runtime that host code may have as values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DriverFunction {
    EncodeTiled,
    /// `cudaFree` and its like, named as a deleter.
    Free(&'static str),
}

/// Where a pointer points.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// Device memory, or the null pointer.
    Device(Place),
    Host(HostRef),
    /// A `__device__` or `__constant__` variable, by name.
    Symbol(Rc<str>),
}

impl Target {
    pub(super) const NULL: Self = Self::Device(Place {
        buffer: Buffer::Null,
        offset_bytes: 0,
    });

    pub(super) fn is_null(&self) -> bool {
        *self == Self::NULL
    }
}

/// A place in the interpreter's own memory: element `index` of an object, then parts within it.
#[derive(Clone, Debug)]
pub(super) struct HostRef {
    pub(super) object: ObjectId,
    pub(super) index: i64,
    pub(super) fields: Vec<Part>,
    /// Seen as `const`: nothing is written through it.
    pub(super) constant: bool,
}

impl PartialEq for HostRef {
    fn eq(&self, other: &Self) -> bool {
        (self.object, self.index, &self.fields) == (other.object, other.index, &other.fields)
    }
}

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Of a struct.
    Field(usize),
    /// Of a [`Value::Row`], or the end of one.
    Element(usize),
}

impl HostRef {
    pub(super) fn part(&self, part: Part) -> Self {
        let mut place = self.clone();
        place.fields.push(part);
        place
    }

    /// The same place seen as `const`, too, where `constant` says so.
    pub(super) fn seen_as(mut self, constant: bool) -> Self {
        self.constant |= constant;
        self
    }

    /// The field of a field, by their numbers.
    pub(super) fn within(&self, path: &[usize]) -> Self {
        let mut place = self.clone();
        place
            .fields
            .extend(path.iter().map(|&index| Part::Field(index)));
        place
    }
}

/// An object that lived once. `serial` tells it from later ones in the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectId {
    pub(super) heap: bool,
    pub(super) slot: usize,
    pub(super) serial: u64,
}

/// A kernel with the template arguments written so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KernelRef {
    /// Index among the file's functions.
    pub(super) function: usize,
    pub(super) arguments: Option<Vec<TemplateValue>>,
}

/// What a template parameter stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TemplateValue {
    Type(Type),
    Value(Value),
    /// What a parameter pack stands for.
    Pack(Vec<TemplateValue>),
}

/// Offsets within a struct, and what points from there.
pub(super) type Addresses = Vec<(u64, Target)>;

impl Value {
    /// `cudaSuccess`.
    pub(super) const SUCCESS: Self = Self::Integer(Scalar::Int, 0);

    pub(super) fn int(value: i128) -> Self {
        Self::Integer(Scalar::Int, value)
    }

    pub(super) fn boolean(value: bool) -> Self {
        Self::Integer(Scalar::Bool, i128::from(value))
    }

    pub(super) fn pointer(ty: Type, constant: bool, target: Target) -> Self {
        Self::Pointer(Rc::new(Pointee { ty, constant }), target)
    }

    /// `nullptr`.
    pub(super) fn null() -> Self {
        Self::pointer(Type::Void, false, Target::NULL)
    }

    /// A floating value rounded to its type.
    pub(super) fn floating(scalar: Scalar, value: f64) -> Self {
        let rounded = match scalar {
            Scalar::Float => f64::from(value as f32),
            Scalar::Half => half::f16::from_f32(odd_f32(value)).to_f64(),
            Scalar::Bf16 => half::bf16::from_f32(odd_f32(value)).to_f64(),
            _ => value,
        };
        Self::Floating(scalar, rounded)
    }

    pub(super) fn ty(&self) -> Type {
        match self {
            Self::Void => Type::Void,
            Self::Integer(scalar, _) | Self::Floating(scalar, _) => Type::Scalar(*scalar),
            Self::Pointer(pointee, _) => Type::Pointer(Rc::clone(pointee)),
            Self::Record(record, _) => Type::Record(Rc::clone(record)),
            Self::Kernel(_) => Type::Kernel,
            Self::Text(_) => Type::Text,
            Self::Handle | Self::Graph(_) => Type::Handle,
            Self::Row(ty, _) => ty.clone(),
            Self::Closure(closure) => Type::Closure(closure.function),
            Self::Output => Type::Output,
            Self::TensorMap(_) => Type::TensorMap,
            Self::Driver(_) => Type::Kernel,
        }
    }

    /// Little-endian bytes as they lie in memory. `None` for what has no bytes on the device.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let (bytes, pointers) = self.to_bytes_and_pointers()?;
        pointers.is_empty().then_some(bytes)
    }

    fn number_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Integer(scalar, value) => {
                let size = usize::try_from(scalar.size_bytes()).ok()?;
                Some(value.to_le_bytes()[..size].to_vec())
            }
            Self::Floating(scalar, value) => Some(match scalar {
                Scalar::Double => value.to_le_bytes().to_vec(),
                Scalar::Float => (*value as f32).to_le_bytes().to_vec(),
                Scalar::Half => half::f16::from_f64(*value).to_le_bytes().to_vec(),
                Scalar::Bf16 => half::bf16::from_f64(*value).to_le_bytes().to_vec(),
                _ => return None,
            }),
            _ => None,
        }
    }

    /// The bytes of a struct or array as a kernel takes it, zeros for the pointers in it, and these with
    /// their offsets. `None` where a part has no value or no bytes.
    pub(super) fn to_bytes_and_pointers(&self) -> Option<(Vec<u8>, Addresses)> {
        match self {
            Self::Pointer(_, target) => Some((vec![0; 8], vec![(0, target.clone())])),
            // What is set in any field; an address fills the whole.
            Self::Record(record, fields) if record.overlapping => {
                let parts = fields.iter().flatten();
                let mut parts = parts.filter_map(Self::to_bytes_and_pointers);
                if let Some((mut bytes, pointers)) = parts.find(|(_, held)| !held.is_empty()) {
                    bytes.resize(usize::try_from(record.size_bytes).ok()?, 0);
                    return Some((bytes, pointers));
                }
                let bytes = overlay::bytes_of(Some(self), &Type::Record(Rc::clone(record)));
                let is_set = |byte: &Byte| matches!(byte, Byte::Set(_));
                if !bytes.iter().any(is_set) {
                    return None;
                }
                let bytes = bytes.into_iter().map(|byte| match byte {
                    Byte::Set(byte) => byte,
                    Byte::Padding | Byte::Unset => 0,
                });
                Some((bytes.collect(), Vec::new()))
            }
            Self::Record(record, fields) => {
                let mut bytes = vec![0; usize::try_from(record.size_bytes).ok()?];
                let mut pointers = Vec::new();
                for (field, value) in record.fields.iter().zip(fields) {
                    let (part, inner) = value.as_ref()?.to_bytes_and_pointers()?;
                    let start = usize::try_from(field.offset_bytes).ok()?;
                    bytes
                        .get_mut(start..start + part.len())?
                        .copy_from_slice(&part);
                    let inner = inner.into_iter();
                    pointers.extend(inner.map(|(at, to)| (field.offset_bytes + at, to)));
                }
                Some((bytes, pointers))
            }
            Self::Row(Type::Array(..) | Type::StdArray(..), values) => {
                let (mut bytes, mut pointers) = (Vec::new(), Vec::new());
                for value in values {
                    let (part, inner) = value.as_ref()?.to_bytes_and_pointers()?;
                    let start = bytes.len() as u64;
                    bytes.extend(part);
                    pointers.extend(inner.into_iter().map(|(at, to)| (start + at, to)));
                }
                Some((bytes, pointers))
            }
            _ => Some((self.number_bytes()?, Vec::new())),
        }
    }

    /// A struct's field, where it has a value.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Record(record, _) = self else {
            return None;
        };
        self.at_path(&record.path_to(name)?.0)
    }

    /// The field of a field, by their numbers.
    pub(super) fn at_path(&self, path: &[usize]) -> Option<&Self> {
        path.iter().try_fold(self, |value, &index| match value {
            Self::Record(_, fields) => fields.get(index)?.as_ref(),
            _ => None,
        })
    }

    /// The value of all bits 0, as `calloc` and `memset` leave it.
    pub(super) fn zero_bits(ty: &Type) -> Option<Self> {
        if ty.scalars() > MAX_ELEMENTS {
            return None;
        }
        Some(match ty {
            Type::Scalar(scalar) if scalar.is_integer() => Self::Integer(*scalar, 0),
            Type::Scalar(scalar) => Self::Floating(*scalar, 0.0),
            Type::Pointer(pointee) => Self::Pointer(Rc::clone(pointee), Target::NULL),
            Type::Handle => Self::Handle,
            Type::Record(record) => {
                let fields = record.fields.iter();
                let fields = fields.map(|field| Self::zero_bits(&field.ty).map(Some));
                Self::Record(Rc::clone(record), fields.collect::<Option<_>>()?)
            }
            Type::Array(element, length) | Type::StdArray(element, length) => {
                let zero = Self::zero_bits(element)?;
                let length = usize::try_from(*length).ok()?;
                Self::Row(ty.clone(), vec![Some(zero); length])
            }
            _ => return None,
        })
    }

    /// Scalars within, for what a copy costs.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Self::Row(_, values) | Self::Record(_, values) => {
                let weights = values.iter().flatten().map(Self::weight);
                values.len() as u64 + weights.sum::<u64>()
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_little_endian_and_of_the_type_s_size() {
        let bytes = |value: Value| value.to_bytes().unwrap();
        assert_eq!(bytes(Value::int(-2)), [0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(bytes(Value::floating(Scalar::Half, 1.0)), [0x00, 0x3c]);
        assert_eq!(bytes(Value::floating(Scalar::Bf16, 1.0)), [0x80, 0x3f]);
        assert_eq!(
            bytes(Value::floating(Scalar::Float, 0.1)),
            0.1_f32.to_le_bytes()
        );
        // Above halfway between 1 and 1 + 2^-10 by less than a float shows.
        let above = 1.0 + 0.5_f64.powi(11) + 0.5_f64.powi(40);
        assert_eq!(bytes(Value::floating(Scalar::Half, above)), [0x01, 0x3c]);
        let dim3 = Rc::new(Record::builtin("dim3").unwrap());
        let fields = [1, 2, 3].map(|v| Some(Value::Integer(Scalar::UInt, v)));
        let value = Value::Record(dim3, fields.to_vec());
        assert_eq!(bytes(value), [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(Value::Handle.to_bytes(), None);
    }
}
